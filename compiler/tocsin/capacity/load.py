"""How many series and samples a cluster makes.

Everything is counted for a sound fleet at work: each board, or share of one, has one job, no fault has a series. Two
replicas of a server are counted once.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.capacity.entities import TARGET, Scope, of_exporter, of_host, of_server, series_of, values_of
from tocsin.catalog import DEEP_JOB, MONITORS, PORT_ERRORS
from tocsin.ingest import carriers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, NodeGroup
    from tocsin.factory.slos import Slo
    from tocsin.units import Duration

    Shown = list[tuple[str, Metric]]  # metrics with their owners

# What Prometheus adds to each target: up, scrape_duration_seconds, scrape_samples_scraped,
# scrape_samples_post_metric_relabeling, scrape_series_added (Prometheus, "Jobs and instances").
META_SERIES = 5
# ALERTS and ALERTS_FOR_STATE of the one alert that always fires.
WATCHDOG_SERIES = 2
# node_exporter 1.5.0 with its default collectors, counted: 481 series and 13 for each logical CPU; a host of eight H100
# has 224 of those (NVIDIA DGX H100: two Xeon 8480C).
OTHER_SERIES = {"dcgm": 0, DEEP_JOB: 0, "node": 481 + 13 * 224}

CONSTANTS = 2  # of an SLO: its objective, and what it is
ITSELF, ALERTMANAGER = MONITORS
# What is recorded of each place before its windows.
SLICES = {"time_slice": 3, "throughput": 2, "slowdown": 5, "utilisation": 2, "composite": 2}
RULES = "recording rules"  # stands for a job's name, which has no spaces, where series are recorded
# Recorded series of a sound fleet: the signal that has them recorded, what each belongs to, how many it has. Those of
# faults are nought.
RECORDED = {
    naming.GPUS_EXPECTED: ("gpu_temp", "node", 1),
    naming.GPUS_PRESENT: ("gpu_temp", "node", 1),
    naming.GPU_JOB: ("xid", "share", 1),
    naming.XID_EDGE: ("xid", "gpu", 0),
    naming.XID_FIRST: ("xid", "gpu", 0),
    naming.XID_NEW: ("xid", "gpu", 0),
    naming.GPU_UTIL: ("throttle_reasons", "whole gpu", 1),  # one that is not split into instances
    naming.THROTTLED: ("throttle_reasons", "gpu", 5),  # one a reason
    naming.MEMORY_FAULT: ("ecc_uncorrected", "gpu", 0),
    naming.PCIE_SHARE: ("pcie_throughput", "gpu", 2),  # one a direction
    naming.HBM_ACTIVE: ("hbm_activity", "gpu", 1),
    naming.LABEL_VIOLATIONS: ("gpu_temp", "node", 0),
}
BOARDS = ("gpu", "gpu_instance", "link")  # what is told of each share of a board
# What dcgm-exporter tells of a board and, beside that, of each pod that takes turns on it (dcgm-exporter,
# transformation/process_metrics.go).
OF_PROCESSES = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED")
_PART = re.compile("_(?:bucket|count|sum)$")  # of a histogram


class Part(NamedTuple):
    """Targets of one kind, or nodes whose series are recorded. `series` are one target's that belong to the owner.

    `counted` is whether the targets are counted here: those of several owners are the same. `spread` is whether the
    targets go to the shards, by their node.
    """

    cluster: str
    job: str
    owner: str
    interval: Duration
    hosts: tuple[str, ...]
    series: int
    counted: bool
    spread: bool


class Size(NamedTuple):
    """Of some targets: their number, their series, their samples per second."""

    targets: int
    series: int
    samples: Fraction

    def __add__(self, other: object) -> Size:
        """Both together."""
        if not isinstance(other, Size):
            return NotImplemented
        return Size(self.targets + other.targets, self.series + other.series, self.samples + other.samples)


NOTHING = Size(0, 0, Fraction(0))


class Place(NamedTuple):
    """Targets of one kind: their job, what one of them speaks of, which page of an exporter it is, on which nodes."""

    job: str
    interval: Duration
    hosts: tuple[str, ...]
    scope: Scope
    page: str
    spread: bool
    group: NodeGroup | None = None


def places(factory: Factory, cluster: Cluster) -> Iterator[Place]:
    """All targets of a cluster, but for its servers."""
    on_nodes = {one.kind.job: one.interval for one in cluster.exporters if one.kind.stands == "node"}
    if factory.deep is not None:
        on_nodes[DEEP_JOB] = factory.deep.interval  # every node at work, which is what the servers have to bear
    for group in cluster.groups:
        for job, interval in on_nodes.items():
            yield Place(job, interval, group.hosts, of_host(group), "", spread=True, group=group)
    for exporter in cluster.exporters:
        if exporter.kind.stands != "node":
            # A target for each host that it is asked for, or for each page that is needed.
            job, scope = exporter.kind.job, of_exporter(cluster, exporter)
            of_job = (metric for metric in factory.metrics.values() if metric.exporter == job)
            for page in sorted({metric.page for metric in of_job if metric.page}) or [""]:
                hosts = exporter.hosts or tuple(f"{address}{page}" for address in exporter.addresses)
                yield Place(job, exporter.interval, hosts, scope, page, spread=False)
    yield Place(ALERTMANAGER, factory.interval, factory.alerting.alertmanagers, TARGET, "", spread=False)
    for own in cluster.jobs:
        yield Place(own.name, own.interval, own.hosts, TARGET, "", spread=False)


def watched(factory: Factory, cluster: Cluster) -> Iterator[Part]:
    """Everything of a cluster that makes series, but for its servers."""
    shown, fallback = _shown(factory), factory.alerting.fallback
    for place in places(factory, cluster):
        yield from _owned(factory, cluster, place, shown.get(place.job, []))
    for group in cluster.groups:
        for owner, count in sorted(_recorded(factory, shown, group).items()):
            yield Part(cluster.name, RULES, owner, factory.interval, group.hosts, count, counted=False, spread=True)
    promised = Counter[str]()
    forms: dict[tuple[object, ...], list[Slo]] = {}
    for slo in factory.slos.values():
        shape = (slo.owner, slo.kind, slo.indicator.total.metric, slo.by, slo.windows)
        forms.setdefault(shape, []).append(slo)
    for first, *others in forms.values():
        promised[first.owner] += of_objective(factory, cluster, first) * (1 + len(others))
    for owner, series in sorted(promised.items()):
        yield Part(cluster.name, RULES, owner, factory.interval, ("",), series, counted=False, spread=False)
    yield from _of_own_records(factory, cluster)
    counts = sum(
        label.max_values is not None and bool(carriers(factory, label.name)) for label in factory.labels.values()
    )
    series = WATCHDOG_SERIES + counts
    yield Part(cluster.name, RULES, fallback, factory.interval, ("",), series, counted=False, spread=False)


def of_itself(factory: Factory, cluster: str, names: tuple[str, ...], interval: Duration) -> Part:
    """Servers, each of which scrapes its own page."""
    metrics = (metric for metric in factory.metrics.values() if metric.exporter == ITSELF)
    series = META_SERIES + sum(series_of(factory, metric, of_server(factory)) for metric in metrics)
    return Part(cluster, ITSELF, factory.alerting.fallback, interval, names, series, counted=True, spread=False)


def of_metrics(factory: Factory, cluster: Cluster, names: Collection[str]) -> Size:
    """The size of some metrics of a cluster, at all of their targets."""
    total = NOTHING
    metrics = [factory.metrics[name] for name in names if name in factory.metrics]
    for place in places(factory, cluster):
        series = len(place.hosts) * sum(_series(factory, metric, place) for metric in metrics)
        total += Size(0, series, Fraction(series) / place.interval.seconds)
    return total


def _series(factory: Factory, metric: Metric, place: Place) -> int:
    """The series of a metric at one target: none where another one shows it, or none is there in a sound fleet."""
    if (metric.exporter, metric.page) != (place.job, place.page) or metric.sparse:
        return 0
    return series_of(factory, metric, place.scope) * _copies(metric, place.group)


def _copies(metric: Metric, group: NodeGroup | None) -> int:
    """Series of a board: one for each MIG instance, or for each pod that has a share, some with the board's own too."""
    if group is None or metric.exporter not in ("dcgm", DEEP_JOB) or metric.entity not in BOARDS:
        return 1
    is_both = group.sharing == "time_slicing" and metric.name in OF_PROCESSES
    return group.shares + (1 if is_both else 0)


def of(some: Iterable[Part]) -> Size:
    """The size of all of them."""
    total = NOTHING
    for part in some:
        total += size_of(part, len(part.hosts))
    return total


def size_of(part: Part, targets: int) -> Size:
    """The size of so many targets of a part."""
    series = part.series * targets
    return Size(targets if part.counted else 0, series, Fraction(series) / part.interval.seconds)


def _shown(factory: Factory) -> dict[str, Shown]:
    """The metrics of each job, each with its owner."""
    found: dict[str, Shown] = {}
    for signal in factory.signals.values():
        for metric in signal.metrics:
            found.setdefault(metric.exporter, []).append((signal.owner, metric))
    return found


def _owned(factory: Factory, cluster: Cluster, place: Place, shown: Shown) -> Iterator[Part]:
    """Targets by owner. What is nobody's signal is the fallback's, who runs the monitoring."""
    fallback, counts = factory.alerting.fallback, Counter[str]()
    for owner, metric in shown:
        counts[owner] += _series(factory, metric, place)
    counts[fallback] += META_SERIES + factory.other_series.get(place.job, 0)
    job, interval, hosts, *_ = place
    for owner, count in sorted(counts.items()):
        yield Part(cluster.name, job, owner, interval, hosts, count, counted=owner == fallback, spread=place.spread)


def _recorded(factory: Factory, shown: Mapping[str, Shown], group: NodeGroup) -> Counter[str]:
    """The recorded series of a node by owner. Each count of an NVLink is recorded twice, of a port once."""
    counts: Counter[str] = Counter()
    whole = 0 if group.sharing == "mig" else group.gpus
    entities = {"node": 1, "gpu": group.gpus, "whole gpu": whole, "share": group.gpus * group.shares}
    for signal, entity, count in RECORDED.values():
        if signal in factory.signals:
            counts[factory.signals[signal].owner] += entities[entity] * count
    for owner, metric in (pair for metrics in shown.values() for pair in metrics):
        if metric.errors and metric.entity != "port":
            counts[owner] += 2 * group.gpus
        elif metric.errors and metric.signal == PORT_ERRORS.get(group.fabric):
            counts[owner] += of_host(group).ports
    return counts


def _of_own_records(factory: Factory, cluster: Cluster) -> Iterator[Part]:
    """What records of the spec and its mixins make: a series for each board, node or cluster that labels tell apart."""
    if not factory.own_records:
        return
    from tocsin.promtypes import of_factory  # a spec without rules of its own does without

    series = of_factory(factory).series
    for record in factory.own_records:
        labels = series[record.name].labels.known
        each = values_of(factory, sorted(labels - {"gpu_uuid", *record.labels}))
        if "node" not in labels:
            yield Part(cluster.name, RULES, record.owner, factory.interval, ("",), each, counted=False, spread=False)
            continue
        for group in cluster.groups:
            count = each * (group.gpus if "gpu_uuid" in labels else 1)
            interval = factory.interval
            yield Part(cluster.name, RULES, record.owner, interval, group.hosts, count, counted=False, spread=True)


def of_objective(factory: Factory, cluster: Cluster, slo: Slo) -> int:
    """An objective's constant, and for each group of events bad and all in each window, their ratio and what is left.

    Only the constant where the cluster has no job that shows the events.
    """
    name = slo.indicator.total.metric or ""
    metric = factory.metrics.get(name) or factory.metrics.get(_PART.sub("", name))
    if metric is None or not (
        metric.exporter in cluster.ports or any(job.name == metric.exporter for job in cluster.jobs)
    ):
        return CONSTANTS
    each = 2 * len(slo.windows.all) + SLICES.get(slo.kind, 0) + 1 + len(naming.SLO_PERIOD)
    return CONSTANTS + values_of(factory, slo.by) * each

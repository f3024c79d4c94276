"""How many series and samples a cluster makes.

Everything is counted for a sound fleet at work: each board has one job, no fault has a series. Two replicas of a server
are counted once.
"""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.catalog import DEEP_JOB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tocsin.catalog import Metric
    from tocsin.factory import Cluster, Factory, NodeGroup, Slo
    from tocsin.units import Duration

    Shown = list[tuple[str, Metric]]  # metrics with their owners

# What Prometheus adds to each target: up, scrape_duration_seconds, scrape_samples_scraped,
# scrape_samples_post_metric_relabeling, scrape_series_added (Prometheus, "Jobs and instances").
META_SERIES = 5
# A histogram is its finite buckets, +Inf, _sum and _count; 14 are prometheus_client's default (DEFAULT_BUCKETS).
HISTOGRAM_SERIES = 14 + 3
# ALERTS and ALERTS_FOR_STATE of the one alert that always fires.
WATCHDOG_SERIES = 2
# node_exporter 1.5.0 with its default collectors, counted: 481 series and 13 for each logical CPU; a host of eight H100
# has 224 of those (NVIDIA DGX H100: two Xeon 8480C).
OTHER_SERIES = {"dcgm": 0, DEEP_JOB: 0, "node": 481 + 13 * 224}

CONSTANTS = 2  # of an SLO: its objective, and what it is
# What is recorded of each place before its windows.
SLICES = {"time_slice": 3, "throughput": 2, "slowdown": 5, "utilisation": 2, "composite": 2}
RULES = "recording rules"  # stands for a job's name, which has no spaces, where series are recorded
# Recorded series of a sound fleet: the signal that has them recorded, what each belongs to, how many it has. Those of
# faults are nought.
RECORDED = {
    naming.GPUS_EXPECTED: ("gpu_temp", "node", 1),
    naming.GPUS_PRESENT: ("gpu_temp", "node", 1),
    naming.GPU_JOB: ("xid", "gpu", 1),
    naming.XID_EDGE: ("xid", "gpu", 0),
    naming.XID_FIRST: ("xid", "gpu", 0),
    naming.XID_NEW: ("xid", "gpu", 0),
    naming.GPU_UTIL: ("throttle_reasons", "gpu", 1),
    naming.THROTTLED: ("throttle_reasons", "gpu", 5),  # one a reason
    naming.MEMORY_FAULT: ("ecc_uncorrected", "gpu", 0),
    naming.PCIE_SHARE: ("pcie_throughput", "gpu", 2),  # one a direction
    naming.HBM_ACTIVE: ("hbm_activity", "gpu", 1),
    naming.LABEL_VIOLATIONS: ("gpu_temp", "node", 0),
}
_PART = re.compile("_(?:bucket|count|sum)$")  # of a histogram
_PLACED = frozenset(("cluster", "node", "job_id", "tenant"))  # one value of each at one target


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


def watched(factory: Factory, cluster: Cluster) -> Iterator[Part]:
    """Everything of a cluster that makes series, but for its servers."""
    shown = _shown(factory)
    for group in cluster.groups:
        yield from _of_nodes(factory, cluster, group, shown)
    for exporter in cluster.exporters:
        if exporter.kind.stands != "node":
            places = exporter.hosts or exporter.addresses
            counts = _at_targets(factory, shown, exporter.kind.job)
            yield from _owned(factory, cluster, exporter.kind.job, exporter.interval, places, counts, spread=False)
    for job in cluster.jobs:
        counts = _at_targets(factory, shown, job.name)
        yield from _owned(factory, cluster, job.name, job.interval, job.hosts, counts, spread=False)
    for slo in factory.slos.values():
        series = of_objective(factory, cluster, slo)
        yield Part(cluster.name, RULES, slo.owner, factory.interval, ("",), series, counted=False, spread=False)
    fallback = factory.alerting.fallback
    yield Part(cluster.name, RULES, fallback, factory.interval, ("",), WATCHDOG_SERIES, counted=False, spread=False)


def _of_nodes(factory: Factory, cluster: Cluster, group: NodeGroup, shown: Mapping[str, Shown]) -> Iterator[Part]:
    """The exporters of a group's nodes, and what is recorded of them."""
    jobs = {one.kind.job: one.interval for one in cluster.exporters if one.kind.stands == "node"}
    if factory.deep is not None:
        jobs[DEEP_JOB] = factory.deep.interval  # every node at work, which is what the servers have to bear
    for job, interval in jobs.items():
        counts: Counter[str] = Counter()
        for owner, metric in shown.get(job, ()):
            counts[owner] += 0 if metric.sparse else _at_node(metric, group)
        yield from _owned(factory, cluster, job, interval, group.hosts, counts)
    for owner, count in sorted(_recorded(factory, shown, group).items()):
        yield Part(cluster.name, RULES, owner, factory.interval, group.hosts, count, counted=False, spread=True)


def _at_targets(factory: Factory, shown: Mapping[str, Shown], job: str) -> Counter[str]:
    """The series of one target of a job that does not stand for a node, by owner."""
    counts: Counter[str] = Counter()
    for owner, metric in shown.get(job, ()):
        counts[owner] += 0 if metric.sparse else _at_target(factory, metric)
    return counts


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


def _owned(
    factory: Factory,
    cluster: Cluster,
    job: str,
    interval: Duration,
    hosts: tuple[str, ...],
    counts: Counter[str],
    *,
    spread: bool = True,
) -> Iterator[Part]:
    """A job's targets by owner. What is nobody's signal is the fallback's, who runs the monitoring."""
    fallback = factory.alerting.fallback
    counts[fallback] += META_SERIES + factory.other_series.get(job, 0)
    for owner, count in sorted(counts.items()):
        yield Part(cluster.name, job, owner, interval, hosts, count, counted=owner == fallback, spread=spread)


def ports(group: NodeGroup) -> int:
    """The fabric ports of a node: its named devices, one port each; one a GPU where none is named."""
    return 0 if group.fabric == "none" else len(group.devices) or group.gpus


def _at_node(metric: Metric, group: NodeGroup) -> int:
    entities = {"gpu": group.gpus, "gpu_instance": group.gpus, "port": ports(group)}
    return entities.get(metric.entity, 1) * (HISTOGRAM_SERIES if metric.type == "histogram" else 1)


def _at_target(factory: Factory, metric: Metric) -> int:
    """One series for each combination of the values of closed labels; of others one target has one."""
    return _values(factory, metric.labels) * (HISTOGRAM_SERIES if metric.type == "histogram" else 1)


def _values(factory: Factory, labels: Iterable[str]) -> int:
    count = 1
    for label in labels:
        rule = factory.labels.get(label)
        if label not in _PLACED and rule is not None and rule.values is not None:
            count *= len(rule.values)
    return count


def _recorded(factory: Factory, shown: Mapping[str, Shown], group: NodeGroup) -> Counter[str]:
    """The recorded series of a node by owner. Each count of an NVLink is recorded twice, of a port once."""
    counts: Counter[str] = Counter()
    entities = {"node": 1, "gpu": group.gpus}
    for signal, entity, count in RECORDED.values():
        if signal in factory.signals:
            counts[factory.signals[signal].owner] += entities[entity] * count
    for owner, metric in (pair for metrics in shown.values() for pair in metrics):
        if metric.errors:
            counts[owner] += ports(group) if metric.entity == "port" else 2 * group.gpus
    return counts


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
    return CONSTANTS + _values(factory, slo.by) * each

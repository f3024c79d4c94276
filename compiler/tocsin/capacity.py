"""How many series and samples a factory makes, what they cost a Prometheus, and over how many servers they go.

Everything is counted for a sound fleet at work: each board has one job, no fault has a series. Two replicas of a server
are counted once.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from hashlib import md5
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from tocsin import burn, naming
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tocsin.catalog import Metric
    from tocsin.factory import Cluster, Factory, NodeGroup, Slo

    Shown = list[tuple[str, Metric]]  # metrics with their owners

RETENTION = Duration.of(days=15)  # Prometheus' default

# What Prometheus adds to each target: up, scrape_duration_seconds, scrape_samples_scraped,
# scrape_samples_post_metric_relabeling, scrape_series_added (Prometheus, "Jobs and instances").
META_SERIES = 5
# A histogram is its finite buckets, +Inf, _sum and _count; 14 are prometheus_client's default (DEFAULT_BUCKETS).
HISTOGRAM_SERIES = 14 + 3
# ALERTS and ALERTS_FOR_STATE of the one alert that always fires.
WATCHDOG_SERIES = 2
# node_exporter 1.5.0 with its default collectors, counted: 481 series and 13 for each logical CPU; a host of eight H100
# has 224 of those (NVIDIA DGX H100: two Xeon 8480C).
OTHER_SERIES = {"dcgm": 0, "node": 481 + 13 * 224}

# Bytes of `remote_write` a sample. Measured: 32 (Prometheus 3.5.3, protocol 1.0, a fleet of 40 hosts of eight GPUs).
WIRE = 35

LEAST_LOG = 3 * 128 * 2**20  # bytes: three segments of 128 MiB (Prometheus, "Storage")

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
}
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


# --- what it costs ----------------------------------------------------------------------------------------------------


def memory(size: Size) -> int:
    """Bytes of memory: 8 KiB a series, for the head, queries and series that end and begin.

    Measured: 2.2 KB a series in a fresh head (Prometheus 3.5.3, 100,000 series, 7 labels); about 2 GiB a million with
    Go's collector (Robust Perception, "How much RAM does Prometheus 2.x need"); 4 to 8 KB with queries and churn.
    """
    return 8192 * size.series


def disk(size: Size, retention: Duration = RETENTION) -> int:
    """Bytes of disk: retention * samples/s * 2 B, a fifth more for compaction, and the write-ahead log.

    1 to 2 B a sample (Prometheus, "Storage"). The log holds up to three hours of raw samples of 16 B (time and value)
    and is never shorter than LEAST_LOG, which only a server as a whole has.
    """
    return ceil(retention.seconds * size.samples * 2 * Fraction(6, 5) + 3 * 3600 * size.samples * 16)


def written(size: Size) -> int:
    """Bytes per second on the wire of `remote_write`, if all of it is written on."""
    return ceil(WIRE * size.samples)


def per_day(samples: Fraction, bytes_per_sample: Fraction) -> Fraction:
    """Bytes that samples per second come to in a day."""
    return samples * 86400 * bytes_per_sample


# --- what there is ----------------------------------------------------------------------------------------------------


def parts(factory: Factory, cluster: Cluster) -> Iterator[Part]:
    """Everything of a cluster that makes series."""
    shown = _shown(factory)
    for group in cluster.groups:
        for exporter in cluster.ports:
            counts: Counter[str] = Counter()
            for owner, metric in shown.get(exporter, ()):
                counts[owner] += _at_node(metric, group)
            yield from _owned(factory, cluster, exporter, factory.interval, group.hosts, counts)
        for owner, count in sorted(_recorded(factory, shown, group).items()):
            yield Part(cluster.name, RULES, owner, factory.interval, group.hosts, count, counted=False, spread=True)
    for job in cluster.jobs:
        counts = Counter()
        for owner, metric in shown.get(job.name, ()):
            counts[owner] += _at_target(factory, metric)
        yield from _owned(factory, cluster, job.name, job.interval, job.hosts, counts, spread=False)
    for slo in factory.slos.values():
        series = _of_objective(factory, cluster, slo)
        yield Part(cluster.name, RULES, slo.owner, factory.interval, ("",), series, counted=False, spread=False)
    fallback = factory.alerting.fallback
    yield Part(cluster.name, RULES, fallback, factory.interval, ("",), WATCHDOG_SERIES, counted=False, spread=False)


def of(some: Iterable[Part]) -> Size:
    """The size of all of them."""
    total = NOTHING
    for part in some:
        total += _size(part, len(part.hosts))
    return total


def _size(part: Part, targets: int) -> Size:
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


def _of_objective(factory: Factory, cluster: Cluster, slo: Slo) -> int:
    """An objective's constant, and for each group of events bad and all in each window, their ratio and what is left.

    Only the constant where the cluster has no job that shows the events.
    """
    exporters = {metric.exporter for metric in factory.metrics.values() if _is_of(metric, slo)}
    jobs: set[str] = {*cluster.ports, *(job.name for job in cluster.jobs)}
    if not exporters & jobs:
        return 1
    return 1 + _values(factory, slo.by) * (2 * len(burn.WINDOWS) + 2)


def _is_of(metric: Metric, slo: Slo) -> bool:
    name = slo.total.metric or ""
    return metric.name == name or (metric.type == "histogram" and name.startswith(f"{metric.name}_"))


# --- over how many servers --------------------------------------------------------------------------------------------


@lru_cache(maxsize=2**17)
def _hash(text: str) -> int:
    return int.from_bytes(md5(text.encode(), usedforsecurity=False).digest()[8:], "big")


def shard_of(node: str, shards: int) -> int:
    """The shard of a node as Prometheus' `hashmod` finds it: the last eight bytes of the name's MD5, modulo the shards.

    Found by running promtool 2.42 and 3.5, in whose source it stands (model/relabel).
    """
    return _hash(node) % shards


def shards(factory: Factory, cluster: Cluster) -> int | None:
    """The number of a cluster's shards; None where no number of them keeps `max_series`."""
    wanted = factory.servers
    if wanted.max_series is None:
        return wanted.shards or 1
    all_ = list(parts(factory, cluster))
    if of(all_).series <= wanted.max_series:
        return 1
    nodes = {host for group in cluster.groups for host in group.hosts}
    least = ceil(of(part for part in all_ if part.spread).series / wanted.max_series) if wanted.max_series else 65
    for count in range(max(2, least), min(len(nodes), 64) + 1):
        if all(size.series <= wanted.max_series for size in _spread(all_, count)):
            return count
    return None


def _spread(all_: Iterable[Part], count: int) -> list[Size]:
    sizes = [NOTHING] * count
    targets: dict[tuple[str, ...], Counter[int]] = {}
    for part in all_:
        if part.spread:
            if part.hosts not in targets:
                targets[part.hosts] = Counter(shard_of(host, count) for host in part.hosts)
            for shard, number in targets[part.hosts].items():
                sizes[shard] += _size(part, number)
    return sizes


def servers(factory: Factory, cluster: Cluster) -> tuple[Size, ...]:
    """The sizes of a cluster's servers: of its only one; or of every shard and, last, of the one above them."""
    count, all_ = shards(factory, cluster) or 1, list(parts(factory, cluster))
    if count == 1:
        return (of(all_),)
    # What the server above reads of each shard: two series a node, and of each exporter how many targets answer.
    read = _read(factory, [cluster], count, count * len(cluster.ports), factory.interval)
    return (*_spread(all_, count), of(part for part in all_ if not part.spread) + read)


def federated(factory: Factory, clusters: Sequence[Cluster], below: int, interval: Duration) -> Size:
    """The size of a server that reads what was recorded of some clusters from so many servers."""
    objectives = sum(_of_objective(factory, cluster, slo) for cluster in clusters for slo in factory.slos.values())
    counts = [(shards(factory, cluster) or 1, len(cluster.ports)) for cluster in clusters]
    answers = sum(count * exporters for count, exporters in counts if count > 1)
    return _read(factory, clusters, below, objectives + answers, interval)


def _read(factory: Factory, clusters: Sequence[Cluster], below: int, others: int, interval: Duration) -> Size:
    at_node = sum(
        count for signal, entity, count in RECORDED.values() if entity == "node" and signal in factory.signals
    )
    nodes = sum(len(group.hosts) for cluster in clusters for group in cluster.groups)
    series = at_node * nodes + others + META_SERIES * below
    return Size(below, series, Fraction(series) / interval.seconds)

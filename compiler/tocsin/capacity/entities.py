"""How many series a metric has at a target, by what they belong to and how many there are of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.catalog import entity_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.catalog.kinds import EntityKind, Metric
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, Exporter, NodeGroup

_PLACED = frozenset(("cluster", "node", "job_id", "tenant"))  # one value of each at one target of an application


class Scope(NamedTuple):
    """What one target speaks of."""

    hosts: int
    gpus: int
    ports: int
    writes: int = 0
    alertmanagers: int = 0


TARGET = Scope(1, 1, 1)


def of_host(group: NodeGroup) -> Scope:
    """What stands on a node of a group. Fabric ports: its named devices, one each; one a GPU where none is named."""
    return Scope(1, group.gpus, 0 if group.fabric == "none" else len(group.devices) or group.gpus)


def of_exporter(cluster: Cluster, exporter: Exporter) -> Scope:
    """What a target beside the nodes speaks of: the cluster, or one host, which may be the largest."""
    nodes = [of_host(group) for group in cluster.groups]
    if exporter.kind.sees == "host":
        return Scope(*map(max, zip(*nodes, strict=True)))
    counts = [len(group.hosts) for group in cluster.groups]
    return Scope(*(sum(map(int.__mul__, column, counts)) for column in zip(*nodes, strict=True)))


def of_server(factory: Factory) -> Scope:
    """What a Prometheus tells of itself: the stores that it writes to, and the Alertmanagers that it tells."""
    writes = sum(tier.store is not None for tier in factory.retention.tiers)
    return Scope(1, 0, 0, writes, len(factory.alerting.alertmanagers))


def series_of(factory: Factory, metric: Metric, scope: Scope) -> int:
    """The series of a metric at a target.

    A signal of the spec's own has one for each combination of the values of bounded labels, others as many as there are
    entities, and one for each of what their further labels say of one. A histogram is its finite buckets, +Inf, _sum
    and _count.
    """
    parts = (len(metric.buckets) or metric.finite) + 3 if metric.type == "histogram" else 1
    if metric.entity == "target":
        return values_of(factory, metric.labels) * parts
    return _entities(factory, entity_kinds()[metric.entity], metric, scope) * metric.each * parts


def values_of(factory: Factory, labels: Iterable[str]) -> int:
    """How many combinations some labels have at a target: of the values of those that are bounded."""
    count = 1
    for label in labels:
        if label not in _PLACED:
            count *= bound(factory, label) or 1
    return count


def bound(factory: Factory, label: str) -> int | None:
    """How many values a label may have; None where the schema does not say it."""
    rule = factory.labels.get(label)
    if rule is None:
        return None
    return rule.max_values if rule.values is None else len(rule.values)


def _entities(factory: Factory, kind: EntityKind, metric: Metric, scope: Scope) -> int:
    told = factory.entities.get(kind.id)
    counted = getattr(scope, kind.of) if kind.of else 1
    expected = -(-counted * kind.usual // kind.per) if told is None else told
    bounds = (bound(factory, label) for label in kind.labels if label in metric.labels)
    most = next((count for count in bounds if count is not None), None)
    if most is None:
        return expected
    # Where the hosts count them, there are no more than these, however many the schema allows.
    return min(most, expected) if kind.of and told is None and scope.hosts == 1 else most

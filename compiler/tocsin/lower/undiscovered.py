"""Hosts that nobody tells: a target that is gone from its source is not down, it is not there at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.nodes import one_of
from tocsin.lower.proofs import STRANGER, fires, proof, series, silent
from tocsin.plan.rules import Record
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.signals import Signal
    from tocsin.plan.rules import Alert, RuleTest

_MANY = 500  # hosts of a test's world; promtool loads 10,000 samples for a query at most
_HOLD = 15  # minutes: an exporter that is rolled out anew leaves its source for a while


def undiscovered(
    factory: Factory, cluster: Cluster, signals: Mapping[str, Signal]
) -> tuple[list[Alert], list[RuleTest]]:
    """For each exporter on the nodes an alert where the source tells fewer of them than the spec lists, with its test.

    `signals` are what the exporters stand for. Nothing where the targets are the spec's own hosts.
    """
    if cluster.source is None:
        return [], []
    hosts = _hosts(cluster)
    alerts = {}
    for job, signal in signals.items():
        up = _up(cluster, job)
        # Counting nothing yields nothing, which is less than any number: that is what `absent` is for.
        expr = f"{_told(up)} < {len(hosts)}\nor absent({up})"
        alerts[job] = _alert(factory, job, hosts, signal, expr)
    return list(alerts.values()), [_test(cluster, job, hosts, alert) for job, alert in alerts.items()]


def told_to_shard(cluster: Cluster, jobs: Iterable[str]) -> list[Record]:
    """What a shard records of its own share: of how many nodes that the spec lists its source has told it."""
    if cluster.source is None:
        return []
    counts = "\nor ".join(_told(_up(cluster, job)) for job in jobs)
    return [Record(naming.NODES_TOLD, counts, {}, cluster.origin)]


def undiscovered_by_shards(
    factory: Factory, cluster: Cluster, signals: Mapping[str, Signal]
) -> tuple[list[Alert], list[RuleTest]]:
    """The same for the server above shards, where each node is one shard's: their counts are summed up."""
    if cluster.source is None:
        return [], []
    hosts, alerts, tests = _hosts(cluster), [], []
    for job, signal in signals.items():
        told = f"{naming.NODES_TOLD}{{cluster={quote(cluster.name)}, job={quote(job)}}}"
        shards = f"up{{cluster={quote(cluster.name)}, job={quote(naming.SHARD_JOB)}}}"
        # A shard that does not answer has alerts of its own, and says nothing of its source.
        expr = f"(sum by (cluster, job) ({told}) < {len(hosts)}\nor absent({told}))\nunless on (cluster) {shards} == 0"
        alert = _alert(factory, job, hosts, signal, expr)
        alerts.append(alert)
        tests.append(_shard_test(cluster, job, len(hosts), alert))
    return alerts, tests


def _hosts(cluster: Cluster) -> tuple[str, ...]:
    return tuple(host for group in cluster.groups for host in group.hosts)


def _up(cluster: Cluster, job: str) -> str:
    return f'up{{cluster={quote(cluster.name)}, job="{job}", node=~{quote(one_of(_hosts(cluster)))}}}'


def _told(up: str) -> str:
    """How many nodes are targets, whether they answer or not; one that is told twice is one."""
    return f"count by (cluster, job) (group by (cluster, node, job) ({up}))"


def _alert(factory: Factory, job: str, hosts: tuple[str, ...], signal: Signal, expr: str) -> Alert:
    return signal_alert(
        factory,
        f"{naming.titled(job)}TargetsMissing",
        signal,
        "ticket",
        expr=expr,
        hold=Duration.of(minutes=_HOLD),
        summary=f"Nodes of {{{{ $labels.cluster }}}} are no targets of the job {job}",
        description=f"The discovery of {{{{ $labels.cluster }}}} tells fewer than the {len(hosts)} nodes that the spec "
        f"lists as targets of {job}: their faults are invisible, and no other alert is about them. Compare its answer "
        "with the spec, names included.",
        where=("cluster",),
    )


def _test(cluster: Cluster, job: str, hosts: tuple[str, ...], alert: Alert) -> RuleTest:
    """All are there, one goes, all go; a node that the spec does not list is none of them, one told twice is one."""
    all_there = len(hosts) <= _MANY
    place = {"cluster": cluster.name, "job": job}
    inputs = [series("up", {**place, "node": host, "instance": host}, "1x29 stale") for host in hosts[1:_MANY]]
    inputs += [series("up", {**place, "node": host, "instance": "again"}, "1x29 stale") for host in hosts[1:2]]
    inputs.append(series("up", {**place, "node": hosts[0], "instance": hosts[0]}, "0x9 stale"))
    inputs.append(series("up", {**place, "node": "not-in-the-spec", "instance": "a"}, "1x60"))
    inputs.append(series("up", {**place, "cluster": STRANGER, "node": hosts[0], "instance": "a"}, "1x60"))
    left = len(hosts[1:_MANY])
    checks = [silent(alert, 24), fires(alert, 25, place, value=left or 1)] if all_there else []
    return proof(
        alert, "one node is no target any more, then none is", inputs, *checks, fires(alert, 50, place, value=1)
    )


def _shard_test(cluster: Cluster, job: str, nodes: int, alert: Alert) -> RuleTest:
    """One shard is told a node less; then that one is silent, and comes back; then no shard is told any."""
    place = {"cluster": cluster.name, "job": job}
    one = {**place, "shard": "0"}
    other = {**place, "shard": "1"}
    inputs = [
        series(naming.NODES_TOLD, one, "1x99 stale"),
        series(naming.NODES_TOLD, other, f"{nodes - 1}x9 {nodes - 2}x29 stale _x19 {nodes - 1}x38 stale"),
        series("up", {"cluster": cluster.name, "job": STRANGER, "instance": "a"}, "0x140"),
        series("up", {"cluster": cluster.name, "job": naming.SHARD_JOB, "instance": "shard-0:9090"}, "1x140"),
        series("up", {"cluster": cluster.name, "job": naming.SHARD_JOB, "instance": "shard-1:9090"}, "1x39 0x19 1x80"),
    ]
    checks = [silent(alert, 24), silent(alert, 41), silent(alert, 58), silent(alert, 99)]
    checks += [fires(alert, minute, place, value=nodes - 1) for minute in (25, 39)]
    checks.append(fires(alert, 117, place, value=1))
    return proof(alert, "a shard is told less, and is silent; then no shard is told any", inputs, *checks)

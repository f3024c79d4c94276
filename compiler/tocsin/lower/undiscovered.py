"""Hosts that nobody tells: a target that is gone from its source is not down, it is not there at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.nodes import one_of
from tocsin.lower.proofs import fires, proof, series, silent
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.factory import Cluster, Factory, Signal
    from tocsin.plan import Alert, RuleTest

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
    hosts = tuple(host for group in cluster.groups for host in group.hosts)
    alerts = {job: _alert(factory, cluster, job, hosts, signal) for job, signal in signals.items()}
    return list(alerts.values()), [_test(cluster, job, hosts, alert) for job, alert in alerts.items()]


def _alert(factory: Factory, cluster: Cluster, job: str, hosts: tuple[str, ...], signal: Signal) -> Alert:
    up = f'up{{cluster={quote(cluster.name)}, job="{job}", node=~{quote(one_of(hosts))}}}'
    return signal_alert(
        factory,
        f"{naming.titled(job)}TargetsMissing",
        signal,
        "ticket",
        # Counting nothing yields nothing, which is less than any number: that is what `absent` is for.
        expr=f"count by (cluster, job) (group by (cluster, node, job) ({up})) < {len(hosts)}\nor absent({up})",
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
    inputs.append(series("up", {**place, "cluster": "another", "node": hosts[0], "instance": "a"}, "1x60"))
    left = len(hosts[1:_MANY])
    checks = [silent(alert, 24), fires(alert, 25, place, value=left or 1)] if all_there else []
    return proof(
        alert, "one node is no target any more, then none is", inputs, *checks, fires(alert, 50, place, value=1)
    )

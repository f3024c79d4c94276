"""Servers that watch each other: a replica that is dead is missed by nobody, since the other one tells all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.lower.alerts import links
from tocsin.lower.proofs import STRANGER, fires, series, shared, silent
from tocsin.plan.rules import Alert, RuleFile, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.plan.rules import RuleTest

_REPLICA, _SERVER = "cluster, server, peer", "cluster, server"


def peers(factory: Factory, cluster: Cluster) -> Iterator[RuleFile]:
    """Servers of which no replica answers, and where there are two, one that does not; none where there is one server.

    The last server of all is missed by the heartbeat's receiver.
    """
    if len(capacity.peers(factory, cluster)) == 1:
        return
    lost = _down(
        factory,
        cluster,
        "PrometheusDown",
        "page",
        _SERVER,
        "Prometheus {{ $labels.server }} of {{ $labels.cluster }} does not answer",
        "No replica of the Prometheus {{ $labels.server }} of {{ $labels.cluster }} can be read: no fault of what it "
        "watches is told.",
    )
    halved = _down(
        factory,
        cluster,
        "PrometheusReplicaDown",
        "ticket",
        _REPLICA,
        "Prometheus {{ $labels.peer }} of {{ $labels.cluster }} does not answer",
        "{{ $labels.peer }} of {{ $labels.cluster }} cannot be read. Its other replica tells what it would tell, but "
        "there is no third.",
    )
    alerts = (lost, halved) if factory.servers.replicas > 1 else (lost,)
    name = f"servers-{cluster.name}"
    yield RuleFile(name, (RuleGroup(name, alerts, (_test(name, cluster, alerts),)),))


def _down(
    factory: Factory, cluster: Cluster, name: str, severity: str, by: str, summary: str, description: str
) -> Alert:
    owner, targets = factory.alerting.fallback, f"cluster={quote(cluster.name)}, job={quote(capacity.PEERS)}"
    return Alert(
        name=name,
        expr=f"max by ({by}) (avg_over_time(up{{{targets}}}[5m])) < 0.75",
        hold=Duration.of(minutes=5),
        labels={"severity": severity, "owner": owner, "layer": "runtime", "signal": naming.HEARTBEAT},
        annotations={"summary": summary, "description": description, **links(factory, owner, name, ("cluster",))},
        origin=factory.servers.origin,
    )


def _test(group: str, cluster: Cluster, alerts: tuple[Alert, ...]) -> RuleTest:
    """One replica is silent from minute 10 on, the other from minute 30; two of another server never are."""
    at = {"cluster": cluster.name, "server": "one"}
    both = ({**at, "peer": "one-replica-a"}, {**at, "peer": "one-replica-b"})
    other = {"cluster": cluster.name, "server": "other", "peer": "other-replica-a"}
    inputs = [
        series("up", {**labels, "job": capacity.PEERS, "instance": "x"}, values)
        for labels, values in ((both[0], "1x9 0x50"), (both[1], "1x29 0x30"), (other, "1x60"))
    ]
    # Other jobs of the server, and servers of another cluster, are silent as well.
    inputs += [series("up", {**both[0], "job": STRANGER, "server": "not-one", "peer": "none", "instance": "x"}, "0x60")]
    inputs += [series("up", {**both[0], "job": capacity.PEERS, "cluster": STRANGER, "instance": "x"}, "0x60")]
    lost, *halved = alerts
    checks = [silent(lost, 29), silent(lost, 35), fires(lost, 36, at)]
    for alert in halved:
        checks += [silent(alert, 15), fires(alert, 16, both[0]), fires(alert, 36, *both)]
    return shared(group, "one replica is silent, then both", lost.origin, inputs, *checks)

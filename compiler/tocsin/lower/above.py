"""The rules of the server above the shards of a cluster: what no shard can see by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.collection import EXPORTER_SIGNALS, all_down
from tocsin.lower.missing import missing_signals
from tocsin.lower.proofs import fires, series, shared, silent
from tocsin.lower.servers import SHARD_JOB
from tocsin.plan import RuleFile, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.factory import Cluster, Factory
    from tocsin.plan import Alert, RuleTest


def above(factory: Factory, cluster: Cluster) -> tuple[RuleFile, ...]:
    """Shards that do not answer, exporters of which none does, signals that applications lack; none without shards."""
    if (capacity.shards(factory, cluster) or 1) == 1:
        return ()
    name = f"above-{cluster.name}"
    places = {
        job: f"{naming.TARGETS_UP}{{cluster={quote(cluster.name)}, job={quote(job)}}}" for job in EXPORTER_SIGNALS
    }
    blind = {job: all_down(factory, job, targets) for job, targets in places.items()}
    lost = _shard_down(factory, cluster)
    missing, proofs = missing_signals(factory, cluster, [job.name for job in cluster.jobs])
    tests = (_test(name, cluster, lost, blind), *proofs)
    return (RuleFile(name, (RuleGroup(name, (lost, *blind.values(), *missing), tests),)),)


def _shard_down(factory: Factory, cluster: Cluster) -> Alert:
    targets = f"up{{cluster={quote(cluster.name)}, job={quote(SHARD_JOB)}}}"
    return signal_alert(
        factory,
        "PrometheusShardDown",
        factory.signals["gpu_temp"],
        "page",
        expr=f"max by (cluster, shard) (avg_over_time({targets}[5m])) < 0.75",
        hold=Duration.of(minutes=5),
        summary="Shard {{ $labels.shard }} of {{ $labels.cluster }} does not answer",
        description="The Prometheus that watches the nodes of shard {{ $labels.shard }} of {{ $labels.cluster }} "
        "cannot be read: no fault of these nodes is told.",
        where=("cluster",),
    )


def _test(group: str, cluster: Cluster, lost: Alert, blind: Mapping[str, Alert]) -> RuleTest:
    """The targets of one shard are silent from minute 10 on, those of the other from minute 30; at 50 it ends too."""
    inputs, checks = [], []
    for shard, answering, itself in (("0", "5x9 0x80", "1x90"), ("1", "4x29 0x19 stale", "1x49 0x40")):
        at = {"cluster": cluster.name, "shard": shard}
        inputs += [series(naming.TARGETS_UP, {**at, "job": job}, answering) for job in blind]
        inputs.append(series("up", {**at, "job": SHARD_JOB, "instance": shard}, itself))
    for job, alert in blind.items():
        everywhere = {"cluster": cluster.name, "job": job}
        checks += [silent(alert, minute) for minute in (29, 34)]
        checks += [fires(alert, minute, everywhere) for minute in (35, 60, 89)]
    checks += [silent(lost, minute) for minute in (49, 55)]
    checks.append(fires(lost, 57, {"cluster": cluster.name, "shard": "1"}))
    return shared(group, "the targets of one shard are silent, then all, then a shard is", lost.origin, inputs, *checks)

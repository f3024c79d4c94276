"""The rules of the server above the shards of a cluster: what no shard can see by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.lower.collection import EXPORTER_SIGNALS, all_down
from tocsin.lower.missing import missing_signals
from tocsin.lower.proofs import fires, series, shared, silent
from tocsin.plan import RuleFile, RuleGroup
from tocsin.promql import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.factory import Cluster, Factory
    from tocsin.plan import Alert, RuleTest


def above(factory: Factory, cluster: Cluster) -> tuple[RuleFile, ...]:
    """Exporters of which none answers on any shard, and signals that applications lack; none without shards."""
    if (capacity.shards(factory, cluster) or 1) == 1:
        return ()
    name = f"above-{cluster.name}"
    places = {
        job: f"{naming.TARGETS_UP}{{cluster={quote(cluster.name)}, job={quote(job)}}}" for job in EXPORTER_SIGNALS
    }
    blind = {job: all_down(factory, job, targets) for job, targets in places.items()}
    missing, proofs = missing_signals(factory, cluster, [job.name for job in cluster.jobs])
    tests = (_test(name, cluster, blind), *proofs)
    return (RuleFile(name, (RuleGroup(name, (*blind.values(), *missing), tests),)),)


def _test(group: str, cluster: Cluster, blind: Mapping[str, Alert]) -> RuleTest:
    """The targets of one shard are silent from minute 10 on, those of the other from minute 30; at 50 it ends too."""
    inputs, checks = [], []
    for shard, answering in (("0", "5x9 0x80"), ("1", "4x29 0x19 stale")):
        at = {"cluster": cluster.name, "shard": shard}
        inputs += [series(naming.TARGETS_UP, {**at, "job": job}, answering) for job in blind]
    for job, alert in blind.items():
        everywhere = {"cluster": cluster.name, "job": job}
        checks += [silent(alert, minute) for minute in (29, 34)]
        checks += [fires(alert, minute, everywhere) for minute in (35, 60, 89)]
    origin = next(iter(blind.values())).origin
    return shared(group, "the targets of one shard are silent, then all are", origin, inputs, *checks)

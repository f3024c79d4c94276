"""The rules of the server above the shards of a cluster: what no shard can see by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.catalog import EXPORTERS
from tocsin.lower.missing import missing_signals
from tocsin.lower.proofs import fires, series, shared, silent
from tocsin.lower.silence import all_down, down, silence_test, watched
from tocsin.lower.undiscovered import undiscovered_by_shards
from tocsin.lower.values import values
from tocsin.lower.violations import violating, violation_rules, violation_test
from tocsin.plan.rules import RuleFile, RuleGroup
from tocsin.promql import quote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.plan.rules import Alert, Record, RuleTest


def above(factory: Factory, cluster: Cluster) -> tuple[RuleFile, ...]:
    """Exporters of which none answers on any shard, and all about what stands beside the nodes; none without shards."""
    if (capacity.shards(factory, cluster) or 1) == 1:
        return ()
    name = f"above-{cluster.name}"
    exporters = watched(factory, cluster)
    beside = [one for one in exporters if not one.on_nodes]
    of_cluster = f"cluster={quote(cluster.name)}"
    places = {one.job: f"{naming.TARGETS_UP}{{{of_cluster}, job={quote(one.job)}}}" for one in exporters}
    places |= {one.job: f"up{{{of_cluster}, job={quote(one.job)}}}" for one in beside}
    blind = {one.job: all_down(factory, one, places[one.job]) for one in exporters}
    downs = {one.job: down(factory, one) for one in beside}
    jobs = [*downs, *(job.name for job in cluster.jobs)]
    missing, proofs = missing_signals(factory, cluster, jobs)
    broken = violating(factory, cluster, beside, applications=True)
    on_shards = {one.job: blind[one.job] for one in exporters if one.on_nodes}
    bounded, bounds = values(factory, cluster, jobs)
    everywhere = {one.job: one.signal for one in exporters if one.job in EXPORTERS}
    untold, stories = undiscovered_by_shards(factory, cluster, everywhere)
    rules: list[Record | Alert] = [*downs.values(), *blind.values(), *untold, *missing, *bounded]
    tests = [_test(name, cluster, on_shards), *stories, *proofs, *bounds]
    if beside:
        tests.append(silence_test(name, cluster, beside, downs, blind))
    if broken:
        rules += violation_rules(factory, cluster, broken)
        tests.append(violation_test(name, factory, cluster, broken))
    return (RuleFile(name, (RuleGroup(name, tuple(rules), tuple(tests)),)),)


def _test(group: str, cluster: Cluster, blind: Mapping[str, Alert]) -> RuleTest:
    """The targets of one shard are silent from minute 10 on, those of the other from 30; at 40 and 50 they end."""
    inputs, checks = [], []
    for shard, answering in (("0", "5x9 0x39 stale"), ("1", "4x29 0x9 stale")):
        at = {"cluster": cluster.name, "shard": shard}
        inputs += [series(naming.TARGETS_UP, {**at, "job": job}, answering) for job in blind]
    for job, alert in blind.items():
        everywhere = {"cluster": cluster.name, "job": job}
        checks += [silent(alert, minute) for minute in (29, 34)]
        checks += [fires(alert, minute, everywhere) for minute in (35, 45, 60)]
    origin = next(iter(blind.values())).origin
    return shared(group, "the targets of one shard are silent, then all are", origin, inputs, *checks)

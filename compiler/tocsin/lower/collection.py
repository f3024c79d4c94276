"""Collection itself: no data is no good news. One file a cluster, since `absent` is true wherever a cluster is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.catalog import DEEP_JOB, EXPORTERS
from tocsin.lower.missing import missing_signals
from tocsin.lower.silence import all_down, deep_down, deep_signal, down, silence_test, watched
from tocsin.lower.undiscovered import told_to_shard, undiscovered
from tocsin.lower.values import values
from tocsin.lower.violations import violating, violation_rules, violation_test
from tocsin.plan.rules import Record, RuleFile, RuleGroup
from tocsin.promql import quote

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.plan.rules import Alert


def collection(factory: Factory, cluster: Cluster) -> RuleFile:
    """Exporters that are down, signals that are missing where boards report, and what breaks the label schema."""
    name = f"collection-{cluster.name}"
    is_shard = (capacity.shards(factory, cluster) or 1) > 1
    exporters = [one for one in watched(factory, cluster) if one.on_nodes or not is_shard]
    downs = {one.job: down(factory, one) for one in exporters}
    jobs = [*downs, *(job.name for job in cluster.jobs if not is_shard)]
    deep, deep_proofs = deep_down(factory, cluster)
    missing, proofs = missing_signals(factory, cluster, jobs)
    broken = violating(factory, cluster, exporters, applications=not is_shard)
    bounded, bounds = values(factory, cluster, jobs)
    violations = [*violation_rules(factory, cluster, broken), *bounded]
    tests = (*deep_proofs, *proofs, violation_test(name, factory, cluster, broken), *bounds)
    if is_shard:
        # One node at a time; whether all are silent is seen by the server above, which reads how many answer.
        answering = f"sum by (cluster, job) (up{{job!={quote(capacity.ITSELF)}}})"
        counts = [Record(naming.TARGETS_UP, answering, {}, cluster.origin), *told_to_shard(cluster, EXPORTERS)]
        silence = silence_test(name, cluster, exporters, downs, {})
        rules: tuple[Record | Alert, ...] = (*counts, *downs.values(), *deep, *missing, *violations)
        return RuleFile(name, (RuleGroup(name, rules, (silence, *tests)),), per_node=True)
    of_cluster = f"cluster={quote(cluster.name)}"
    blind = {one.job: all_down(factory, one, f'up{{{of_cluster}, job="{one.job}"}}') for one in exporters}
    everywhere = {one.job: one.signal for one in exporters if one.job in EXPORTERS}
    if factory.deep and cluster.on_pods:
        everywhere[DEEP_JOB] = deep_signal(factory)
    untold, stories = undiscovered(factory, cluster, everywhere)
    silent = (alert for one in exporters for alert in (downs[one.job], blind[one.job]))
    rules = (*silent, *deep, *untold, *missing, *violations)
    return RuleFile(
        name, (RuleGroup(name, rules, (silence_test(name, cluster, exporters, downs, blind), *stories, *tests)),)
    )

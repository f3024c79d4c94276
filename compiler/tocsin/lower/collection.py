"""Collection itself: no data is no good news. One file a cluster, since `absent` is true wherever a cluster is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.catalog import DEEP_JOB
from tocsin.lower.alerts import signal_alert
from tocsin.lower.missing import missing_signals
from tocsin.lower.proofs import fires, proof, series, shared, silent
from tocsin.lower.undiscovered import undiscovered
from tocsin.lower.violations import counted, violation_test, watched
from tocsin.plan import Record, RuleFile, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.factory import Cluster, Factory, Signal
    from tocsin.plan import Alert, RuleTest

_NODE = naming.by(naming.NODE)

# Which signal each exporter stands for when it is silent, and how loudly it is told that none of them answers.
EXPORTER_SIGNALS = {"dcgm": ("gpu_temp", "page"), "node": ("fabric_link", "ticket")}


def collection(factory: Factory, cluster: Cluster) -> RuleFile:
    """Exporters that are down, all of them or one, and mandatory signals that are missing where boards report."""
    name = f"collection-{cluster.name}"
    down = {job: _down(factory, job, factory.signals[id_]) for job, (id_, _) in EXPORTER_SIGNALS.items()}
    broken = watched(factory, cluster, _signals(factory, cluster))
    violations: tuple[Record | Alert, ...] = (
        counted(factory, cluster),
        *(alert for two in broken.values() for alert in two),
    )
    deep, deep_proofs = _deep_down(factory, cluster)
    if (capacity.shards(factory, cluster) or 1) > 1:
        # One node at a time; whether all are silent is seen by the server above, which reads how many answer.
        answers = Record(naming.TARGETS_UP, "sum by (cluster, job) (up)", {}, cluster.origin)
        missing, proofs = missing_signals(factory, cluster, EXPORTER_SIGNALS)
        tests = (
            _exporter_test(name, cluster, down, {}),
            *deep_proofs,
            *proofs,
            violation_test(factory, cluster, broken),
        )
        rules: tuple[Record | Alert, ...] = (answers, *down.values(), *deep, *missing, *violations)
        return RuleFile(name, (RuleGroup(name, rules, tests),), per_node=True)
    blind = {job: all_down(factory, job, f'up{{cluster={quote(cluster.name)}, job="{job}"}}') for job in down}
    exporters = (alert for job in EXPORTER_SIGNALS for alert in (down[job], blind[job]))
    untold, stories = undiscovered(
        factory, cluster, {job: factory.signals[id_] for job, (id_, _) in EXPORTER_SIGNALS.items()}
    )
    missing, proofs = missing_signals(factory, cluster, (*EXPORTER_SIGNALS, *(job.name for job in cluster.jobs)))
    tests = (
        _exporter_test(name, cluster, down, blind),
        *deep_proofs,
        *stories,
        *proofs,
        violation_test(factory, cluster, broken),
    )
    return RuleFile(name, (RuleGroup(name, (*exporters, *deep, *untold, *missing, *violations), tests),))


def _signals(factory: Factory, cluster: Cluster) -> dict[str, Signal]:
    """The signal that stands for each job; an application's is the first one that it shows."""
    signals = {job: factory.signals[id_] for job, (id_, _) in EXPORTER_SIGNALS.items()}
    applications = {job.name for job in cluster.jobs}
    for signal in factory.signals.values():
        for metric in signal.metrics:
            if metric.exporter in applications:
                signals.setdefault(metric.exporter, signal)
    return signals


def _down(factory: Factory, job: str, signal: Signal) -> Alert:
    return signal_alert(
        factory,
        f"{naming.titled(job)}ExporterDown",
        signal,
        "ticket",
        # A share of time: an exporter that answers every other scrape is no better than one that answers none.
        expr=f'max by ({_NODE}, job) (avg_over_time(up{{job="{job}"}}[5m])) < 0.75',
        hold=Duration.of(minutes=5),
        summary=f"The {job} exporter of {{{{ $labels.node }}}} does not answer",
        description=f"The {job} exporter of {{{{ $labels.node }}}} fails more than a quarter of all scrapes: faults of "
        "what it measures may be invisible until it answers again.",
    )


def _deep_down(factory: Factory, cluster: Cluster) -> tuple[list[Alert], list[RuleTest]]:
    """The exporter of the deep signals is silent under a job; where none runs it is no target, and nothing is told."""
    if factory.deep is None:
        return [], []
    signals = (factory.signals[id_] for id_ in sorted(factory.deep.signals))
    alert = _down(factory, DEEP_JOB, min(signals, key=lambda signal: signal.layer != "silicon"))
    stories = {"dies": "1x9 0x20 stale", "idles": "_x60", "works": "1x9 stale _x10 1x30"}
    places = {story: {"cluster": cluster.name, "node": story, "job": DEEP_JOB} for story in stories}
    inputs = [series("up", {**place, "instance": "a"}, stories[story]) for story, place in places.items()]
    checks = [silent(alert, 15), fires(alert, 16, places["dies"]), fires(alert, 30, places["dies"]), silent(alert, 40)]
    return [alert], [proof(alert, "dies under a job, which then ends", inputs, *checks)]


def all_down(factory: Factory, job: str, targets: str) -> Alert:
    """No target of an exporter answers; `targets` selects the series that say which do."""
    signal, severity = EXPORTER_SIGNALS[job]
    return signal_alert(
        factory,
        f"{naming.titled(job)}ExportersAllDown",
        factory.signals[signal],
        severity,
        expr=f"sum by (cluster, job) ({targets}) == 0\nor absent({targets})",
        hold=Duration.of(minutes=5),
        summary=f"No {job} exporter of {{{{ $labels.cluster }}}} answers",
        description=f"Prometheus of {{{{ $labels.cluster }}}} reaches no target of the job {job}, or has none: nothing "
        "that they measure is known.",
        where=("cluster",),
    )


def _exporter_test(group: str, cluster: Cluster, down: Mapping[str, Alert], blind: Mapping[str, Alert]) -> RuleTest:
    """One exporter dies, others fail now and then; at minute 30 all die, at minute 50 no target is left."""
    inputs, checks = [], []
    stories = {
        "dies": "1x9 0x39 stale",
        "stammers": "1x9" + " 0 1" * 10 + " 0x19 stale",
        "misses": "1x9 0 1x18 0x19 stale",
    }
    for job in EXPORTER_SIGNALS:
        places = {story: {"cluster": cluster.name, "node": story, "job": job} for story in stories}
        inputs += [series("up", {**place, "instance": "a"}, stories[story]) for story, place in places.items()]
        everywhere = {"cluster": cluster.name, "job": job}
        checks += [
            silent(down[job], 15),
            fires(down[job], 16, places["dies"]),
            fires(down[job], 29, places["dies"], places["stammers"]),
            fires(down[job], 40, *places.values()),
        ]
        if job in blind:
            checks += [silent(blind[job], minute) for minute in (29, 34)]
            checks += [fires(blind[job], minute, everywhere) for minute in (35, 49, 51, 60)]
    story = "one exporter dies, then all, then no target is left"
    return shared(group, story, down["dcgm"].origin, inputs, *checks)

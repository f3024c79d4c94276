"""Collection itself: no data is no good news. One file a cluster, since `absent` is true wherever a cluster is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.presence import TEMP
from tocsin.lower.proofs import fires, series, shared, silent
from tocsin.plan import RuleFile, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.factory import Cluster, Factory, Signal
    from tocsin.plan import Alert, RuleTest

_NODE, _GPU = naming.by(naming.NODE), naming.by(naming.GPU)

# Which signal each exporter stands for when it is silent, and how loudly it is told that none of them answers.
EXPORTER_SIGNALS = {"dcgm": ("gpu_temp", "page"), "node": ("fabric_link", "ticket")}


def collection(factory: Factory, cluster: Cluster) -> RuleFile:
    """Exporters that are down, all of them or one, and mandatory signals that are missing where boards report."""
    name = f"collection-{cluster.name}"
    down = {job: _down(factory, job, factory.signals[id_]) for job, (id_, _) in EXPORTER_SIGNALS.items()}
    blind = {
        job: _all_down(factory, cluster, job, factory.signals[id_], severity)
        for job, (id_, severity) in EXPORTER_SIGNALS.items()
    }
    metrics = {
        signal.id: [metric.name for metric in signal.metrics if metric.exporter == "dcgm"]
        for signal in factory.signals.values()
        if signal.mandatory
    }
    missing = {id_: _missing(factory, factory.signals[id_], names) for id_, names in metrics.items() if names}
    tests = (_exporter_test(name, cluster, down, blind), _signal_test(name, cluster, missing, metrics))
    exporters = (alert for job in EXPORTER_SIGNALS for alert in (down[job], blind[job]))
    return RuleFile(name, (RuleGroup(name, (*exporters, *missing.values()), tests),))


def _title(text: str) -> str:
    return "".join(word.title() for word in text.replace("-", "_").split("_"))


def _down(factory: Factory, job: str, signal: Signal) -> Alert:
    return signal_alert(
        factory,
        f"{_title(job)}ExporterDown",
        signal,
        "ticket",
        # A share of time: an exporter that answers every other scrape is no better than one that answers none.
        expr=f'max by ({_NODE}, job) (avg_over_time(up{{job="{job}"}}[5m])) < 0.75',
        hold=Duration.of(minutes=5),
        summary=f"The {job} exporter of {{{{ $labels.node }}}} does not answer",
        description=f"The {job} exporter of {{{{ $labels.node }}}} fails more than a quarter of all scrapes: faults of "
        "what it measures may be invisible until it answers again.",
    )


def _all_down(factory: Factory, cluster: Cluster, job: str, signal: Signal, severity: str) -> Alert:
    targets = f'up{{cluster={quote(cluster.name)}, job="{job}"}}'
    return signal_alert(
        factory,
        f"{_title(job)}ExportersAllDown",
        signal,
        severity,
        expr=f"sum by (cluster, job) ({targets}) == 0\nor absent({targets})",
        hold=Duration.of(minutes=5),
        summary=f"No {job} exporter of {{{{ $labels.cluster }}}} answers",
        description=f"Prometheus of {{{{ $labels.cluster }}}} reaches no target of the job {job}, or has none: nothing "
        "that they measure is known.",
        where=("cluster",),
    )


def _missing(factory: Factory, signal: Signal, metrics: list[str]) -> Alert:
    measured = " and ".join(f"group by ({_GPU}) ({metric})" for metric in metrics)
    return signal_alert(
        factory,
        f"Signal{_title(signal.id)}Missing",
        signal,
        "ticket",
        # Only boards that report at all: a node without any has alerts of its own.
        expr=f"count by ({_NODE}) (\n  group by ({_GPU}) ({TEMP})\n  unless ({measured})\n)",
        hold=Duration.of(minutes=15),
        summary=f"The mandatory signal {signal.id} is missing on {{{{ $labels.node }}}}",
        description=f"GPUs of {{{{ $labels.node }}}} that report without {signal.id}: {{{{ $value }}}}. Compare the "
        "exporter's counters file with the generated one, and look for its profiling module.",
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
            *(silent(blind[job], minute) for minute in (29, 34)),
            *(fires(blind[job], minute, everywhere) for minute in (35, 49, 51, 60)),
        ]
    story = "one exporter dies, then all, then no target is left"
    return shared(group, story, down["dcgm"].origin, inputs, *checks)


def _signal_test(
    group: str, cluster: Cluster, missing: Mapping[str, Alert], metrics: Mapping[str, list[str]]
) -> RuleTest:
    """For each metric a node on which one of two boards stops to report it; on another node one does for a while."""
    names = [name for id_ in missing for name in metrics[id_]]
    inputs = []
    for lost in (*names, "none"):
        for board in ("GPU-0", "GPU-1"):
            gpu = {"cluster": cluster.name, "node": f"without-{lost}", "gpu_uuid": board, "job": "dcgm"}
            values = {name: "0x9 stale" if name == lost and board == "GPU-0" else "0x30" for name in names}
            values |= dict.fromkeys(names, "0x9 stale _x12 0x30") if lost == "none" else {}
            inputs += [series(name, gpu, value) for name, value in {TEMP: "60x30", **values}.items()]
    checks = []
    for id_, alert in missing.items():
        nodes = [{"cluster": cluster.name, "node": f"without-{name}"} for name in metrics[id_]]
        checks += [silent(alert, 24), fires(alert, 25, *nodes, value=1)]
    origin = next(iter(missing.values())).origin
    return shared(group, "each metric ends on one board of a node", origin, inputs, *checks)

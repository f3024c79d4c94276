"""Exporters that do not answer: one of them, or all of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.catalog import DEEP_JOB
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import STRANGER, fires, proof, series, shared, silent
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, Exporter
    from tocsin.factory.signals import Signal
    from tocsin.plan.rules import Alert, RuleTest


class Watched(NamedTuple):
    """An exporter whose silence is told: by the labels of one of its targets, to the owner of what it stands for."""

    job: str
    signal: Signal
    severity: str
    where: tuple[str, ...]

    @property
    def on_nodes(self) -> bool:
        """Whether it stands on the nodes."""
        return "node" in self.where


def watched(factory: Factory, cluster: Cluster) -> list[Watched]:
    """The exporters of a cluster."""
    return [_watched(factory, exporter) for exporter in cluster.exporters]


def _watched(factory: Factory, exporter: Exporter) -> Watched:
    kind = exporter.kind
    # What only the spec maps stands for the first signal that it is mapped to; `check` sees to it that there is one.
    own = (signal for signal in factory.signals.values() if any(one.exporter == kind.job for one in signal.metrics))
    signal = factory.signals[kind.signal] if kind.signal else next(own)
    return Watched(kind.job, signal, kind.blind, naming.NODE if kind.stands == "node" else ("cluster", "instance"))


def shown(one: Watched) -> str:
    """A series that an exporter shows of what it stands for."""
    return next(metric.series[0] for metric in one.signal.metrics if metric.exporter == one.job)


def down(factory: Factory, one: Watched) -> Alert:
    """A target of an exporter does not answer."""
    place = f"{{{{ $labels.{one.where[-1]} }}}}"
    return signal_alert(
        factory,
        f"{naming.titled(one.job)}ExporterDown",
        one.signal,
        "ticket",
        # A share of time: an exporter that answers every other scrape is no better than one that answers none.
        expr=f'max by ({naming.by(one.where)}, job) (avg_over_time(up{{job="{one.job}"}}[5m])) < 0.75',
        hold=Duration.of(minutes=5),
        summary=f"The {one.job} exporter of {place} does not answer",
        description=f"The {one.job} exporter of {place} fails more than a quarter of all scrapes: faults of what it "
        "measures may be invisible until it answers again.",
        where=tuple(label for label in one.where if label in naming.NODE),
    )


def all_down(factory: Factory, one: Watched, targets: str) -> Alert:
    """No target of an exporter answers; `targets` selects the series that say which do.

    What stands beside the nodes may be pushed instead of scraped, as by OTLP. It has no target then, and is no silence.
    """
    pushed = "" if one.on_nodes else f"\nunless on (cluster, job) {shown(one)}{{{targets.partition('{')[2]}"
    return signal_alert(
        factory,
        f"{naming.titled(one.job)}ExportersAllDown",
        one.signal,
        one.severity,
        expr=f"sum by (cluster, job) ({targets}) == 0\nor absent({targets}){pushed}",
        hold=Duration.of(minutes=5),
        summary=f"No {one.job} exporter of {{{{ $labels.cluster }}}} answers",
        description=f"Prometheus of {{{{ $labels.cluster }}}} reaches no target of the job {one.job}, or has none: "
        "nothing that they measure is known.",
        where=("cluster",),
    )


def deep_down(factory: Factory, cluster: Cluster) -> tuple[list[Alert], list[RuleTest]]:
    """The exporter of the deep signals is silent under a job; where none runs it is no target, and nothing is told."""
    if factory.deep is None:
        return [], []
    alert = down(factory, Watched(DEEP_JOB, deep_signal(factory), "ticket", naming.NODE))
    stories = {"dies": "1x9 0x20 stale", "idles": "_x60", "works": "1x9 stale _x10 1x30"}
    places = {story: {"cluster": cluster.name, "node": story, "job": DEEP_JOB} for story in stories}
    inputs = [series("up", {**place, "instance": "a"}, stories[story]) for story, place in places.items()]
    other = {"cluster": cluster.name, "node": STRANGER, "job": STRANGER, "instance": "a"}
    inputs.append(series("up", other, "0x60"))
    checks = [silent(alert, 15), fires(alert, 16, places["dies"]), fires(alert, 30, places["dies"]), silent(alert, 40)]
    return [alert], [proof(alert, "dies under a job, which then ends", inputs, *checks)]


def deep_signal(factory: Factory) -> Signal:
    """What the exporter of the deep signals stands for: the first of them, of the silicon layer if there is one."""
    signals = (signal for signal in factory.signals.values() if any(m.exporter == DEEP_JOB for m in signal.metrics))
    return min(signals, key=lambda signal: (signal.layer != "silicon", signal.id))


def silence_test(
    group: str, cluster: Cluster, exporters: Sequence[Watched], downs: Mapping[str, Alert], blind: Mapping[str, Alert]
) -> RuleTest:
    """One exporter dies, others fail now and then; at minute 30 all die, at minute 50 no target is left."""
    inputs, checks = [], []
    stories = {
        "dies": "1x9 0x39 stale",
        "stammers": "1x9" + " 0 1" * 10 + " 0x19 stale",
        "misses": "1x9 0 1x18 0x19 stale",
    }
    for one in exporters:
        places = {story: {"cluster": cluster.name, one.where[-1]: story, "job": one.job} for story in stories}
        inputs += [series("up", {"instance": "a", **place}, stories[story]) for story, place in places.items()]
        everywhere = {"cluster": cluster.name, "job": one.job}
        checks += [
            silent(downs[one.job], 15),
            fires(downs[one.job], 16, places["dies"]),
            fires(downs[one.job], 29, places["dies"], places["stammers"]),
            fires(downs[one.job], 40, *places.values()),
        ]
        if one.job in blind:
            checks += [silent(blind[one.job], minute) for minute in (29, 34)]
            checks += [fires(blind[one.job], minute, everywhere) for minute in (35, 49, 51, 60)]
            if not one.on_nodes:  # at minute 60 it is pushed instead
                inputs.append(series(shown(one), {"instance": "a", **everywhere}, "_x61 1x9"))
                checks.append(silent(blind[one.job], 65))
    story = "one exporter dies, then all, then no target is left"
    return shared(group, story, next(iter(downs.values())).origin, inputs, *checks)

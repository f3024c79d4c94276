"""Collection itself: no data is no good news. One file a cluster, since `absent` is true wherever a cluster is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.missing import missing_signals
from tocsin.lower.proofs import fires, series, shared, silent
from tocsin.plan import RuleFile, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.factory import Cluster, Exporter, Factory, Signal
    from tocsin.plan import Alert, RuleTest


class _Watched(NamedTuple):
    """An exporter whose silence is told: by the labels of one of its targets, to the owner of what it stands for."""

    job: str
    signal: Signal
    severity: str
    where: tuple[str, ...]


def collection(factory: Factory, cluster: Cluster) -> RuleFile:
    """Exporters that are down, all of them or one, and mandatory signals that are missing where boards report."""
    name = f"collection-{cluster.name}"
    watched = [_watched(factory, exporter) for exporter in cluster.exporters]
    pairs = [(_down(factory, one), _all_down(factory, cluster, one)) for one in watched]
    missing, proofs = missing_signals(factory, cluster)
    tests = (_exporter_test(name, cluster, watched, pairs), *proofs)
    return RuleFile(name, (RuleGroup(name, (*(alert for pair in pairs for alert in pair), *missing), tests),))


def _watched(factory: Factory, exporter: Exporter) -> _Watched:
    kind = exporter.kind
    # What only the spec maps stands for the first signal that it is mapped to; `check` sees to it that there is one.
    own = (signal for signal in factory.signals.values() if any(one.exporter == kind.job for one in signal.metrics))
    signal = factory.signals[kind.signal] if kind.signal else next(own)
    return _Watched(kind.job, signal, kind.blind, naming.NODE if kind.stands == "node" else ("cluster", "instance"))


def _down(factory: Factory, one: _Watched) -> Alert:
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


def _all_down(factory: Factory, cluster: Cluster, one: _Watched) -> Alert:
    targets = f'up{{cluster={quote(cluster.name)}, job="{one.job}"}}'
    return signal_alert(
        factory,
        f"{naming.titled(one.job)}ExportersAllDown",
        one.signal,
        one.severity,
        expr=f"sum by (cluster, job) ({targets}) == 0\nor absent({targets})",
        hold=Duration.of(minutes=5),
        summary=f"No {one.job} exporter of {{{{ $labels.cluster }}}} answers",
        description=f"Prometheus of {{{{ $labels.cluster }}}} reaches no target of the job {one.job}, or has none: "
        "nothing that they measure is known.",
        where=("cluster",),
    )


def _exporter_test(
    group: str, cluster: Cluster, watched: Sequence[_Watched], pairs: Sequence[tuple[Alert, Alert]]
) -> RuleTest:
    """One exporter dies, others fail now and then; at minute 30 all die, at minute 50 no target is left."""
    inputs, checks = [], []
    stories = {
        "dies": "1x9 0x39 stale",
        "stammers": "1x9" + " 0 1" * 10 + " 0x19 stale",
        "misses": "1x9 0 1x18 0x19 stale",
    }
    for one, (down, blind) in zip(watched, pairs, strict=True):
        places = {story: {"cluster": cluster.name, one.where[-1]: story, "job": one.job} for story in stories}
        inputs += [series("up", {"instance": "a", **place}, stories[story]) for story, place in places.items()]
        everywhere = {"cluster": cluster.name, "job": one.job}
        checks += [
            silent(down, 15),
            fires(down, 16, places["dies"]),
            fires(down, 29, places["dies"], places["stammers"]),
            fires(down, 40, *places.values()),
            *(silent(blind, minute) for minute in (29, 34)),
            *(fires(blind, minute, everywhere) for minute in (35, 49, 51, 60)),
        ]
    story = "one exporter dies, then all, then no target is left"
    return shared(group, story, pairs[0][0].origin, inputs, *checks)

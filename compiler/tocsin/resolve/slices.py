"""Indicators that count slices of time: what they watch, and how far a slice looks back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import burn
from tocsin.catalog import signal_kinds
from tocsin.diagnostics import near
from tocsin.factory.clusters import paces
from tocsin.indicators import Composite, Part, Slices, Slowdown, TimeSlice, Utilisation
from tocsin.promql import Selector
from tocsin.resolve.signals import tell_unknown
from tocsin.units import NO_TIME, Duration, percent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.catalog.kinds import Metric
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.signals import Signal
    from tocsin.factory.slos import Slo
    from tocsin.spec import slos as written

    Written = written.TimeSlice | written.Throughput | written.Slowdown

MINUTE = Duration.of(minutes=1)


class Around(NamedTuple):
    """What surrounds an indicator: its place, the factory's signals, series and clusters, and the SLO's unit window.

    `select` reads the selector of a key; `every` is how often rules are evaluated.
    """

    document: Document
    path: Path
    select: Callable[[str, str | None], Selector | None]
    signals: dict[str, Signal]
    series: dict[str, Metric]
    clusters: dict[str, Cluster]
    unit: Duration
    every: Duration


def resolve_slices(one: Written, around: Around, log: Log) -> TimeSlice | Slowdown | None:
    """The indicator; None where what it watches is not known, which is told."""
    key, counter = _counter(one, around, log)
    expected, grace = None, NO_TIME
    waits = getattr(one, "while_", None)
    if waits is not None:
        expected, grace = _expected(waits, around, log), one.grace  # type: ignore[union-attr]
    if counter is None or (waits is not None and expected is None):
        return None
    slices = Slices(around.every, _look(counter, around))
    at_most = getattr(one, "at_most", None)
    if at_most is not None and expected is not None:
        return Slowdown(key, counter, at_most, one.baseline, expected, grace, slices)  # type: ignore[union-attr]
    return TimeSlice(key, counter, one.at_least, expected, grace, slices)  # type: ignore[union-attr]


def _counter(one: Written, around: Around, log: Log) -> tuple[str, Selector | None]:
    places, path = around.document.places, around.path
    if (one.signal is None) == (one.counter is None):
        if not around.document.is_broken(*path):
            hint = "name a signal, `signal: train_steps`, or select a counter, `counter: 'train_steps_total{...}'`"
            log.error("SLO130", f"`{path[-1]}` has one of `signal` and `counter`", places.key(*path), hint)
        return "", None
    if one.signal is None:
        return "counter", around.select("counter", one.counter)
    metric = _of_signal(one.signal, "signal", around, log)
    if metric is not None and metric.type != "counter":
        what = f"the signal '{one.signal}' is a {metric.type}, {metric.name}: a rate needs a counter"
        log.error("SLO131", what, places.value(*path, "signal"), "name a signal that counts, or select a `counter`")
        metric = None
    return "signal", metric and _all_of(metric, one.signal)


def _expected(text: str, around: Around, log: Log) -> Selector | None:
    """The gauge of `while`: a signal's where a signal is called so, else what is selected."""
    if text in around.signals:
        metric = _of_signal(text, "while", around, log)
        return metric and _all_of(metric, text)
    return around.select("while", text)


def _all_of(metric: Metric, text: str) -> Selector:
    return Selector(0, len(text), metric.name, ())


def _of_signal(id_: str, key: str, around: Around, log: Log) -> Metric | None:
    """The one metric of a signal."""
    document, place = around.document, around.document.places.value(*around.path, key)
    signal = around.signals.get(id_)
    if signal is None:
        if not document.is_broken("signals", "define", id_) and not document.is_broken("signals"):
            tell_unknown(id_, {*around.signals, *signal_kinds()}, place, log)
        return None
    if len(signal.metrics) != 1:
        names = ", ".join(metric.name for metric in signal.metrics) or "none"
        what = f"the signal '{id_}' has {len(signal.metrics)} metrics: {names}"
        log.error("SLO131", what, place, "select one of them" if signal.metrics else "name a signal that has one")
        return None
    return signal.metrics[0]


def resolve_utilisation(one: written.Utilisation, around: Around, log: Log) -> Utilisation | None:
    """The indicator; None where the gauge is not known or is no share, which is told. A board idles within a unit."""
    gauge = around.select("gauge", one.gauge)
    if gauge is None:
        return None
    metric = around.series[gauge.metric or ""]
    whole = {"percent": 100, "ratio": 1}.get(metric.reading) or {"percent": 100, "ratio": 1}.get(metric.unit)
    if whole is None:
        what = f"{metric.name} is in {metric.unit}: of what {percent(one.at_least)} would be is not known"
        hint = "select a gauge in percent, or a ratio"
        log.error("SLO137", what, around.document.places.value(*around.path, "gauge"), hint)
        return None
    return Utilisation(gauge, one.at_least * whole, Slices(around.every, around.unit))


def resolve_composite(
    one: written.Composite, path: Path, document: Document, slos: dict[str, Slo], log: Log
) -> Composite | None:
    """The indicator; None where one of its parts is not known, which is told."""
    parts, known = [], document.spec.slos
    for index, id_ in enumerate(one.of):
        place = document.places.value(*path, "of", index)
        if id_ not in known:
            if not document.is_broken("slos", id_) and not document.is_broken("slos"):
                close = near(id_, {*known} - {str(path[1])})
                hint = f"did you mean '{close}'?" if close else "name others of `slos`"
                log.error("SLO139", f"no SLO is called '{id_}'", place, hint)
        elif known[id_].composite is not None:
            what = f"'{id_}' is a composite itself" if id_ != path[1] else f"'{id_}' would be a part of itself"
            log.error("SLO140", what, place, "name what it is made of")
        elif one.of.index(id_) != index:
            log.error("SLO140", f"'{id_}' is named twice", place, "remove one")
        elif id_ in slos:
            parts.append(slos[id_])
    if len(one.of) == 1 and parts:
        log.error("SLO140", "a composite of one SLO is that SLO", document.places.value(*path, "of"), "name another")
    if len(parts) < max(len(one.of), 2):
        return None
    unit = max(part.windows.unit for part in parts)
    slices = Slices(document.spec.collection.intervals.default, unit)
    made = (Part(part.id, part.by, part.windows.unit, part.budget) for part in parts)
    return Composite(tuple(made), parts[0].indicator.total, slices)


def _look(counter: Selector, around: Around) -> Duration:
    """A minute, or the whole minutes that hold scrapes enough for a rate, but no more than the unit."""
    metric = around.series[counter.metric or ""]
    pace = max(paces(around.clusters.values(), metric.exporter, around.every), default=around.every)
    minutes = -(-max(burn.SCRAPES * pace, around.every) // MINUTE)
    return min(Duration(minutes * MINUTE), around.unit)

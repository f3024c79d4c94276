"""Indicators that count slices of time: what they watch, and how far a slice looks back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import burn
from tocsin.catalog import signal_kinds
from tocsin.diagnostics import near
from tocsin.factory import paces
from tocsin.indicators import Slices, Slowdown, TimeSlice
from tocsin.promql import Selector
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.catalog import Metric
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Cluster, Signal
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
    expected, grace = None, Duration(0)
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
            close = near(id_, {*around.signals, *signal_kinds()})
            hint = f"did you mean '{close}'?" if close else "define it under `signals.define`"
            log.error("SIG101", f"no signal is called '{id_}'", place, hint)
        return None
    if len(signal.metrics) != 1:
        names = ", ".join(metric.name for metric in signal.metrics) or "none"
        what = f"the signal '{id_}' has {len(signal.metrics)} metrics: {names}"
        log.error("SLO131", what, place, "select one of them" if signal.metrics else "name a signal that has one")
        return None
    return signal.metrics[0]


def _look(counter: Selector, around: Around) -> Duration:
    """A minute, or the whole minutes that hold scrapes enough for a rate, but no more than the unit."""
    metric = around.series[counter.metric or ""]
    pace = max(paces(around.clusters.values(), metric.exporter, around.every), default=around.every)
    minutes = -(-max(burn.SCRAPES * pace, around.every) // MINUTE)
    return min(Duration(minutes * MINUTE), around.unit)

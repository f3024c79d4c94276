"""Slices of time: when they count is said by a gauge, how many come by the clock, and a past is long enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.check.queries import metric_of
from tocsin.indicators import BASELINE_UNITS, GAUGES, Slowdown, ends
from tocsin.spec.slos import SLICED
from tocsin.units import Duration, percent

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory, Slo


def check_slices(factory: Factory, document: Document, log: Log) -> None:
    """What is said of every SLO that counts slices has an effect, and means what it seems to mean."""
    for slo in factory.slos.values():
        if slo.kind in SLICED:
            _check_gauges(factory, slo, document, log)
            _check_idle_keys(slo, document, log)
            if isinstance(slo.indicator, Slowdown):
                _check_past(factory, slo, slo.indicator, document, log)


def _check_gauges(factory: Factory, slo: Slo, document: Document, log: Log) -> None:
    for key, selector in slo.indicator.selectors.items():
        metric = metric_of(factory, selector)
        if key in GAUGES and metric.type != "gauge":
            place = document.places.value("slos", slo.id, slo.kind, key)
            what = f"{metric.name} is a {metric.type}: its value says nothing about now"
            log.error("SLO132", what, place, f"`{key}` reads a gauge as it is; find the one beside it")


def _check_idle_keys(slo: Slo, document: Document, log: Log) -> None:
    """Slices come by the clock: how many are expected is no question, and a `while` answers when."""
    places = document.places
    if slo.expected is not None:
        what = f"`expected` means nothing to `{slo.kind}`: a slice of time comes with every evaluation"
        log.error("SLO133", what, places.key("slos", slo.id, "traffic", "expected"), "leave it out")
    if ends(slo.indicator) and places.node("slos", slo.id, "no_traffic") is not None:
        what = (
            f"`no_traffic` means nothing here: `while` says when `{slo.kind}` counts, and what is not seen then is bad"
        )
        log.error("SLO133", what, places.key("slos", slo.id, "no_traffic"), "leave it out")


def _check_past(factory: Factory, slo: Slo, one: Slowdown, document: Document, log: Log) -> None:
    path = ("slos", slo.id, slo.kind)
    if not 0 < one.at_most < 1:
        fault = "any pause is" if not one.at_most else "even a dead job is not"
        what = f"slower by {percent(one.at_most)}: {fault} too slow"
        log.error("SLO136", what, document.places.value(*path, "at_most"), "write one such as 20%, below 100%")
    least, most = Duration(2 * BASELINE_UNITS * slo.windows.unit), factory.retention.hot.keep
    if not least <= one.baseline <= most:
        fault = f"needs {least} at least" if one.baseline < least else f"is kept for {most} only"
        what = f"a past of {one.baseline} {fault}"
        hint = f"write {least} to {most}: half of it must hold {BASELINE_UNITS} windows of {slo.windows.unit}"
        log.error("SLO135", what, document.places.value(*path, "baseline"), hint)

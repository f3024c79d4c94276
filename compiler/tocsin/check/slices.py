"""Slices of time: when they count is said by a gauge, how many come by the clock, and a past is long enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.check.queries import metric_of
from tocsin.indicators import BASELINE_UNITS, GAUGES, SLICED, Composite, Slowdown, Utilisation, ends
from tocsin.ingest import labels_of
from tocsin.units import Duration, percent

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo


def check_slices(factory: Factory, document: Document, log: Log) -> None:
    """What is said of every SLO that counts slices has an effect, and means what it seems to mean."""
    for slo in factory.slos.values():
        if slo.kind in SLICED:
            _check_gauges(factory, slo, document, log)
            _check_idle_keys(slo, document, log)
            match slo.indicator:
                case Slowdown() as one:
                    _check_past(factory, slo, one, document, log)
                case Utilisation() as one:
                    _check_boards(factory, slo, one, document, log)
                case Composite() as one:
                    _check_parts(slo, one, document, log)


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
    if slo.idle == "bad" and slo.kind in ("utilisation", "composite"):
        what = f"`no_traffic: bad` means nothing to `{slo.kind}`: that it is not seen is told by another alert"
        log.error("SLO133", what, places.key("slos", slo.id, "no_traffic"), "leave it out")
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


def _check_boards(factory: Factory, slo: Slo, one: Utilisation, document: Document, log: Log) -> None:
    metric, place = metric_of(factory, one.gauge), document.places.value("slos", slo.id, slo.kind, "gauge")
    missing = [label for label in naming.GPU if label not in labels_of(metric)]
    if missing and not document.is_broken("signals", "define", metric.signal):
        what = f"{metric.name} has no label `{missing[0]}`: boards cannot be told apart"
        log.error("SLO138", what, place, f"select a gauge of boards, which has {', '.join(naming.GPU)}")


def _check_parts(slo: Slo, one: Composite, document: Document, log: Log) -> None:
    for index, label in enumerate(slo.by):
        missing = next((part.id for part in one.parts if label not in part.by), "")
        if missing:
            place = document.places.value("slos", slo.id, "by", index)
            hint = "a composite is told by labels that all of its parts are told by"
            log.error("SLO109", f"{missing} is not told by `{label}`", place, hint)

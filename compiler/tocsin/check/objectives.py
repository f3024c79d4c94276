"""SLOs: can each alert fire, and does none fire for nothing."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from tocsin import burn
from tocsin.diagnostics import Related
from tocsin.units import number, percent

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Factory
    from tocsin.source import Span
    from tocsin.spec.slos import Slo


def check_objectives(_factory: Factory, document: Document, log: Log) -> None:
    """Objective and period leave a budget, every window pair can fire, and traffic suffices for both.

    Looks at the SLOs as written: one whose selectors resolve to nothing is told all the rest as well.
    """
    places = document.places
    for id_, slo in document.spec.slos.items():
        path = ("slos", id_)
        if not 0 < slo.objective < 1:
            fault = "leaves no budget to alert on" if slo.objective else "promises nothing"
            what = f"an objective of {percent(slo.objective)} {fault}"
            log.error("SLO101", what, places.value(*path, "objective"), "write one such as 99.9%, below 100%")
        elif not burn.MIN_PERIOD <= slo.period <= burn.MAX_PERIOD:
            what = f"a period of {slo.period} is not supported by this version"
            hint = f"choose one from {burn.MIN_PERIOD} to {burn.MAX_PERIOD}; 28d always holds four weekends"
            log.error("SLO103", what, places.value(*path, "period"), hint)
        elif _can_fire(slo, path, document, log):
            _check_traffic(slo, path, document, log)


def _can_fire(slo: Slo, path: Path, document: Document, log: Log) -> bool:
    pair, budget = burn.PAIRS[0], 1 - slo.objective
    limit = burn.thresholds(slo.period, budget)[0]  # the highest: where this one can be passed, the others can
    if limit < 1:
        return True
    least = 1 - 1 / burn.factor(pair, slo.period)
    what = f"the {pair.long} alert can never fire: it would need {percent(limit)} of all events to be bad"
    hint = f"at {slo.period} the objective must be above {number(least * 100, 4)}%"
    log.error("SLO104", what, document.places.value(*path, "objective"), hint)
    return False


def _check_traffic(slo: Slo, path: Path, document: Document, log: Log) -> None:
    wanted, expected = slo.traffic.min_events, slo.traffic.expected
    written = "expected" if wanted is None else "min_events"

    def place() -> Span:
        return document.places.value(*path, "traffic", written)

    enough = burn.min_events(slo.period, 1 - slo.objective)
    if wanted is None:
        wanted = Fraction(enough)
    if wanted < enough:
        what = f"with {number(wanted)} events one single failure would page"
        log.error("SLO107", what, place(), f"write at least {enough}, or leave `min_events` out: that is its default")
    window = burn.PAIRS[0].long
    comes = None if expected is None else expected * window.seconds
    if comes is not None and comes < wanted:
        what = f"the {window} alert can never fire: {number(comes, 6)} events are expected in {window}"
        hint = f"write {enough} to {floor(comes)} as `min_events`, or correct `expected`"
        if comes < enough:
            hint = f"lower the objective or count more events: to judge this one, {enough} are needed in {window}"
        related = [Related(document.places.value(*path, "traffic", "expected"), "this much is expected")]
        log.error("SLO105", what, place(), hint, related if written == "min_events" else [])

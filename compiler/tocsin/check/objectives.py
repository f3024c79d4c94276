"""SLOs: can each alert fire, and does none fire for nothing."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from tocsin import burn
from tocsin.check.burns import check_alerts, check_factors, check_scrapes, pairs_of
from tocsin.diagnostics import Related
from tocsin.indicators import SLICED
from tocsin.units import number, percent

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Factory
    from tocsin.source import Span
    from tocsin.spec.slos import Slo


def check_objectives(factory: Factory, document: Document, log: Log) -> None:
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
        else:
            pairs = pairs_of(factory, slo)
            check_alerts(slo, pairs, path, document, log)
            if check_factors(slo, pairs, path, document, log):
                _check_traffic(slo, pairs, path, document, log)
            if id_ in factory.slos:
                check_scrapes(factory, factory.slos[id_], document, log)
        if slo.no_traffic == "bad" and slo.traffic.expected is None and not _counts_time(slo):
            what = "`no_traffic: bad` counts events that do not come, but how many should come is not said"
            log.error("SLO117", what, places.value(*path, "no_traffic"), "write `traffic: {expected: 20/s}` beside it")


def _counts_time(slo: Slo) -> bool:
    """Whether it is known when events should come: how often a gauge is scraped, and a slice of time comes anyway."""
    return slo.availability is not None or _is_sliced(slo)


def _is_sliced(slo: Slo) -> bool:
    return any(getattr(slo, kind) is not None for kind in SLICED)


def _check_traffic(slo: Slo, pairs: tuple[burn.Pair, ...], path: Path, document: Document, log: Log) -> None:
    wanted, expected = slo.traffic.min_events, slo.traffic.expected
    written = "expected" if wanted is None else "min_events"

    def place() -> Span:
        return document.places.value(*path, "traffic", written)

    enough = burn.min_events(pairs, 1 - slo.objective)
    if wanted is None:
        wanted = Fraction(enough)
    if wanted < enough:
        what = f"with {number(wanted)} events one single failure would page"
        default = "" if _is_sliced(slo) else ": that is its default"
        log.error("SLO107", what, place(), f"write at least {enough}, or leave `min_events` out{default}")
    window = pairs[0].long
    comes = None if expected is None else expected * window.seconds
    if comes is not None and comes < wanted:
        what = f"the {window} alert can never fire: {number(comes, 6)} events are expected in {window}"
        hint = f"write {enough} to {floor(comes)} as `min_events`, or correct `expected`"
        if comes < enough:
            hint = f"lower the objective or count more events: to judge this one, {enough} are needed in {window}"
        related = [Related(document.places.value(*path, "traffic", "expected"), "this much is expected")]
        log.error("SLO105", what, place(), hint, related if written == "min_events" else [])

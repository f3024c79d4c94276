"""Burn-rate alerts as they are written: windows that differ, factors that mean something, samples enough for a rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import burn
from tocsin.factory.clusters import paces
from tocsin.units import Duration, number, percent

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.source import Span
    from tocsin.spec import slos as written

    Pairs = tuple[burn.Pair, ...]


def check_alerts(slo: written.Slo, pairs: Pairs, path: Path, document: Document, log: Log) -> None:
    """What an SLO's `alerts` say fits together; a table for other periods is told as well."""
    alerts, places = slo.alerts, document.places
    where = (*path, "alerts")
    if document.is_broken(*where):
        return
    if alerts.windows is not None:
        for key in ("table", "severities"):
            if places.node(*where, key) is not None:
                what = f"`{key}` is about the windows of a table, but `windows` names others"
                log.error("SLO116", what, places.key(*where, key), "leave out one of the two")
        for index, window in enumerate(alerts.windows):
            _check_window(window, (*where, "windows", index), document, log)
        return
    longs = [pair.long for pair in pairs]
    for long in alerts.severities:
        if long not in longs:
            what = f"the table `{alerts.table}` has no long window of {long} for a period of {slo.period}"
            hint = f"it has {', '.join(map(str, longs))}"
            log.error("SLO116", what, places.key(*where, "severities"), hint)
    if alerts.table == "sloth" and slo.period not in burn.SLOTH_PERIODS:
        known = " and ".join(map(str, burn.SLOTH_PERIODS))
        what = f"Sloth has windows for {known} only, the period is {slo.period}"
        log.error("SLO116", what, places.value(*where, "table"), "leave `table` out, or write `windows`")


def _check_window(window: written.Window, path: Path, document: Document, log: Log) -> None:
    places = document.places
    if (window.factor is None) == (window.spent is None):
        hint = "write `factor: 14.4`, or `spent: 2%` of the period's budget"
        log.error("SLO113", "a window has one of `factor` and `spent`", places.value(*path), hint)
    if window.short is not None and window.short >= window.long:
        what = f"the short window, {window.short}, is not shorter than the long one, {window.long}"
        hint = f"write {Duration(window.long // burn.SHORT_OF)}, a twelfth of it, or leave `short` out"
        log.error("SLO113", what, places.value(*path, "short"), hint)


def pairs_of(factory: Factory, slo: written.Slo) -> Pairs:
    """The burn-rate alerts of an SLO as written."""
    return burn.chosen(slo.alerts, slo.period, factory.retention.hot.keep)


def check_factors(slo: written.Slo, pairs: Pairs, path: Path, document: Document, log: Log) -> bool:
    """Whether every alert can fire and none fires while the budget lasts; what is wrong is told."""
    budget, fine = 1 - slo.objective, True
    for pair in pairs if slo.alerts.windows is not None else ():
        if pair.factor < 1:
            what = (
                f"the {pair.long} alert would fire at {number(pair.factor, 4)} times the pace that the budget lasts for"
            )
            hint = "a factor below 1 alerts within budget: write 1 or more, or a shorter window"
            log.error("SLO114", what, _place(slo, pair, path, document), hint)
            fine = False
    pair = max(pairs, key=lambda one: one.factor)
    limit = pair.threshold(budget)
    if limit >= 1:
        least = 1 - 1 / pair.factor
        what = f"the {pair.long} alert can never fire: it would need {percent(limit)} of all events to be bad"
        hint = f"at {slo.period} the objective must be above {number(least * 100, 4)}%"
        hint += ", or `alerts.windows` have lower factors"
        log.error("SLO104", what, document.places.value(*path, "objective"), hint)
    return fine and limit < 1


def check_scrapes(factory: Factory, slo: Slo, document: Document, log: Log) -> None:
    """A window has samples enough for a rate at the pace at which the slowest cluster scrapes its events."""
    clusters = factory.clusters.values()
    found = [pace for name in _exporters(factory, slo) for pace in paces(clusters, name, factory.interval)]
    if not found:
        return
    pair, pace = min(slo.pairs, key=lambda one: one.short), max(found)
    if pair.short < burn.SCRAPES * pace:
        what = f"the short window of the {pair.long} alert, {pair.short}, has fewer than {burn.SCRAPES} scrapes"
        hint = f"its events are scraped every {pace}: "
        hint += f"write `alerts.windows` with `short: {Duration(burn.SCRAPES * pace)}` or longer, or a longer period"
        log.error("SLO115", what, _place_of(slo, pair, document), hint)


def _exporters(factory: Factory, slo: Slo) -> set[str]:
    names = {selector.metric or "" for selector in slo.indicator.selectors.values()}
    stems = {name.removesuffix("_bucket").removesuffix("_count").removesuffix("_sum") for name in names}
    return {factory.metrics[name].exporter for name in names | stems if name in factory.metrics}


def _place_of(slo: Slo, pair: burn.Pair, document: Document) -> Span:
    return _place(document.spec.slos[slo.id], pair, ("slos", slo.id), document)


def _place(slo: written.Slo, pair: burn.Pair, path: Path, document: Document) -> Span:
    for index, window in enumerate(slo.alerts.windows or ()):
        if window.long == pair.long:
            return document.places.value(*path, "alerts", "windows", index)
    return document.places.value(*path, "period")

"""A ratio: bad events among all, each counted by counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.examples import labels_for
from tocsin.indicators import Ratio, of_kind
from tocsin.lower.cast import Cast
from tocsin.lower.events import Events
from tocsin.lower.proofs import series
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from tocsin.factory import Factory, Slo

KNOWN = Duration.of(hours=1)  # for so long a service that has gone is one that should be there


class Texts(NamedTuple):
    """The texts of a ratio's cast: two selectors, example series of the events that it tells and of the rest, a place.

    The place are the labels of what is recorded of these series.
    """

    total: str
    told: str
    told_series: str
    rest_series: str
    place: str


class Form(NamedTuple):
    """Whether a ratio names the bad events, and whether those that it names are series of the total's metric."""

    tells_bad: bool
    in_total: bool


def form(slo: Slo) -> Form:
    """What of a ratio shapes its rules and their proof."""
    ratio = of_kind(slo.indicator, Ratio)
    return Form(ratio.bad is not None, ratio.told.metric == ratio.total.metric)


def cast(factory: Factory, slo: Slo) -> Cast:
    """Its selectors, and series that they select."""
    ratio = of_kind(slo.indicator, Ratio)
    labels = labels_for([ratio.total, ratio.told], None, slo.by, factory.labels) or {}
    others = labels
    if form(slo).in_total:
        others = labels_for([ratio.total], ratio.told, slo.by, factory.labels) or {}
    recorded = {**{label: labels[label] for label in slo.by}, "slo": slo.id}
    texts = Texts(
        ratio.total.render(),
        ratio.told.render(),
        series(ratio.told.metric or "", labels, "")[0],
        series(ratio.total.metric or "", others, "")[0],
        series("", recorded, "")[0],
    )
    return Cast(slo.id, texts)


def events(slo: Slo, cast: Cast) -> Events:
    """Its events, or, where none comes and that is bad, those that were expected."""
    counted = _counted(slo, Texts(*cast.texts))
    return _missed(slo, Texts(*cast.texts), counted) if slo.idle == "bad" and slo.expected is not None else counted


def _counted(slo: Slo, texts: Texts) -> Events:
    by, unit = naming.by(slo.by), slo.windows.unit

    def rate(selector: str, window: Duration) -> str:
        increase = f"rate({selector}[{window}])"
        if window == unit:
            increase = f"{_born(selector, texts.total, window)} or {increase}"
        return f"sum by ({by}) ({increase})"

    def total(window: Duration) -> str:
        return rate(texts.total, window)

    def told(window: Duration) -> str:
        # Where nothing of that kind happened there may be no series that says so: that is zero, not silence.
        return f"{rate(texts.told, window)}\nor 0 * sum by ({by}) (rate({texts.total}[{window}]))"

    def rest(window: Duration) -> str:
        # Never below zero by a scrape's jitter.
        return f"clamp_min({total(window)}\n- ({told(window)}), 0)"

    return Events(total, told if form(slo).tells_bad else rest)


def _born(one: str, all_: str, window: Duration) -> str:
    """The first value of a series, which no rate counts: a counter of errors often begins with its first error.

    Only of a target that was there before and whose other series still are: where a target is new, or all its series
    have other labels since, their values are those of a lifetime.
    """
    there = f"({all_} and {all_} offset {window})"
    return f"({one} unless {one} offset {window} and on (job, instance) {there}) / {number(window.seconds)}"


def _missed(slo: Slo, texts: Texts, counted: Events) -> Events:
    """Where no event is counted, those that were expected are bad ones."""
    known = f"count by ({naming.by(slo.by)}) (last_over_time({texts.total}[{KNOWN}]))"
    missed = f"{number(slo.expected or 0)} + 0 * {known}"

    def total(window: Duration) -> str:
        return f"({counted.total(window)}) > 0\nor {missed}"

    def errors(window: Duration) -> str:
        return f"(({counted.errors(window)}) and ({counted.total(window)}) > 0)\nor {missed}"

    return Events(total, errors)

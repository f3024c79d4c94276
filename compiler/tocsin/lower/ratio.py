"""A ratio: bad events among all, each counted by counters."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.examples import labels_beside, labels_for
from tocsin.indicators import Ratio, of_kind
from tocsin.lower.cast import Cast, strangers
from tocsin.lower.events import Events
from tocsin.lower.proofs import series
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo

ANOTHER, LATE = {"instance": "another"}, {"example": "late"}
KNOWN = Duration.of(hours=1)  # for so long a service that has gone is one that should be there


class Texts(NamedTuple):
    """The texts of a ratio's cast: two selectors, example series of the events that it tells and of the rest, a place.

    The place are the labels of what is recorded of these series; the new ones are of another target. The late one is
    of the total where that has a metric of its own, and else empty.
    """

    total: str
    told: str
    told_series: str
    rest_series: str
    place: str
    new_told_series: str
    new_rest_series: str
    late_series: str


OWN = len(Texts._fields)  # the texts of a cast behind these are series that are not asked for


class Form(NamedTuple):
    """Whether a ratio names the bad events, and whether those that it names are series of the total's metric.

    `strangers` is by how many matchers series are kept out.
    """

    tells_bad: bool
    in_total: bool
    strangers: int = 0


def form(slo: Slo) -> Form:
    """What of a ratio shapes its rules and their proof."""
    ratio = of_kind(slo.indicator, Ratio)
    in_total = ratio.told.metric == ratio.total.metric
    apart = len(ratio.total.matchers) + (0 if in_total else len(ratio.told.matchers))
    return Form(ratio.bad is not None, in_total, apart)


def cast(factory: Factory, slo: Slo) -> Cast:
    """Its selectors, and series that they select."""
    ratio, in_total, schema = of_kind(slo.indicator, Ratio), form(slo).in_total, factory.labels
    total, told = ratio.total, ratio.told
    labels = labels_for([total, told], None, slo.by, schema) or {}
    others = (labels_beside(total, told, slo.by, schema) or {}) if in_total else labels
    recorded = {**{label: labels[label] for label in slo.by}, "slo": slo.id}
    texts = Texts(
        total.render(),
        told.render(),
        series(told.metric or "", labels, "")[0],
        series(total.metric or "", others, "")[0],
        series("", recorded, "")[0],
        series(told.metric or "", {**labels, **ANOTHER}, "")[0],
        series(total.metric or "", {**others, **ANOTHER}, "")[0],
        "" if in_total else series(total.metric or "", {**others, **LATE}, "")[0],
    )
    if in_total:
        return Cast(slo.id, (*texts, *strangers([total, told], total.matchers, labels, schema)))
    apart = (
        strangers([one], one.matchers, labels_for([one], None, slo.by, schema) or {}, schema) for one in (total, told)
    )
    return Cast(slo.id, (*texts, *chain(*apart)))


def events(slo: Slo, cast: Cast) -> Events:
    """Its events, or, where none comes and that is bad, those that were expected."""
    return events_of(slo, Texts(*cast.texts[:OWN]))


def events_of(slo: Slo, texts: Texts, same: str = "") -> Events:
    """The events of a cast. `same` is how PromQL matches a series with itself of before, where that is not plain."""
    counted = _counted(slo, texts, same)
    return with_missed(slo, texts.total, counted)


def _counted(slo: Slo, texts: Texts, same: str) -> Events:
    by, unit = naming.by(slo.by), slo.windows.unit

    def rate(selector: str, window: Duration) -> str:
        increase = f"rate({selector}[{window}])"
        if window == unit:
            matched = same if selector == texts.told else ""
            increase = f"{born(selector, texts.total, window, matched)} or {increase}"
        return f"sum by ({by}) ({increase})"

    def total(window: Duration) -> str:
        return rate(texts.total, window)

    def told(window: Duration) -> str:
        # Where nothing of that kind happened there may be no series that says so: that is zero, not silence.
        return f"{rate(texts.told, window)}\nor 0 * sum by ({by}) ({texts.total})"

    def rest(window: Duration) -> str:
        # Never below zero by a scrape's jitter. Where nothing tells of good ones all are bad, also those that came
        # before the series ended.
        return f"clamp_min({total(window)}\n- {rate(texts.told, window)}, 0)\nor {total(window)}"

    return Events(total, told if form(slo).tells_bad else rest)


def born(one: str, all_: str, window: Duration, same: str = "") -> str:
    """The first value of a series, which no rate counts: a counter of errors often begins with its first error.

    Only of a target that was there before and whose other series still are: where a target is new, or all its series
    have other labels since, their values are those of a lifetime.
    """
    there = f"({all_} and {all_} offset {window})"
    return f"({one} unless {same}{one} offset {window} and on (job, instance) {there}) / {number(window.seconds)}"


def with_missed(slo: Slo, all_: str, counted: Events) -> Events:
    """Where no event is counted, and that is bad, those that were expected are bad ones."""
    if slo.idle != "bad" or slo.expected is None:
        return counted
    known = f"count by ({naming.by(slo.by)}) (last_over_time({all_}[{KNOWN}]))"
    missed = f"{number(slo.expected)} + 0 * {known}"

    def total(window: Duration) -> str:
        return f"({counted.total(window)}) > 0\nor {missed}"

    def errors(window: Duration) -> str:
        return f"(({counted.errors(window)}) and ({counted.total(window)}) > 0)\nor {missed}"

    return Events(total, errors)

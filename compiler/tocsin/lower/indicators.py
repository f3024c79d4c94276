"""What each indicator counts, as PromQL: all events and bad ones per second, over a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from tocsin.factory import Slo
    from tocsin.indicators import Ratio
    from tocsin.promql import Selector

KNOWN = Duration.of(hours=1)  # for so long a service that has gone is one that should be there


class Events(NamedTuple):
    """Expressions of the events per second over a window, all and the bad ones, by the labels of the SLO."""

    total: Callable[[Duration], str]
    errors: Callable[[Duration], str]


def events(slo: Slo) -> Events:
    """What an SLO's indicator counts."""
    counted = _of_ratio(slo, slo.indicator)
    if slo.idle == "bad" and slo.expected is not None:
        return _missed(slo, counted, slo.expected)
    return counted


def _of_ratio(slo: Slo, ratio: Ratio) -> Events:
    by, unit = naming.by(slo.by), slo.windows.unit

    def rate(selector: Selector, window: Duration) -> str:
        one = selector.render()
        increase = f"rate({one}[{window}])"
        if window == unit:
            increase = f"{_born(one, ratio.total.render(), window)} or {increase}"
        return f"sum by ({by}) ({increase})"

    def total(window: Duration) -> str:
        return rate(ratio.total, window)

    def told(window: Duration) -> str:
        # Where nothing of that kind happened there may be no series that says so: that is zero, not silence.
        return f"{rate(ratio.told, window)}\nor 0 * sum by ({by}) (rate({ratio.total.render()}[{window}]))"

    def rest(window: Duration) -> str:
        # Never below zero by a scrape's jitter.
        return f"clamp_min({total(window)}\n- ({told(window)}), 0)"

    return Events(total, told if ratio.bad else rest)


def _born(one: str, all_: str, window: Duration) -> str:
    """The first value of a series, which no rate counts: a counter of errors often begins with its first error.

    Only of a target that was there before and whose other series still are: where a target is new, or all its series
    have other labels since, their values are those of a lifetime.
    """
    there = f"({all_} and {all_} offset {window})"
    return f"({one} unless {one} offset {window} and on (job, instance) {there}) / {number(window.seconds)}"


def _missed(slo: Slo, counted: Events, expected: Fraction) -> Events:
    """Where no event is counted, those that were expected are bad ones."""
    known = f"last_over_time({slo.indicator.total.render()}[{KNOWN}])"
    missed = f"{number(expected)} + 0 * count by ({naming.by(slo.by)}) ({known})"

    def total(window: Duration) -> str:
        return f"({counted.total(window)}) > 0\nor {missed}"

    def errors(window: Duration) -> str:
        return f"(({counted.errors(window)}) and ({counted.total(window)}) > 0)\nor {missed}"

    return Events(total, errors)

"""SLO mathematics: how fast an error budget burns, and when that is worth waking somebody.

With an objective T, a budget B = 1 - T and a period P, an error ratio e over a window W burns the budget at rate e / B.
Spending the share f of a period's budget within W takes the rate f * P / W; an alert compares e with that rate times B
over a long window and, to stop soon after the fault does, over a short one of a twelfth (Google, The Site Reliability
Workbook, chapter 5, "Alerting on SLOs", table 5-8 and the section on multiwindow, multi-burn-rate alerts).
"""

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from tocsin.units import Duration

MIN_PERIOD, MAX_PERIOD = Duration.of(days=14), Duration.of(days=92)


class Pair(NamedTuple):
    """A long and a short window: the alert fires once `spent` of the budget went within `long`, held for `hold`."""

    long: Duration
    short: Duration
    hold: Duration
    spent: Fraction
    severity: str


# The workbook's pairs and shares, and the fourth, slow pair that Sloth and the mixins add (10 % in a day).
PAIRS = (
    Pair(Duration.of(hours=1), Duration.of(minutes=5), Duration.of(minutes=2), Fraction(2, 100), "page"),
    Pair(Duration.of(hours=6), Duration.of(minutes=30), Duration.of(minutes=15), Fraction(5, 100), "page"),
    Pair(Duration.of(days=1), Duration.of(hours=2), Duration.of(hours=1), Fraction(10, 100), "ticket"),
    Pair(Duration.of(days=3), Duration.of(hours=6), Duration.of(hours=3), Fraction(10, 100), "ticket"),
)
WINDOWS = tuple(sorted({window for pair in PAIRS for window in (pair.long, pair.short)}))


def rate_to_spend(spent: Fraction, window: Duration, period: Duration) -> Fraction:
    """The burn rate that spends a share of the period's budget within the window: f * P / W."""
    return spent * Fraction(int(period), int(window))


@lru_cache(maxsize=4096)
def factor(pair: Pair, period: Duration) -> Fraction:
    """The burn rate of a pair's alert. Never below 1: a rate that the budget lasts for is no reason to alert."""
    return max(rate_to_spend(pair.spent, pair.long, period), Fraction(1))


@lru_cache(maxsize=4096)
def threshold(pair: Pair, period: Duration, budget: Fraction) -> Fraction:
    """The error ratio above which a pair's alert fires. From 1 upwards it never can."""
    return factor(pair, period) * budget


@lru_cache(maxsize=4096)
def thresholds(period: Duration, budget: Fraction) -> tuple[Fraction, ...]:
    """The thresholds of all pairs, from the highest to the lowest."""
    return tuple(threshold(pair, period, budget) for pair in PAIRS)


def events_for_one_failure(pair: Pair, period: Duration, budget: Fraction) -> int:
    """The fewest events in the long window among which a single failure does not fire: 1 / N <= threshold."""
    limit = 1 / threshold(pair, period, budget)
    return -(-limit.numerator // limit.denominator)


@lru_cache(maxsize=4096)
def min_events(period: Duration, budget: Fraction) -> int:
    """The fewest events at which one failure pages nobody: the default of `traffic.min_events`."""
    return max(events_for_one_failure(pair, period, budget) for pair in PAIRS if pair.severity == "page")

"""SLO mathematics: the workbook's tables, and what must hold for every objective and period."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.burn import (
    MAX_PERIOD,
    MIN_PERIOD,
    PAIRS,
    WINDOWS,
    Pair,
    events_for_one_failure,
    factor,
    min_events,
    rate_to_spend,
    threshold,
)
from tocsin.units import Duration, number

# Shares of events that may be bad; an objective has at most 15 decimal places.
BUDGETS = st.fractions(Fraction(1, 10**9), Fraction(1, 2), max_denominator=10**12)
PERIODS = st.integers(MIN_PERIOD // 3_600_000, MAX_PERIOD // 3_600_000).map(lambda hours: Duration.of(hours=hours))
EVERY_PAIR = st.sampled_from(PAIRS)


@pytest.mark.parametrize(
    ("days", "factors"),
    [
        (30, ["14.4", "6", "3", "1"]),  # table 5-8 of the workbook
        (28, ["13.44", "5.6", "2.8", "1"]),
        (14, ["6.72", "2.8", "1.4", "1"]),
        (90, ["43.2", "18", "9", "3"]),
        (92, ["44.16", "18.4", "9.2", "46/15"]),
    ],
)
def test_the_factors_of_a_period(days: int, factors: list[str]) -> None:
    period = Duration.of(days=days)
    assert [factor(pair, period) for pair in PAIRS] == list(map(Fraction, factors))


def test_the_rates_of_28_days_of_which_the_slowest_would_be_too_slow() -> None:
    period = Duration.of(days=28)
    rates = [rate_to_spend(pair.spent, pair.long, period) for pair in PAIRS]
    assert rates == [Fraction(1344, 100), Fraction(56, 10), Fraction(28, 10), Fraction(14, 15)]
    assert factor(PAIRS[-1], period) == 1


@pytest.mark.parametrize(
    ("objective", "thresholds"),
    [
        ("0.999", ["0.0144", "0.006", "0.003", "0.001"]),
        ("0.995", ["0.072", "0.03", "0.015", "0.005"]),
        ("0.99", ["0.144", "0.06", "0.03", "0.01"]),
    ],
)
def test_the_thresholds_of_30_days_as_they_are_printed(objective: str, thresholds: list[str]) -> None:
    budget = 1 - Fraction(objective)
    assert [number(threshold(pair, Duration.of(days=30), budget)) for pair in PAIRS] == thresholds


def test_the_windows_of_the_workbook() -> None:
    pairs = [(str(pair.long), str(pair.short), number(pair.spent), pair.severity) for pair in PAIRS]
    assert pairs == [
        ("1h", "5m", "0.02", "page"),
        ("6h", "30m", "0.05", "page"),
        ("1d", "2h", "0.1", "ticket"),
        ("3d", "6h", "0.1", "ticket"),
    ]
    assert [str(window) for window in WINDOWS] == ["5m", "30m", "1h", "2h", "6h", "1d", "3d"]
    assert all(pair.short * 12 == pair.long and pair.hold < pair.short for pair in PAIRS)


@given(EVERY_PAIR, PERIODS, BUDGETS)
def test_burning_at_the_factor_spends_the_share_within_the_long_window(
    pair: Pair, period: Duration, budget: Fraction
) -> None:
    rate = factor(pair, period)
    bad = threshold(pair, period, budget) * pair.long  # of one event a millisecond
    spent = bad / (budget * period)
    assert spent == rate * Fraction(pair.long, period)
    assert spent == pair.spent or (rate == 1 and spent > pair.spent)


@given(EVERY_PAIR, PERIODS)
def test_no_alert_is_raised_by_a_rate_that_the_budget_lasts_for(pair: Pair, period: Duration) -> None:
    assert factor(pair, period) >= 1
    assert factor(pair, period) >= rate_to_spend(pair.spent, pair.long, period)


@given(PERIODS)
def test_the_faster_a_pair_the_higher_its_factor(period: Duration) -> None:
    factors = [factor(pair, period) for pair in PAIRS]
    assert factors == sorted(factors, reverse=True)
    assert len(set(factors)) == len(PAIRS)


@given(EVERY_PAIR, PERIODS, BUDGETS, BUDGETS)
def test_the_threshold_grows_with_the_budget(pair: Pair, period: Duration, one: Fraction, other: Fraction) -> None:
    small, large = sorted((one, other))
    lower, upper = threshold(pair, period, small), threshold(pair, period, large)
    assert (lower < upper) == (small < large)
    assert lower * large == upper * small


@given(EVERY_PAIR, PERIODS, BUDGETS)
def test_one_failure_among_so_many_events_does_not_fire_and_among_one_fewer_it_does(
    pair: Pair, period: Duration, budget: Fraction
) -> None:
    count = events_for_one_failure(pair, period, budget)
    limit = threshold(pair, period, budget)
    assert Fraction(1, count) <= limit
    assert count == 1 or Fraction(1, count - 1) > limit


@pytest.mark.parametrize(
    ("days", "objective", "events"),
    [
        (30, "0.999", 167),  # 1/166 is more than 0.006
        (30, "0.99", 17),
        (30, "0.995", 34),
        (28, "0.995", 36),  # 1/35 is more than 0.028
        (28, "0.99", 18),
        (90, "0.9", 1),  # 1.8 of all events: no failure can be too many
    ],
)
def test_the_events_at_which_one_failure_pages_nobody(days: int, objective: str, events: int) -> None:
    assert min_events(Duration.of(days=days), 1 - Fraction(objective)) == events


@given(PERIODS, BUDGETS)
def test_min_events_is_enough_for_every_page_and_for_one_of_them_the_least(period: Duration, budget: Fraction) -> None:
    events = min_events(period, budget)
    limits = [threshold(pair, period, budget) for pair in PAIRS if pair.severity == "page"]
    assert all(Fraction(1, events) <= limit for limit in limits)
    assert events == 1 or any(Fraction(1, events - 1) > limit for limit in limits)

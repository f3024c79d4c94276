"""SLO mathematics: the published tables, and what must hold for every objective and period."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import burn
from tocsin.burn import (
    MAX_PERIOD,
    MIN_PERIOD,
    TABLES,
    UNIT,
    Pair,
    events_for_one_failure,
    min_events,
    pages,
    pyrra,
    rate_to_spend,
    sloth,
    windows,
    workbook,
)
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Callable

# Shares of events that may be bad; an objective has at most 15 decimal places.
BUDGETS = st.fractions(Fraction(1, 10**9), Fraction(1, 2), max_denominator=10**12)
PERIODS = st.integers(MIN_PERIOD // 3_600_000, MAX_PERIOD // 3_600_000).map(lambda hours: Duration.of(hours=hours))
LIMITS = st.fractions(Fraction(1, 10**9), Fraction(1), max_denominator=10**12)


def rows(pairs: tuple[Pair, ...]) -> list[str]:
    return [f"{pair.long}/{pair.short} {number(pair.factor, 4)} for {pair.hold} {pair.severity}" for pair in pairs]


@pytest.mark.parametrize(
    ("table", "days", "expected"),
    [
        # Table 5-8 of the workbook, with the fourth pair of the mixins.
        (workbook, 30, ["1h/5m 14.4", "6h/30m 6", "1d/2h 3", "3d/6h 1"]),
        (workbook, 28, ["1h/5m 13.44", "6h/30m 5.6", "1d/2h 2.8", "3d/6h 1"]),
        (workbook, 1, ["5m/1m 14.4", "10m/1m 7.2", "45m/3m45s 3.2", "2h/10m 1.2"]),
        (workbook, 7, ["15m/1m15s 13.44", "1h30m/7m30s 5.6", "6h/30m 2.8", "18h/1h30m 1"]),
        (workbook, 14, ["30m/2m30s 13.44", "3h/15m 5.6", "12h/1h 2.8", "1d12h/3h 1"]),
        (workbook, 90, ["3h/15m 14.4", "18h/1h30m 6", "3d/6h 3", "9d/18h 1"]),
        (workbook, 365, ["12h/1h 14.6", "3d/6h 6.083", "12d/1d 3.042", "36d/3d 1.014"]),
        # Sloth's windows for 30 and for 28 days.
        (sloth, 30, ["1h/5m 14.4", "6h/30m 6", "1d/2h 3", "3d/6h 1"]),
        (sloth, 28, ["1h/5m 13.44", "6h/30m 5.6", "1d/2h 2.8", "3d/6h 0.9333"]),
        # Pyrra's: factors stay, windows follow the period.
        (pyrra, 28, ["1h/5m 14", "6h/30m 7", "1d/2h 2", "4d/6h 1"]),
        (pyrra, 7, ["15m/1m 14", "1h30m/8m 7", "6h/30m 2", "1d/1h30m 1"]),
    ],
)
def test_the_windows_and_factors_of_a_period(
    table: Callable[[Duration], tuple[Pair, ...]], days: int, expected: list[str]
) -> None:
    assert [row.partition(" for ")[0] for row in rows(table(Duration.of(days=days)))] == expected


@pytest.mark.parametrize(
    ("days", "kept", "expected"),
    [
        (90, 7, ["3h/15m 14.4", "18h/1h30m 6", "3d/6h 3", "7d/14h 1.286"]),
        (365, 7, ["12h/1h 14.6", "3d/6h 6.083", "7d/14h 5.214"]),
        (30, 2, ["1h/5m 14.4", "6h/30m 6", "1d/2h 3", "2d/4h 1.5"]),
    ],
)
def test_no_window_is_longer_than_what_is_kept(days: int, kept: int, expected: list[str]) -> None:
    pairs = workbook(Duration.of(days=days), Duration.of(days=kept))
    assert [row.partition(" for ")[0] for row in rows(pairs)] == expected


def test_who_is_told_and_after_how_long() -> None:
    month, weeks = Duration.of(days=30), Duration.of(days=28)
    assert [row.partition(" for ")[2] for row in rows(workbook(month))] == [
        "2m page",
        "2m page",
        "2m ticket",
        "2m ticket",
    ]
    assert [row.partition(" for ")[2] for row in rows(sloth(month))] == ["0s page", "0s page", "0s ticket", "0s ticket"]
    assert [row.partition(" for ")[2] for row in rows(pyrra(weeks))] == [
        "2m page",
        "15m page",
        "1h ticket",
        "3h ticket",
    ]


@pytest.mark.parametrize(
    ("table", "days", "objective", "thresholds"),
    [
        (workbook, 30, "0.999", ["0.0144", "0.006", "0.003", "0.001"]),
        (workbook, 30, "0.995", ["0.072", "0.03", "0.015", "0.005"]),
        (sloth, 30, "0.999", ["0.0144", "0.006", "0.003", "0.001"]),
        (sloth, 28, "0.999", ["0.01344", "0.0056", "0.0028", "0.000933333333333"]),
        (pyrra, 28, "0.999", ["0.014", "0.007", "0.002", "0.001"]),
    ],
)
def test_the_thresholds_as_they_are_printed(
    table: Callable[[Duration], tuple[Pair, ...]], days: int, objective: str, thresholds: list[str]
) -> None:
    budget = 1 - Fraction(objective)
    assert [number(pair.threshold(budget)) for pair in table(Duration.of(days=days))] == thresholds


@given(PERIODS)
def test_the_workbook_spends_its_shares_within_the_long_windows(period: Duration) -> None:
    for pair, share in zip(workbook(period), (2, 5, 10, 10), strict=True):
        assert pair.factor >= 1, "a rate that the budget lasts for is no reason to alert"
        assert pair.spent(period) >= Fraction(share, 100)
        if pair.long > Duration.of(minutes=5):
            assert pair.factor == max(rate_to_spend(Fraction(share, 100), pair.long, period), Fraction(1))


@given(PERIODS, st.sampled_from([workbook, pyrra]))
def test_pairs_go_from_the_quick_to_the_slow(period: Duration, table: Callable[[Duration], tuple[Pair, ...]]) -> None:
    pairs = table(period)
    assert [pair.long for pair in pairs] == sorted({pair.long for pair in pairs})
    assert [pair.factor for pair in pairs] == sorted((pair.factor for pair in pairs), reverse=True)
    assert [pair.severity for pair in pairs] == ["page", "page", "ticket", "ticket"]
    assert all(pair.short < pair.long for pair in pairs)


@given(PERIODS)
def test_a_hold_is_shorter_than_the_short_window(period: Duration) -> None:
    for pair in workbook(period):
        assert 0 < pair.hold < pair.short
        assert pair.short >= Duration.of(minutes=1)


@given(PERIODS, st.sampled_from(sorted(TABLES)), st.booleans())
def test_every_window_is_counted_or_summed_up_from_units(period: Duration, table: str, only_steps: bool) -> None:
    pairs = TABLES[table](period)
    found = windows(pairs, only_steps=only_steps)
    assert found.unit == min(UNIT, *(pair.short for pair in pairs))
    assert sorted(found.all) == sorted({found.unit, *(window for pair in pairs for window in pair[:2])})
    assert not {*found.counted} & {*found.summed}
    assert all(window < burn.RECORDED_FROM or only_steps for window in found.counted) or table == "pyrra"


@given(PERIODS, BUDGETS, BUDGETS)
def test_the_threshold_grows_with_the_budget(period: Duration, one: Fraction, other: Fraction) -> None:
    small, large = sorted((one, other))
    for pair in workbook(period):
        assert (pair.threshold(small) < pair.threshold(large)) == (small < large)
        assert pair.threshold(small) * large == pair.threshold(large) * small


@given(LIMITS)
def test_one_failure_among_so_many_events_does_not_fire_and_among_one_fewer_it_does(limit: Fraction) -> None:
    count = events_for_one_failure(limit)
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
    ],
)
def test_the_events_at_which_one_failure_pages_nobody(days: int, objective: str, events: int) -> None:
    assert min_events(workbook(Duration.of(days=days)), 1 - Fraction(objective)) == events


@given(PERIODS, BUDGETS)
def test_min_events_is_enough_for_every_page_and_for_one_of_them_the_least(period: Duration, budget: Fraction) -> None:
    pairs = workbook(period)
    events = min_events(pairs, budget)
    limits = [pair.threshold(budget) for pair in pages(pairs)]
    assert all(Fraction(1, events) <= limit for limit in limits)
    assert events == 1 or any(Fraction(1, events - 1) > limit for limit in limits)

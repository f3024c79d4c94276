"""SLO mathematics: how fast an error budget burns, and when that is worth waking somebody.

With an objective T, a budget B = 1 - T and a period P, an error ratio e over a window W burns the budget at rate e / B.
Spending the share f of a period's budget within W takes the rate f * P / W; an alert compares e with that rate times B
over a long window and, to stop soon after the fault does, over a short one of a twelfth (Google, The Site Reliability
Workbook, chapter 5, "Alerting on SLOs", table 5-8 and the section on multiwindow, multi-burn-rate alerts).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tocsin.units import NO_TIME, Duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tocsin.spec.slos import Alerts, Window

MIN_PERIOD, MAX_PERIOD = Duration.of(days=1), Duration.of(days=365)
MONTH = Duration.of(days=30)  # the period for which the workbook states its windows
PYRRA_PERIOD = Duration.of(days=28)
SLOTH_PERIODS = (Duration.of(days=28), Duration.of(days=30))  # those that Sloth ships windows for
SHORT_OF = 12  # the short window is this part of the long one
SCRAPES = 4  # the least in a window: two for a rate, and one of them may fail at either end
UNIT = Duration.of(minutes=5)  # the longest window in which events are counted that long windows are summed up from
# A rate loses what comes between two windows, since it has no sample on one side: with SCRAPES in a unit a quarter of
# it. Looked at so many times a unit, each event is seen by some of the windows, and an even number of times where the
# step is the interval of the scrapes. As many as 30 days can have within Prometheus' 50 million samples: 43,200.
LOOKS = 5
RECORDED_FROM = Duration.of(days=1)  # from here on a window is summed up: it would read too many samples of counters
_LEAST_SHORT, _LEAST_LONG = Duration.of(minutes=1), Duration.of(minutes=5)
_HOLD = Duration.of(minutes=2)
_MINUTE = Duration.of(minutes=1)
# Lengths that people have words for, in minutes. Windows that follow the period are rounded to these.
_ROUND = (5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720, 1080, 1440, 2160, 2880, 4320, 5760, 7200, 8640)
_ROUND_DAYS = (7, 9, 10, 12, 14, 21, 28, 30, 36)


class Pair(NamedTuple):
    """A long and a short window: the alert fires while both burn at more than `factor` times the budget's pace."""

    long: Duration
    short: Duration
    hold: Duration
    factor: Fraction
    severity: str

    def threshold(self, budget: Fraction) -> Fraction:
        """The error ratio above which the alert fires. From 1 upwards it never can."""
        return self.factor * budget

    def spent(self, period: Duration) -> Fraction:
        """The share of the period's budget that is gone when the alert fires: factor * W / P."""
        return self.factor * Fraction(int(self.long), int(period))


class _Row(NamedTuple):
    """A line of a published table, for its own period; the `share` of the budget or the `factor` is what it fixes."""

    long: Duration
    severity: str
    share: Fraction = Fraction(0)
    factor: Fraction = Fraction(0)
    hold: Duration = _HOLD


# The workbook's pairs and shares, and the slow pair of a day that Sloth and the mixins add.
_WORKBOOK = (
    _Row(Duration.of(hours=1), "page", Fraction(2, 100)),
    _Row(Duration.of(hours=6), "page", Fraction(5, 100)),
    _Row(Duration.of(days=1), "ticket", Fraction(10, 100)),
    _Row(Duration.of(days=3), "ticket", Fraction(10, 100)),
)
# Pyrra's factors and windows for 28 days (slo/rules.go); its `for` is scaled as its windows are.
_PYRRA = (
    _Row(Duration.of(hours=1), "page", factor=Fraction(14), hold=Duration.of(minutes=2)),
    _Row(Duration.of(hours=6), "page", factor=Fraction(7), hold=Duration.of(minutes=15)),
    _Row(Duration.of(days=1), "ticket", factor=Fraction(2), hold=Duration.of(hours=1)),
    _Row(Duration.of(days=4), "ticket", factor=Fraction(1), hold=Duration.of(hours=3)),
)
_PYRRA_SHORT = tuple(Duration.of(minutes=minutes) for minutes in (5, 30, 120, 360))


def rate_to_spend(spent: Fraction, window: Duration, period: Duration) -> Fraction:
    """The burn rate that spends a share of the period's budget within the window: f * P / W."""
    return spent * Fraction(int(period), int(window))


@lru_cache(maxsize=256)
def workbook(period: Duration, kept: Duration = MAX_PERIOD) -> tuple[Pair, ...]:
    """The workbook's pairs, with windows that follow the period: to 30 days as it prints them, to others as they do.

    No window is longer than what is `kept`: it is shorter then and spends its share sooner, or is left out where the
    pair before it is as long. A factor is never below 1: a rate that the budget lasts for is no reason to alert. `for`
    is short, since a window is a duration already, and one that waits on top finds a fault later and forgets it sooner
    (the workbook, chapter 5, on incrementing alert duration).
    """
    pairs: list[Pair] = []
    for row in _WORKBOOK:
        ideal = Duration(row.long * period // MONTH)
        long = _rounded(ideal, kept)
        if pairs and long <= pairs[-1].long:
            continue
        short = max(Duration(long // SHORT_OF), _LEAST_SHORT)
        # Of a period so short that the window would be, too, it is longer: the rate stays, and spends more.
        factor = max(rate_to_spend(row.share, long if ideal >= _LEAST_LONG else ideal, period), Fraction(1))
        pairs.append(Pair(long, short, min(row.hold, Duration(short // 2)), factor, row.severity))
    return tuple(pairs)


@lru_cache(maxsize=256)
def sloth(period: Duration) -> tuple[Pair, ...]:
    """Sloth's pairs: fixed windows, factors as they come out, and so one of 0.9333 at 28 days; no `for`."""
    return tuple(
        Pair(row.long, Duration(row.long // SHORT_OF), NO_TIME, rate_to_spend(row.share, row.long, period), row[1])
        for row in _WORKBOOK
    )


@lru_cache(maxsize=256)
def pyrra(period: Duration) -> tuple[Pair, ...]:
    """Pyrra's pairs: fixed factors, windows and `for` that follow the period, to a minute."""

    def scaled(length: Duration) -> Duration:
        return Duration(round(Fraction(int(length) * int(period), int(PYRRA_PERIOD) * int(_MINUTE))) * int(_MINUTE))

    return tuple(
        Pair(scaled(row.long), scaled(short), scaled(row.hold), row.factor, row.severity)
        for row, short in zip(_PYRRA, _PYRRA_SHORT, strict=True)
    )


TABLES: dict[str, Callable[[Duration], tuple[Pair, ...]]] = {"workbook": workbook, "sloth": sloth, "pyrra": pyrra}


def _rounded(length: Duration, most: Duration) -> Duration:
    """The nearest length, by ratio, that people have a word for, up to `most`."""
    minutes = length / _MINUTE
    known = [one for one in (*_ROUND, *(days * 1440 for days in _ROUND_DAYS)) if one * _MINUTE <= most] or _ROUND[:1]
    return Duration.of(minutes=min(known, key=lambda one: max(one / minutes, minutes / one)))


class Windows(NamedTuple):
    """The windows of an SLO. The `summed` ones are made of what the `unit` has seen at each `step`."""

    unit: Duration
    counted: tuple[Duration, ...]
    summed: tuple[Duration, ...]

    @property
    def step(self) -> Duration:
        """The time between two looks at the unit, each of which stands for that time."""
        return Duration(self.unit // LOOKS)

    @property
    def all(self) -> tuple[Duration, ...]:
        """Every window, the unit first."""
        return (self.unit, *self.counted, *self.summed)


@lru_cache(maxsize=1024)
def windows(pairs: tuple[Pair, ...], *, only_steps: bool = False) -> Windows:
    """What the pairs look at. A long window whose partner is the unit is counted, where that is possible."""
    unit = min(UNIT, *(pair.short for pair in pairs))
    partners = {pair.long for pair in pairs if pair.short == unit}
    rest = sorted({window for pair in pairs for window in pair[:2]} - {unit})
    summed = tuple(one for one in rest if only_steps or (one >= RECORDED_FROM and one not in partners))
    return Windows(unit, tuple(window for window in rest if window not in summed), summed)


def events_for_one_failure(limit: Fraction) -> int:
    """The fewest events among which a single failure does not pass the limit: 1 / N <= limit."""
    events = 1 / limit
    return -(-events.numerator // events.denominator)


@lru_cache(maxsize=4096)
def min_events(pairs: tuple[Pair, ...], budget: Fraction) -> int:
    """The fewest events at which one failure pages nobody: the default of `traffic.min_events`."""
    return max((events_for_one_failure(pair.threshold(budget)) for pair in pages(pairs)), default=1)


def pages(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """The pairs that wake somebody."""
    return tuple(pair for pair in pairs if pair.severity == "page")


def chosen(alerts: Alerts, period: Duration, kept: Duration | None) -> tuple[Pair, ...]:
    """The pairs that a spec asks for, by their long windows, where that much is `kept` of what they look at."""
    if alerts.windows is None:
        is_ours = alerts.table == "workbook" and kept is not None
        pairs = workbook(period, min(kept or period, MAX_PERIOD)) if is_ours else TABLES[alerts.table](period)
        if not alerts.severities:
            return pairs
        return tuple(pair._replace(severity=alerts.severities.get(pair.long, pair.severity)) for pair in pairs)
    return tuple(sorted((_written(window, period) for window in alerts.windows), key=lambda pair: pair.long))


def _written(window: Window, period: Duration) -> Pair:
    factor = window.factor
    if factor is None:
        factor = rate_to_spend(window.spent or Fraction(0), window.long, period)
    short = Duration(window.long // SHORT_OF) if window.short is None else window.short
    hold = min(_HOLD, Duration(short // 2)) if window.hold is None else window.hold
    return Pair(window.long, short, hold, factor or Fraction(1), window.severity)

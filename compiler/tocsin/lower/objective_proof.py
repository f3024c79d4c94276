"""The proof of an SLO's alerts: recorded windows at 1.05 and 0.95 of each threshold, one condition after the other.

The recorded series are fed as they are, each pair's at a place of its own: what the events behind them are is proven
apart, and a window of three days takes no three days to fill.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower.proofs import firing, series
from tocsin.lower.readings import AT, what_it_is
from tocsin.lower.vanishing import HOLD, SHARE
from tocsin.plan.rules import Expectation, Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import NO_TIME, Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tocsin.burn import Pair
    from tocsin.factory.slos import Slo
    from tocsin.plan.rules import Alert

ABOVE, BELOW = Fraction(105, 100), Fraction(95, 100)
MOST_STEPS = 10  # for which an alert is waited for; longer ones are waited for in longer steps
MINUTE = Duration.of(minutes=1)
EVER = 99  # evaluations: until the story ends
START = 4  # at this step all conditions begin to hold: a whole number of units
FEW = "few"  # the place where the traffic ends
OTHER, GONE = "other", "gone"  # places of another SLO


class Shares(NamedTuple):
    """Of a pair's threshold, in its long and in its short window, and of the events that it must have."""

    long: Fraction
    short: Fraction
    events: Fraction = ABOVE


SILENT = (Shares(BELOW, ABOVE), Shares(ABOVE, BELOW), Shares(ABOVE, ABOVE, BELOW))
FIRES = Shares(ABOVE, ABOVE)


class Feed(NamedTuple):
    """A recorded series at a place: its values, each with the number of evaluations for which it holds."""

    place: str
    name: str
    values: tuple[tuple[str, int], ...]


class AlertStory(NamedTuple):
    """The proof in numbers: what is fed, when so many alerts wait, when which fire at which ratio.

    `fired` are places and ratios by the number of the pair; `missed` is when the traffic's alert fires.
    """

    pace: Duration
    feeds: tuple[Feed, ...]
    waiting: tuple[tuple[Duration, str], ...]
    end: Duration
    fired: tuple[tuple[int, str, float], ...]
    missed: Duration


def pace_of(unit: Duration) -> Duration:
    """How often rules are evaluated in the tests of an SLO: twice a unit, since its `for` is less than half of one."""
    return Duration(unit // 2)


def _story(slo: Slo) -> AlertStory:
    """Every alert is silent while one of its conditions does not hold, and fires for its `for` after all do."""
    fired = tuple(_fired(slo))
    longest = max(HOLD, *(pair.hold for pair in slo.pairs))
    pace = max(pace_of(slo.windows.unit), Duration(-(-longest // (MOST_STEPS * MINUTE)) * MINUTE))
    waits = [-(-slo.pairs[index].hold // pace) for index, _, _ in fired]  # in steps
    waiting = []
    end = Duration(START * pace)
    for wait in sorted({wait for wait in waits if wait}):
        end = Duration((START + wait) * pace)
        waiting.append((Duration(end - pace), str(sum(one >= wait for one in waits))))
    feeds = [feed for pair in slo.pairs for feed in _windows(slo, pair)]
    return AlertStory(
        pace,
        (*feeds, *_crowd(slo), *_traffic(slo)),
        tuple(waiting),
        end,
        fired,
        Duration(pace + -(-HOLD // pace) * pace),
    )


def _is_fed(slo: Slo, pair: Pair) -> bool:
    """Whether both windows of a pair can be fed; a long one that is summed up from the short one comes with it."""
    return not (pair.short == slo.windows.unit and pair.long in slo.windows.summed)


def _fired(slo: Slo) -> Iterator[tuple[int, str, float]]:
    """Each alert at its place; and where only the unit is fed, all whose windows are summed up from it."""
    steps = {slo.windows.unit, *slo.windows.summed}
    for place in sorted(slo.pairs, key=lambda pair: str(pair.long)):
        for index, pair in enumerate(slo.pairs):
            comes_along = not _is_fed(slo, place) and {pair.long, pair.short} <= steps
            is_over = place.threshold(slo.budget) * ABOVE > pair.threshold(slo.budget)
            if pair == place or (comes_along and is_over):
                yield index, str(place.long), _ratio(slo, place)


def _windows(slo: Slo, pair: Pair) -> Iterator[Feed]:
    limit, place = pair.threshold(slo.budget), str(pair.long)
    if not _is_fed(slo, pair):
        total = _total(slo, pair, FIRES)
        yield Feed(place, naming.slo_total(pair.short), (("_", START), (number(total), EVER)))
        yield Feed(place, naming.slo_errors(pair.short), (("_", START), (number(total * limit * ABOVE), EVER)))
        return
    totals = [_total(slo, pair, shares) for shares in (*SILENT, FIRES)]
    for window, index in ((pair.long, 0), (pair.short, 1)):
        errors = [total * limit * shares[index] for total, shares in zip(totals, (*SILENT, FIRES), strict=True)]
        for name, values in ((naming.slo_total, totals), (naming.slo_errors, errors)):
            one, other, few, enough = map(number, values)
            yield Feed(place, name(window), ((one, 1), (other, 1), (few, START - 2), (enough, EVER)))


def _total(slo: Slo, pair: Pair, shares: Shares) -> Fraction:
    """Events per second of which there are enough in the long window, or just not."""
    # A window that comes with its steps has seen one of them when it is asked for.
    seconds = pair.long.seconds if _is_fed(slo, pair) else slo.windows.step.seconds
    return slo.enough(pair) * shares.events / seconds if slo.least else Fraction(1)


def _ratio(slo: Slo, pair: Pair) -> float:
    """The ratio that an alert tells: that of the numbers as they are fed."""
    total = _total(slo, pair, FIRES)
    return float(number(total * pair.threshold(slo.budget) * ABOVE)) / float(number(total))


def _crowd(slo: Slo) -> Iterator[Feed]:
    """Another SLO burns as well, and elsewhere its traffic has ended: its series must not be taken for ours."""
    values = ((number(max(Fraction(1), *map(slo.enough, slo.pairs))), EVER),)
    for window in slo.windows.all:
        for name in (naming.slo_errors, naming.slo_total):
            yield Feed(OTHER, name(window), values)
    yield Feed(GONE, naming.slo_total(max(slo.windows.all)), values)


def _traffic(slo: Slo) -> Iterator[Feed]:
    """Enough for a step, then too little, or none at all where no amount is known to be too little."""
    limit = (slo.expected or Fraction(1)) * SHARE
    after = () if slo.expected is None else ((number(limit * BELOW), EVER),)
    yield Feed(FEW, naming.slo_total(slo.windows.unit), ((number(limit * ABOVE), 1), *after))
    if max(slo.windows.all) not in slo.windows.summed:  # else it comes with the unit
        yield Feed(FEW, naming.slo_total(max(slo.windows.all)), (("1", EVER),))


def alert_proof(slo: Slo, burns: Sequence[Alert], gone: Alert | None) -> RuleTest:
    """The story, told with the SLO's own series, labels and words."""
    story = _story(slo)
    places = {feed.place: {label: f"{label}{AT}{feed.place}" for label in slo.by} for feed in story.feeds}
    braces = {
        place: series("", {**labels, "slo": f"not-{slo.id}" if place in (OTHER, GONE) else slo.id}, "")[0]
        for place, labels in places.items()
    }
    feeds = [feed for feed in story.feeds if gone or feed.place != FEW]
    state, pending = _state(burns[0]), _state(burns[0], alertstate="pending")
    silent = f"count_over_time({state}[{Duration(START * story.pace)}])"
    readings = [Reading(Duration((START - 1) * story.pace), silent, ())]
    readings += [Reading(at, f"count({pending})", (("{}", count),)) for at, count in story.waiting]
    readings += [*_burning(slo, story.end, braces), *what_it_is(slo)]
    told = tuple(firing(burns[index], places[place], ratio) for index, place, ratio in story.fired)
    expectations = [Expectation(story.end, burns[0].name, told)]
    if gone:
        readings += _missing(gone, story, places[FEW])
        told = tuple(firing(gone, places[place], value) for place, value in _missed_at(slo))
        expectations.append(Expectation(story.missed, gone.name, told))
    return RuleTest(
        f"{burns[0].name}: each condition of each alert by itself, then all",
        slo.windows.step,
        tuple((feed.name + braces[feed.place], _held(feed, story, slo.windows.step)) for feed in feeds),
        tuple(expectations),
        slo.origin,
        tuple(readings),
        story.pace,
    )


def _held(feed: Feed, story: AlertStory, interval: Duration) -> str:
    """A series in promtool's notation, which ends with the story."""
    out, at, end = [], 0, max(story.end, story.missed) // story.pace + 1
    for value, evaluations in feed.values:
        until = min(at + evaluations, end)
        samples = until * story.pace // interval - at * story.pace // interval
        out.append(f"_x{samples}" if value == "_" else f"{value}x{samples - 1}")
        at = until
    return " ".join([*out, "stale"])


def _burning(slo: Slo, at: Duration, braces: Mapping[str, str]) -> Iterator[Reading]:
    """How fast the budget burns at the place of the first pair, and that another SLO's burns by no rate of ours."""
    first = slo.pairs[0]
    rate = first.threshold(slo.budget) * ABOVE / slo.budget
    place = braces[str(first.long)]
    burns = f"abs({naming.SLO_BURN_RATE}{place} / {number(rate)} - 1) < bool 1e-9"
    yield Reading(at, burns, ((place, "1"),))
    elsewhere = braces[OTHER].replace(f"not-{slo.id}", slo.id)
    if elsewhere != place:
        yield Reading(at, naming.SLO_BURN_RATE + elsewhere, ())


def _missed_at(slo: Slo) -> Iterator[tuple[str, float]]:
    """Where the traffic ended, where the longest window was all that was fed, and where the few are too few."""
    yield FEW, float(number((slo.expected or 0) * SHARE * BELOW))
    yield str(max(pair.long for pair in slo.pairs)), 0
    for pair in slo.pairs:
        total = _total(slo, pair, FIRES)
        if pair.short == slo.windows.unit and _is_fed(slo, pair) and slo.expected and total < slo.expected * SHARE:
            yield str(pair.long), float(number(total))


def _state(alert: Alert, place: Mapping[str, str] | None = None, **state: str) -> str:
    named = {"alertname": alert.name, "slo": alert.labels["slo"], **(place or {}), **state}
    return f"ALERTS{{{','.join(f'{label}={quote(value)}' for label, value in named.items())}}}"


def _missing(gone: Alert, story: AlertStory, place: Mapping[str, str]) -> Iterator[Reading]:
    """Nothing is missed while there is enough; from the second step on it is, and told when the `for` is over."""
    pending = f"count({_state(gone, place, alertstate='pending')})"
    yield Reading(NO_TIME, _state(gone, place), ())
    for at in (story.pace, Duration(story.missed - story.pace)):
        yield Reading(at, pending, (("{}", "1"),))

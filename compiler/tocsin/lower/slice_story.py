"""What happens to a counter and to the gauge that says when it should rise, told in evaluations of the rules."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin.indicators import BASELINE_UNITS
from tocsin.lower.ratio_story import notation
from tocsin.lower.slices import looks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.factory.slos import Slo
    from tocsin.indicators import Slices
    from tocsin.units import Duration

STILL = Fraction(0)
USUAL = Fraction(100)  # steps per second of a job of the story that is measured by itself
SPARE = Fraction(3, 8)  # by which a counter of the story is above a fixed limit
GAP = 4  # evaluations for which a job that begins again was not there
SAMPLES = 4  # of the counter, at least, in what a slice looks back to


class Read(NamedTuple):
    """At an evaluation of a beat, whether the slice counts, and whether it is bad."""

    at: int
    counts: bool
    bad: bool = False


class Beat(NamedTuple):
    """For so many evaluations the counter rises by so much a second, or is not there; so does the gauge say.

    `restarts` is whether it begins again at zero.
    """

    evals: int
    speed: Fraction | None
    gauge: int | None
    reads: Sequence[Read] = ()
    restarts: bool = False
    name: str = ""


class Lengths(NamedTuple):
    """The windows over which a rate is looked at, and the grace, in evaluations; and those of the unit."""

    mean: int
    unit: int
    look: int
    grace: int


def lengths(slo: Slo, slices: Slices, grace: Duration) -> Lengths:
    """Each long enough to be over."""
    look, mean = looks(slo, slices)
    return Lengths(*(-(-length // slices.every) for length in (mean, slo.windows.unit, look, grace)))


def of_limit(long: Lengths, limit: Fraction, waits: bool, missed: bool, dead: int) -> list[Beat]:
    """A counter around a fixed limit. `missed` is whether it is bad where it is gone, `dead` how long it stands still.

    With `waits` a gauge says when it should rise.
    """
    fast, gauge = limit / (1 - SPARE), 1 if waits else None
    begins = (
        _starting(long, fast, 2 * long.mean) if waits else [Beat(long.look + 1, fast, None, _absent(long.look - 2))]
    )
    beats = [*begins, Beat(long.mean + 2, fast, gauge, _ends(long.mean + 2))]
    beats += _around(long, fast, SPARE, gauge, missed, dead)
    return beats + (_ending(long, fast) if waits else [])


def of_past(long: Lengths, at_most: Fraction, dead: int) -> list[Beat]:
    """A job around its own past: nothing until it has one, odd for a moment, then as about a limit."""
    unit, usual = long.unit, USUAL
    past = BASELINE_UNITS * unit
    # For one evaluation it looks a hundred times as fast, as a counter does that begins again with a value.
    return [
        *_starting(long, usual, 0),
        Beat(past + unit, usual, 1, (Read(past - 2 * unit, False), Read(past + unit - 1, True))),
        Beat(1, usual * 100, 1),
        Beat(long.mean + 2, usual, 1, _ends(long.mean + 2)),
        *_around(long, usual, at_most, 1, True, dead),
        *_ending(long, usual),
    ]


def _around(long: Lengths, fast: Fraction, spare: Fraction, gauge: int | None, missed: bool, dead: int) -> list[Beat]:
    """What is fast, by the share `spare` above its limit, becomes nearly too slow, too slow, and worse.

    Each of the two windows is read where it alone sees that it is fast, and where half and twice of it would differ.
    """
    mean, look, limit = long.mean, long.look, fast * (1 - spare)
    soon = int(mean * spare * 3 / 2)  # after so long, the mean sees that it stands still, and one twice as long not
    pause = int(mean * spare) - 1  # the longest that the mean bears, and one half as long does not
    begins = (Read(0, True, bad=True), Read(look - 1, True)) if look > 2 else (Read(look + 1, True),)
    restarts = (Read(1, True),) if spare * mean > 2 else ()
    ends = (Read(soon, True, bad=True),) if look < soon < dead - 1 else ()
    beats = [
        Beat(mean + 2, limit + (fast - limit) / 10, gauge, _ends(mean + 2), name="healthy"),
        Beat(mean + 2, limit * 95 / 100, gauge, _ends(mean + 2, bad=True)),
        Beat(mean + 2, STILL, gauge, _ends(mean + 2, bad=True)),
        Beat(look + 2, fast, gauge, begins),
        Beat(mean + 2, fast, gauge, _ends(mean + 2)),
    ]
    if pause > look * spare:
        beats += [Beat(pause, STILL, gauge, _ends(pause)), Beat(look + 2, fast, gauge, _ends(look + 2))]
    return [
        *beats,
        Beat(2 * mean + 2, fast, gauge, (*restarts, *_ends(2 * mean + 2)), restarts=True),
        Beat(dead, STILL, gauge, (*ends, *_ends(dead, bad=True)), name="dead"),
        Beat(mean + 2, None, gauge, _ends(mean + 2, bad=True) if missed else _absent(mean + 1), name="gone"),
        Beat(look + 3, fast, gauge, _ends(look + 3)),
    ]


def _starting(long: Lengths, speed: Fraction, more: int) -> list[Beat]:
    """A job that does nothing at first, and is as fast as it should be when its grace is over."""
    still = max(long.grace - long.look - 2, 1)
    rest = max(long.grace - still, 1) + more
    before = long.grace - GAP - still
    reads = _absent(before) if 0 <= before < rest else ()
    return [Beat(still, STILL, 1, _absent(still - 1) if still < long.grace - 2 else ()), Beat(rest, speed, 1, reads)]


def _ending(long: Lengths, speed: Fraction) -> list[Beat]:
    """The job ends, begins again with a new grace, and then nobody says any more whether it runs."""
    grace, look = long.grace, long.look
    again = (
        [Read(grace + 2, True)] if grace <= GAP else [Read(0, False), Read(grace - GAP, False), Read(grace + 2, True)]
    )
    held = [Read(look - 2, True)] if look > 1 else []
    return [
        Beat(GAP, speed, 0, (Read(0, False), Read(GAP - 1, False))),
        Beat(grace + 3, speed, 1, again),
        Beat(look + long.unit + 3, speed, None, (*held, Read(look + 1, False)), name="over"),
    ]


def _absent(at: int) -> tuple[Read, ...]:
    return (Read(at, False),) if at >= 0 else ()


def _ends(evals: int, *, bad: bool = False) -> tuple[Read, ...]:
    return (Read(evals - 1, True, bad),)


def samples_of(slices: Slices) -> int:
    """The samples between two evaluations, so that a slice always sees enough of them."""
    least = -(-SAMPLES * slices.every // slices.look)
    return next(count for count in range(least, int(slices.every) + 1) if slices.every % count == 0)


def played(beats: Iterable[Beat], every: Duration, samples: int) -> tuple[str, str]:
    """The counter and the gauge in promtool's notation, so many samples an evaluation."""
    counter: list[Fraction | None] = []
    gauge: list[Fraction | None] = []
    step = every.seconds / samples
    value = STILL
    for beat in beats:
        count = beat.evals * samples if counter else (beat.evals - 1) * samples + 1
        for index in range(count):
            begins = (beat.restarts and not index) or not counter or counter[-1] is None
            value = STILL if begins else value + (beat.speed or STILL) * step
            counter.append(None if beat.speed is None else value)
            gauge.append(None if beat.gauge is None else Fraction(beat.gauge))
    return notation(counter), notation(gauge)

"""The proof of what slices of time count: a counter and its gauge in all that becomes of them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import slowdown, time_slice
from tocsin.lower.burns import ALERT
from tocsin.lower.slice_story import MOST_DEAD, lengths, of_limit, of_past, played, samples_of
from tocsin.lower.slices import Texts, here
from tocsin.plan import Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tocsin.factory import Slo
    from tocsin.indicators import Slices
    from tocsin.lower.cast import Cast
    from tocsin.lower.slice_story import Beat

    Tell = Callable[[int], list[Beat]]  # the story, by the evaluations for which the job is dead


def of_time_slice(slo: Slo, cast: Cast, _is_here: bool) -> RuleTest:
    """A counter that begins, is fast, slow, pauses, restarts, stands still, ends and comes back."""
    form = time_slice.form(slo)
    long = lengths(slo, form.slices, form.grace)
    missed = form.waits or slo.idle == "bad"
    return _proof(slo, cast, form.slices, lambda dead: of_limit(long, form.at_least, form.waits, missed, dead))


def of_slowdown(slo: Slo, cast: Cast, _is_here: bool) -> RuleTest:
    """A job that gets a past, and is then as fast as that, slower, odd for a moment, dead, gone, and over."""
    form = slowdown.form(slo)
    long = lengths(slo, form.slices, form.grace)
    return _proof(slo, cast, form.slices, lambda dead: of_past(long, form.at_most, dead))


def _proof(slo: Slo, cast: Cast, slices: Slices, tell: Tell) -> RuleTest:
    texts, every, samples = Texts(*cast.texts), slices.every, samples_of(slices)
    beats = tell(_dead(slo, slices, tell))
    counter, gauge = played(beats, every, samples)
    shown = [(texts.counter_series, counter), *([(texts.expected_series, gauge)] if texts.expected else [])]
    readings = [*_slices(cast, every, beats), *_windows(slo, cast, every, beats), *_alerts(slo, cast, slices, beats)]
    return RuleTest(
        f"{cast.id}: time that counts and does not, good and bad",
        Duration(every // samples),
        tuple(shown),
        (),
        slo.origin,
        tuple(readings),
        every,
    )


def _starts(beats: Sequence[Beat]) -> Iterator[tuple[int, Beat]]:
    """Each beat and its first evaluation."""
    begin = 0
    for beat in beats:
        yield begin, beat
        begin += beat.evals


def _end(beats: Sequence[Beat], name: str) -> int:
    """The last evaluation of a beat."""
    return next(begin + beat.evals - 1 for begin, beat in _starts(beats) if beat.name == name)


def _slices(cast: Cast, every: Duration, beats: Sequence[Beat]) -> Iterator[Reading]:
    """Where a slice counts it is good or bad; where it does not, it is neither."""
    place = Texts(*cast.texts).place
    for begin, beat in _starts(beats):
        for read in beat.reads:
            for name, value in ((naming.SLO_SLICES, 1), (naming.SLO_BAD_SLICES, int(read.bad))):
                samples = ((name + place, str(value)),) if read.counts else ()
                yield Reading(Duration((begin + read.at) * every), name + here(cast), samples)


def _windows(slo: Slo, cast: Cast, every: Duration, beats: Sequence[Beat]) -> Iterator[Reading]:
    """The unit window when all of it was good, when all was bad, and when there is nothing in it any more.

    Prometheus 2.x counts the slice at the begin of a window, 3.x does not.
    """
    unit, place = slo.windows.unit, Texts(*cast.texts).place
    total, errors = naming.slo_total(unit) + here(cast), naming.slo_errors(unit) + here(cast)
    near = number(every.seconds * 3 / 2 / unit.seconds)
    for name, share in (("healthy", 0), ("dead", 1)):
        at = Duration(_end(beats, name) * every)
        yield Reading(at, f"abs({total} - 1) < bool {near}", ((place, "1"),))
        yield Reading(at, f"{errors} / {total}", ((place, str(share)),))
    if any(beat.name == "over" for beat in beats):
        at = Duration(_end(beats, "over") * every)
        yield from (Reading(at, series, ()) for series in (total, errors))


def _spent(beats: Sequence[Beat]) -> tuple[int, int]:
    """The evaluations that have counted when the job has been dead, and those that were certainly bad."""
    counted = bad = 0
    for _, beat in _starts(beats):
        last = beat.reads[-1] if beat.reads else None
        counted += beat.evals if last is None or last.counts else 0
        if beat.name == "dead":
            return counted, bad + beat.evals
        bad += beat.evals // 2 if last and last.bad else 0
    raise ValueError(beats)


def _dead(slo: Slo, slices: Slices, tell: Tell) -> int:
    """The evaluations for which the job must be dead so that its budget burns fast enough for every alert."""
    unit = -(-slo.windows.unit // slices.every) + 2
    share = (max(pair.threshold(slo.budget) for pair in slo.pairs) + 1) / 2
    counted = _spent(tell(0))[0]
    needed, enough = int(counted * share / (1 - share)), int(slo.least / slices.every.seconds)
    return min(max(needed, enough, 2 * unit), max(MOST_DEAD, 2 * unit))


def _alerts(slo: Slo, cast: Cast, slices: Slices, beats: Sequence[Beat]) -> Iterator[Reading]:
    """Nobody is alerted while the job is healthy. When it was dead, all are who watch for as much, until it ends."""
    every, me = slices.every, f'alertname="{ALERT}",slo={quote(cast.id)}'
    yield Reading(Duration(_end(beats, "healthy") * every), f"ALERTS{{{me}}}", ())
    counted, bad = _spent(beats)
    late = 2 * -(-slo.windows.unit // every)  # what the steps of long windows have not seen yet
    share = Fraction(max(bad - late, 0), counted)
    seconds = (counted - late) * every.seconds
    due = [
        str(pair.long)
        for pair in slo.pairs
        if pair.threshold(slo.budget) < share and min(seconds, pair.long.seconds) * 9 / 10 >= slo.least
    ]
    if due:
        watched = f'ALERTS{{{me},window=~"{"|".join(due)}"}}'
        yield Reading(Duration(_end(beats, "dead") * every), f"count({watched})", (("{}", str(len(due))),))
    short = [str(pair.long) for pair in slo.pairs if pair.short == slo.windows.unit]
    if short and any(beat.name == "over" for beat in beats):
        over = f'ALERTS{{{me},window=~"{"|".join(short)}"}}'
        yield Reading(Duration(_end(beats, "over") * every), over, ())

"""The proof of what slices of time count: a counter and its gauge in all that becomes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import slice_readings, slowdown, time_slice
from tocsin.lower.slice_story import USUAL, lengths, of_limit, of_past, played, samples_of
from tocsin.lower.slices import Texts
from tocsin.plan.rules import Reading, RuleTest
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tocsin.factory.slos import Slo
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
    past = form.baseline // form.slices.every // 4  # a job that is dead for longer is measured by little else
    most = min(past, slice_readings.MOST)
    test = _proof(slo, cast, form.slices, lambda dead: of_past(long, form.at_most, dead), most)
    first, *_, last = sorted({reading.at for reading in test.readings if reading.expr.startswith("ALERTS")})
    me, begun = slice_readings.here(cast), Duration((long.grace + 1) * form.slices.every)
    baseline, place = naming.SLO_BASELINE + me, Texts(*cast.texts).place
    pasts = (
        Reading(begun, f"count({naming.SLO_RATE}{me})", (("{}", "1"),)),
        Reading(first, f"abs({baseline} / {USUAL} - 1) < bool 1e-9", ((place, "1"),)),
        Reading(last, baseline, ()),
    )
    return test._replace(readings=(*test.readings, *pasts))


def _proof(slo: Slo, cast: Cast, slices: Slices, tell: Tell, most: int = slice_readings.MOST) -> RuleTest:
    texts, every, samples = Texts(*cast.texts), slices.every, samples_of(slices)
    dead = slice_readings.outage_for(slo, every, _spent(tell(0))[0], most=most)
    beats = tell(dead)
    counter, gauge = played(beats, every, samples)
    ends = any(beat.name == "over" for beat in beats)  # only where a gauge says when
    shown = [(texts.counter_series, counter), *([(texts.expected_series, gauge)] if ends else [])]
    past = slice_readings.Past(every, _end(beats, "healthy"), _end(beats, "dead"), *_spent(beats))
    readings = [
        *_slices(cast, texts.place, every, beats),
        *slice_readings.units(slo, cast, texts.place, past),
        *slice_readings.alerts(slo, cast, past),
        *(slice_readings.over(slo, cast, Duration(_end(beats, "over") * every)) if ends else ()),
    ]
    return RuleTest(
        f"{cast.id}: time that counts and does not, good and bad",
        Duration(every // samples),
        (*shown, *slice_readings.crowd(cast, sum(beat.evals for beat in beats))),
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


def _slices(cast: Cast, place: str, every: Duration, beats: Sequence[Beat]) -> Iterator[Reading]:
    """Where a slice counts it is good or bad; where it does not, it is neither."""
    for begin, beat in _starts(beats):
        for read in beat.reads:
            at = Duration((begin + read.at) * every)
            yield from slice_readings.slices(cast, at, place, int(read.counts), int(read.bad))


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

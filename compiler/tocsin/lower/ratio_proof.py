"""The proof of what a ratio counts: its own counters in all that may become of them, sample by sample.

Rates are read where they have been even for a whole window, since only there every Prometheus says the same.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.examples import labels_for
from tocsin.lower.burns import ALERT
from tocsin.lower.objective_proof import STEPS_OF_UNIT, pace_of
from tocsin.lower.proofs import series
from tocsin.lower.ratio_story import BEGUN, ENDED, IDLE, OUTAGE, RESTARTED, Story, missed_of, story
from tocsin.lower.shape import ID, ME
from tocsin.plan import Reading, RuleTest
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory, Slo
    from tocsin.lower.shape import Shape

# What the steps of the unit window show when the story has begun: a rate over a whole unit of which four samples of
# five are there, counted once. The counters begin with a zero, so that no Prometheus guesses at what was before.
FIRST_STEP = Fraction(STEPS_OF_UNIT - 1, STEPS_OF_UNIT)
RIGHT = "right"  # what an expression gives whose one sample is 1
NOTHING = "nothing"


class EventStory(NamedTuple):
    """The proof in numbers: two counters, and expressions with what each must give at which time."""

    told: str
    rest: str
    interval: Duration
    pace: Duration
    readings: tuple[tuple[Duration, str, str], ...]


def event_story(shape: Shape) -> EventStory:
    """The recorded events of every window in each part of the story, and what becomes of the alerts."""
    told = story(shape)
    unit = shape.windows.unit
    readings = [*_begun(shape, told), *_moments(shape, told), *(_period(shape, told) if shape.is_here else ())]
    read = [(sample, f"{expr} < bool 1e-9", RIGHT) for sample, expr in readings] + list(_alerts(shape))
    interval = Duration(unit // STEPS_OF_UNIT)
    return EventStory(
        told.told,
        told.rest,
        interval,
        pace_of(unit),
        tuple((Duration(sample * interval), expr, what) for sample, expr, what in read),
    )


def _off(*values: tuple[str, Fraction]) -> str:
    """How far recorded series are from these values, relative to them where they are not nought."""
    return " + ".join(
        f"abs({name}{ME} / {number(value)} - 1)" if value else f"abs({name}{ME})" for name, value in values
    )


def _both(window: Duration, errors: Fraction, total: Fraction) -> str:
    return _off((naming.slo_errors(window), errors), (naming.slo_total(window), total))


def _begun(shape: Shape, told: Story) -> Iterator[tuple[int, str]]:
    """Every window counts what came since the begin, the summed ones what their steps have seen of it."""
    unit = shape.windows.unit
    sample = unit.seconds / STEPS_OF_UNIT
    errors, total = told.begun
    yield BEGUN, _both(unit, errors / sample, total / sample)
    for window in shape.windows.counted:
        share = BEGUN / window.seconds
        yield BEGUN, _both(window, errors * share, total * share)
    errors, total = _seen(shape, told)
    for window in shape.windows.summed:
        yield BEGUN, _both(window, errors / window.seconds, total / window.seconds)


def _seen(shape: Shape, told: Story) -> tuple[Fraction, Fraction]:
    """The events that the steps have counted then, bad ones and all; of the first step what was missed."""
    unit = shape.windows.unit.seconds
    sample, missed = unit / STEPS_OF_UNIT, missed_of(shape)
    errors, total = ((events / sample * FIRST_STEP + missed) * unit for events in told.begun)
    return errors, total


def _moments(shape: Shape, told: Story) -> Iterator[tuple[int, str]]:
    for moment in told.moments:
        yield moment.sample, _both(shape.windows.unit, moment.errors, moment.total)


def _period(shape: Shape, told: Story) -> Iterator[tuple[int, str]]:
    """The budget, once the story has begun: this share of the events seen was bad, and this much of it is left."""
    errors, total = seen = _seen(shape, told)
    burn = Fraction(*(seen if shape.pairs[0].long in shape.windows.summed else told.begun)) / shape.budget
    left = 1 - errors / total / shape.budget
    lasts = max(left, Fraction(0)) * shape.period.seconds / burn
    values = (errors, total, errors / total, left, lasts)
    yield BEGUN, _off((naming.SLO_BURN_RATE, burn), *zip(naming.SLO_PERIOD, values, strict=True))


def _alerts(shape: Shape) -> Iterator[tuple[int, str, str]]:
    """Few errors, none, idleness and restarts alert nobody; in the outage every alert is at least pending."""
    state = f'ALERTS{{alertname="{ALERT}",slo={ID}}}'
    if shape.tells_bad and shape.idle != "bad":
        for sample in (BEGUN, ENDED, IDLE, RESTARTED):
            yield sample, state, NOTHING
    yield OUTAGE, f"count({state})", str(len(shape.pairs))


def ratio_proof(factory: Factory, slo: Slo, told: EventStory, id_: str) -> RuleTest:
    """The story, told with the SLO's own series."""
    ratio = slo.indicator
    labels = labels_for([ratio.total, ratio.told], None, slo.by, factory.labels) or {}
    others = labels
    if ratio.told.metric == ratio.total.metric:
        others = labels_for([ratio.total], ratio.told, slo.by, factory.labels) or {}
    place = series("", {**{label: labels[label] for label in slo.by}, "slo": slo.id}, "")[0]
    gives = {RIGHT: ((place, "1"),), NOTHING: ()}
    return RuleTest(
        f"{slo.id}: events that begin, end, stand still, restart and fail",
        told.interval,
        (
            series(ratio.told.metric or "", labels, told.told),
            series(ratio.total.metric or "", others, told.rest),
        ),
        (),
        slo.origin,
        tuple(
            Reading(at, expr.replace(ID, id_), gives.get(what, (("{}", what),)))
            for at, expr, what in told.readings
        ),
        told.pace,
    )

"""The proof of what a ratio counts: its own counters in all that may become of them, sample by sample.

Rates are read where they have been even for a whole window, since only there every Prometheus says the same.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.budget import described
from tocsin.lower.burns import ALERT
from tocsin.lower.objective_proof import STEPS_OF_UNIT, pace_of
from tocsin.lower.proofs import series
from tocsin.lower.ratio import Texts, form
from tocsin.lower.ratio_story import BEGUN, ENDED, IDLE, OUTAGE, RESTARTED, TOLD, Story, missed_of, story
from tocsin.plan import Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Slo
    from tocsin.lower.cast import Cast

Values = tuple[tuple[str, Fraction], ...]  # names of recorded series, and what they must be


def proof(slo: Slo, cast: Cast, is_here: bool) -> RuleTest:
    """The recorded events of every window in each part of the story, and what becomes of the alerts."""
    texts, told, unit = Texts(*cast.texts), story(slo, form(slo)), slo.windows.unit
    me, interval = f"{{slo={quote(cast.id)}}}", Duration(unit // STEPS_OF_UNIT)
    values = [*_moments(slo, told), *(_period(slo, told) if is_here else ())]
    readings = [
        Reading(Duration(sample * interval), f"{_off(me, series)} < bool 1e-9", ((texts.place, "1"),))
        for sample, series in values
    ]
    readings += [Reading(Duration(sample * interval), expr, gives) for sample, expr, gives in _alerts(slo, cast)]
    readings += _described(slo)
    return RuleTest(
        f"{cast.id}: events that begin, end, stand still, restart and fail",
        interval,
        (*_counters(texts, told), *_crowd(slo)),
        (),
        slo.origin,
        tuple(readings),
        pace_of(unit),
    )


def _counters(texts: Texts, told: Story) -> tuple[tuple[str, str], ...]:
    """Those of the story, and those of a target that is new then: their values are a lifetime's."""
    new = f"_x{ENDED + 1} 1e9x{OUTAGE - ENDED}"
    return (
        (texts.told_series, told.told),
        (texts.rest_series, told.rest),
        (texts.new_told_series, new),
        (texts.new_rest_series, new),
    )


def _crowd(slo: Slo) -> Iterator[tuple[str, str]]:
    """What is recorded of another SLO, and must not be taken for ours."""
    labels = {**{label: label for label in slo.by}, "slo": f"not-{slo.id}"}
    windows = (naming.slo_errors(slo.pairs[0].long), naming.slo_total(slo.pairs[0].long))
    for name in (*windows, naming.SLO_BURN_RATE, *naming.SLO_PERIOD[:-1]):
        yield series(name, labels, f"1x{OUTAGE}")


def _described(slo: Slo) -> Iterator[Reading]:
    """What the SLO is, word by word."""
    for record, value in zip(described(slo), (number(slo.objective), "1"), strict=True):
        sample = series(record.name, record.labels, "")[0]
        yield Reading(Duration(0), f"{record.name}{{slo={quote(slo.id)}}}", ((sample, value),))


def _off(me: str, values: Values) -> str:
    """How far recorded series are from these values, relative to them where they are not nought."""
    return " + ".join(
        f"abs({name}{me} / {number(value)} - 1)" if value else f"abs({name}{me})" for name, value in values
    )


def _both(window: Duration, errors: Fraction, total: Fraction) -> Values:
    return (naming.slo_errors(window), errors), (naming.slo_total(window), total)


def _moments(slo: Slo, told: Story) -> Iterator[tuple[int, Values]]:
    """The unit window all the time, and how the long ones grow in the begin."""
    unit = slo.windows.unit
    sample = unit.seconds / STEPS_OF_UNIT
    for at, errors, total in told.moments:
        yield at, _both(unit, errors / sample, total / sample)
    for window in slo.windows.counted:
        for at, errors, total in told.grown:
            yield at, _both(window, errors / window.seconds, total / window.seconds)
    errors, total = _stepped(slo, told)
    for window in slo.windows.summed:
        yield TOLD, _both(window, errors / window.seconds, total / window.seconds)


def _stepped(slo: Slo, told: Story) -> tuple[Fraction, Fraction]:
    """The events that the steps have counted; of the first step, where no rate is yet, what is missed."""
    missed = missed_of(slo) * slo.windows.unit.seconds
    return told.steps.errors * STEPS_OF_UNIT + missed, told.steps.total * STEPS_OF_UNIT + missed


def _period(slo: Slo, told: Story) -> Iterator[tuple[int, Values]]:
    """The budget: this share of the events seen was bad, and this much of it is left."""
    errors, total = stepped = _stepped(slo, told)
    burn = Fraction(*(stepped if slo.pairs[0].long in slo.windows.summed else told.grown[-1][1:])) / slo.budget
    left = 1 - errors / total / slo.budget
    lasts = max(left, Fraction(0)) * slo.period.seconds / burn
    values = (errors, total, errors / total, left, lasts)
    for name, value in ((naming.SLO_BURN_RATE, burn), *zip(naming.SLO_PERIOD, values, strict=True)):
        yield TOLD, ((name, value),)


def _alerts(slo: Slo, cast: Cast) -> Iterator[tuple[int, str, tuple[tuple[str, str], ...]]]:
    """Few errors, none, idleness and restarts alert nobody; in the outage every alert is at least pending."""
    state = f'ALERTS{{alertname="{ALERT}",slo={quote(cast.id)}}}'
    if form(slo).tells_bad and slo.idle != "bad":
        for sample in (BEGUN, TOLD, ENDED, IDLE, RESTARTED):
            yield sample, state, ()
    yield OUTAGE, f"count({state})", (("{}", str(len(slo.pairs))),)

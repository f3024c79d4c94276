"""The proof of what a ratio counts: its own counters in all that may become of them, sample by sample.

Rates are read where they have been even for a whole window, since only there every Prometheus says the same.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin.lower.burns import ALERT
from tocsin.lower.objective_proof import pace_of
from tocsin.lower.ratio import OWN, Texts, form
from tocsin.lower.ratio_story import ENDED, LAST, OUTAGE, RESTARTED, TOLD, Story, missed_of, story
from tocsin.lower.readings import Values, both, crowd, mine, of_period, off, one_of_each
from tocsin.plan.rules import Reading, RuleTest
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory.slos import Slo
    from tocsin.lower.cast import Cast


def proof(slo: Slo, cast: Cast, is_here: bool) -> RuleTest:
    """The recorded events of every window in each part of the story, and what becomes of the alerts."""
    texts, told, unit = Texts(*cast.texts[:OWN]), story(slo, form(slo)), slo.windows.unit
    me, interval = mine(slo), slo.windows.step
    read: dict[int, list[tuple[str, Fraction]]] = {}
    for sample, values in (*_moments(slo, told), *(_period(slo, told) if is_here else ())):
        read.setdefault(sample, []).extend(values)
    readings = [
        Reading(_seen(slo, sample), f"{off(me, tuple(values))} < bool 1e-9", ((texts.place, "1"),))
        for sample, values in read.items()
    ]
    readings += [Reading(_seen(slo, sample), expr, gives) for sample, expr, gives in _alerts(slo)]
    readings += one_of_each(slo, me, TOLD)
    return RuleTest(
        f"{cast.id}: events that begin, end, stand still, restart and fail",
        interval,
        (*_counters(texts, told), *((one, told.rest) for one in cast.texts[OWN:]), *crowd(slo, OUTAGE)),
        (),
        slo.origin,
        tuple(readings),
        pace_of(unit),
    )


def _seen(slo: Slo, sample: int) -> Duration:
    """When the rules are evaluated first with a sample: at once or half a sample later."""
    pace = pace_of(slo.windows.unit)
    return Duration(-(-sample * slo.windows.step // pace) * pace)


def _counters(texts: Texts, told: Story) -> tuple[tuple[str, str], ...]:
    """Those of the story, and those of a target that is new then: their values are a lifetime's."""
    new = f"_x{ENDED} 1e9x{OUTAGE - ENDED}"
    late = ((texts.late_series, f"_x{ENDED - 1} {number(told.late)}x{OUTAGE - ENDED}"),) if told.late else ()
    return (
        (texts.told_series, told.told),
        (texts.rest_series, told.rest),
        (texts.new_told_series, new),
        (texts.new_rest_series, new),
        *late,
    )


def _moments(slo: Slo, told: Story) -> Iterator[tuple[int, Values]]:
    """The unit window all the time, and how the long ones grow in the begin."""
    unit, sample = slo.windows.unit, slo.windows.step.seconds
    for at, errors, total in told.moments:
        yield at, both(unit, errors / sample, total / sample)
    for window in slo.windows.counted:
        for at, errors, total in told.grown:
            yield at, both(window, errors / window.seconds, total / window.seconds)
    errors, total = _stepped(slo, told)
    for window in slo.windows.summed:
        yield TOLD, both(window, errors / window.seconds, total / window.seconds)


def _stepped(slo: Slo, told: Story) -> tuple[Fraction, Fraction]:
    """The events that the looks at the unit have counted; in those before there is a rate, what is missed."""
    missed = missed_of(slo) * LAST.count(0) * slo.windows.step.seconds
    return told.steps.errors + missed, told.steps.total + missed


def _period(slo: Slo, told: Story) -> Iterator[tuple[int, Values]]:
    """The budget: this share of the events seen was bad, and this much of it is left."""
    errors, total = stepped = _stepped(slo, told)
    now = Fraction(*(stepped if slo.pairs[0].long in slo.windows.summed else told.grown[-1][1:]))
    for one in of_period(slo, errors, total, now):
        yield TOLD, (one,)


def is_calm(slo: Slo) -> bool:
    """Whether nobody is alerted before the outage: events that nothing tells of are good, and missing ones not bad."""
    return form(slo).tells_bad and slo.idle != "bad"


def _alerts(slo: Slo) -> Iterator[tuple[int, str, tuple[tuple[str, str], ...]]]:
    """Few errors, none, idleness and restarts never alert anybody; in the outage every alert is at least pending."""
    state = f'ALERTS{{alertname="{ALERT}",{mine(slo)[1:]}'
    if is_calm(slo):
        yield RESTARTED, f"count_over_time({state}[{Duration(OUTAGE * slo.windows.step)}])", ()
    yield OUTAGE, f"count({state})", (("{}", str(len(slo.pairs))),)

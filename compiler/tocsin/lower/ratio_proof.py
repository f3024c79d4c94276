"""The proof of what a ratio counts: its own counters in all that may become of them, sample by sample.

Rates are read where they have been even for a whole window, since only there every Prometheus says the same.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.burn import LOOKS
from tocsin.lower.burns import ALERT
from tocsin.lower.objective_proof import pace_of
from tocsin.lower.ratio import Texts, form
from tocsin.lower.ratio_story import BEGUN, ENDED, IDLE, OUTAGE, RESTARTED, Story, missed_of, story
from tocsin.plan import Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Slo
    from tocsin.lower.cast import Cast

# The sample at which the rules were last evaluated, at each step until the story has begun. The counters begin with a
# zero, so that no Prometheus guesses at what was before: a unit counts as many samples as there were.
LAST = tuple(sample - sample % 2 for sample in range(BEGUN + 1))


def proof(slo: Slo, cast: Cast, is_here: bool) -> RuleTest:
    """The recorded events of every window in each part of the story, and what becomes of the alerts."""
    texts, told, unit = Texts(*cast.texts), story(slo, form(slo)), slo.windows.unit
    me, interval = f"{{slo={quote(cast.id)}}}", slo.windows.step
    values = [*_begun(slo, told), *_moments(slo, told), *(_period(slo, told) if is_here else ())]
    readings = [
        Reading(Duration(sample * interval), f"{_off(me, series)} < bool 1e-9", ((texts.place, "1"),))
        for sample, series in values
    ]
    readings += [Reading(Duration(sample * interval), expr, gives) for sample, expr, gives in _alerts(slo, cast)]
    return RuleTest(
        f"{cast.id}: events that begin, end, stand still, restart and fail",
        interval,
        ((texts.told_series, told.told), (texts.rest_series, told.rest)),
        (),
        slo.origin,
        tuple(readings),
        pace_of(unit),
    )


Values = tuple[tuple[str, Fraction], ...]  # names of recorded series, and what they must be


def _off(me: str, values: Values) -> str:
    """How far recorded series are from these values, relative to them where they are not nought."""
    return " + ".join(
        f"abs({name}{me} / {number(value)} - 1)" if value else f"abs({name}{me})" for name, value in values
    )


def _both(window: Duration, errors: Fraction, total: Fraction) -> Values:
    return (naming.slo_errors(window), errors), (naming.slo_total(window), total)


def _begun(slo: Slo, told: Story) -> Iterator[tuple[int, Values]]:
    """Every window counts what came since the begin, the summed ones what their steps have seen of it."""
    sample = slo.windows.step.seconds
    errors, total = told.begun
    yield BEGUN, _both(slo.windows.unit, errors / sample, total / sample)
    for window in slo.windows.counted:
        share = BEGUN / window.seconds
        yield BEGUN, _both(window, errors * share, total * share)
    errors, total = _seen(slo, told)
    for window in slo.windows.summed:
        yield BEGUN, _both(window, errors / window.seconds, total / window.seconds)


def _seen(slo: Slo, told: Story) -> tuple[Fraction, Fraction]:
    """The events that the steps have counted then, bad ones and all; before the first of them what was missed."""
    share = Fraction(sum(min(sample, LOOKS) for sample in LAST), LOOKS)
    missed = missed_of(slo) * LAST.count(0) * slo.windows.step.seconds
    errors, total = (events * share + missed for events in told.begun)
    return errors, total


def _moments(slo: Slo, told: Story) -> Iterator[tuple[int, Values]]:
    for moment in told.moments:
        yield moment.sample, _both(slo.windows.unit, moment.errors, moment.total)


def _period(slo: Slo, told: Story) -> Iterator[tuple[int, Values]]:
    """The budget, once the story has begun: this share of the events seen was bad, and this much of it is left."""
    errors, total = seen = _seen(slo, told)
    burn = Fraction(*(seen if slo.pairs[0].long in slo.windows.summed else told.begun)) / slo.budget
    left = 1 - errors / total / slo.budget
    lasts = max(left, Fraction(0)) * slo.period.seconds / burn
    values = (errors, total, errors / total, left, lasts)
    yield BEGUN, ((naming.SLO_BURN_RATE, burn), *zip(naming.SLO_PERIOD, values, strict=True))


def _alerts(slo: Slo, cast: Cast) -> Iterator[tuple[int, str, tuple[tuple[str, str], ...]]]:
    """Few errors, none, idleness and restarts alert nobody; in the outage every alert is at least pending."""
    state = f'ALERTS{{alertname="{ALERT}",slo={quote(cast.id)}}}'
    if form(slo).tells_bad and slo.idle != "bad":
        for sample in (BEGUN, ENDED, IDLE, RESTARTED):
            yield sample, state, ()
    yield OUTAGE, f"count({state})", (("{}", str(len(slo.pairs))),)

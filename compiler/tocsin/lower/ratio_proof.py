"""The proof of what a ratio counts: its own counters in all that may become of them, sample by sample.

Rates are read where they have been even for a whole window, since only there every Prometheus says the same.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.examples import labels_for
from tocsin.lower.objective_proof import STEPS_OF_UNIT, pace_of
from tocsin.lower.proofs import series
from tocsin.lower.ratio_story import BEGUN, ENDED, IDLE, OUTAGE, RESTARTED, Shape, Story, story
from tocsin.plan import Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory, Slo

# What the steps of the unit window show when the story has begun: a rate over a whole unit of which four samples of
# five are there, counted once. The counters begin with a zero, so that no Prometheus guesses at what was before.
FIRST_STEP = Fraction(STEPS_OF_UNIT - 1, STEPS_OF_UNIT)


class Cast(NamedTuple):
    """Who plays in the story of a ratio: its two series, and the labels of what is recorded of them."""

    told: str
    rest: str
    recorded: dict[str, str]


def ratio_proof(factory: Factory, slo: Slo, *, is_here: bool) -> RuleTest:
    """The recorded events of every window in each part of the story, and what becomes of the alerts."""
    cast, told = _cast(factory, slo), story(_shape(slo))
    readings = [*_begun(slo, told, cast), *_moments(slo, told, cast), *_alerts(slo)]
    readings += _period(slo, told, cast) if is_here else ()
    return RuleTest(
        f"{slo.id}: events that begin, end, stand still, restart and fail",
        _at(slo, 1),
        ((cast.told, told.told), (cast.rest, told.rest)),
        (),
        slo.origin,
        tuple(readings),
        pace_of(slo),
    )


def _cast(factory: Factory, slo: Slo) -> Cast:
    ratio = slo.indicator
    labels = labels_for([ratio.total, ratio.told], None, slo.by, factory.labels) or {}
    in_total = ratio.told.metric == ratio.total.metric
    others = (labels_for([ratio.total], ratio.told, slo.by, factory.labels) or {}) if in_total else labels
    recorded = {**{label: labels[label] for label in slo.by}, "slo": slo.id}
    told, rest = series(ratio.told.metric or "", labels, "")[0], series(ratio.total.metric or "", others, "")[0]
    return Cast(told, rest, recorded)


def _shape(slo: Slo) -> Shape:
    limits = [pair.threshold(slo.budget) for pair in slo.pairs]
    missed = slo.expected if slo.idle == "bad" and slo.expected else Fraction(0)
    ratio = slo.indicator
    return Shape(
        lowest=min(limits),
        highest=max(limits),
        least=slo.least,
        missed=missed,
        unit=slo.windows.unit,
        tells_bad=ratio.bad is not None,
        in_total=ratio.told.metric == ratio.total.metric,
    )


def _at(slo: Slo, sample: int) -> Duration:
    return Duration(sample * slo.windows.unit // STEPS_OF_UNIT)


def _reads(slo: Slo, sample: int, cast: Cast, *values: tuple[str, Fraction]) -> Reading:
    """That recorded series have these values there, to nine digits, and that there are no others."""
    me = f"{{slo={quote(slo.id)}}}"
    errors = (f"abs({name}{me} / {number(value)} - 1)" if value else f"abs({name}{me})" for name, value in values)
    return Reading(_at(slo, sample), f"{' + '.join(errors)} < bool 1e-9", ((series("", cast.recorded, "")[0], "1"),))


def _both(slo: Slo, sample: int, cast: Cast, window: Duration, errors: Fraction, total: Fraction) -> Reading:
    return _reads(slo, sample, cast, (naming.slo_errors(window), errors), (naming.slo_total(window), total))


def _begun(slo: Slo, told: Story, cast: Cast) -> Iterator[Reading]:
    """Every window counts what came since the begin, the summed ones what their steps have seen of it."""
    sample, unit = slo.windows.unit.seconds / STEPS_OF_UNIT, slo.windows.unit
    errors, total = told.begun
    yield _both(slo, BEGUN, cast, unit, errors / sample, total / sample)
    for window in slo.windows.counted:
        share = BEGUN / window.seconds
        yield _both(slo, BEGUN, cast, window, errors * share, total * share)
    seen = _seen(slo, told)
    for window in slo.windows.summed:
        yield _both(slo, BEGUN, cast, window, *(events / window.seconds for events in seen))


def _seen(slo: Slo, told: Story) -> tuple[Fraction, ...]:
    """The events that the steps have counted then, bad ones and all: of the first step what is missed, if that counts."""
    sample, unit = slo.windows.unit.seconds / STEPS_OF_UNIT, slo.windows.unit.seconds
    return tuple((events / sample * FIRST_STEP + _shape(slo).missed) * unit for events in told.begun)


def _moments(slo: Slo, told: Story, cast: Cast) -> Iterator[Reading]:
    for moment in told.moments:
        yield _both(slo, moment.sample, cast, slo.windows.unit, moment.errors, moment.total)


def _period(slo: Slo, told: Story, cast: Cast) -> Iterator[Reading]:
    """The budget, once the story has begun: this share of the events seen was bad, and this much of it is left."""
    errors, total = seen = _seen(slo, told)
    burn = Fraction(*(seen if slo.pairs[0].long in slo.windows.summed else told.begun)) / slo.budget
    left = 1 - errors / total / slo.budget
    lasts = max(left, Fraction(0)) * slo.period.seconds / burn
    values = (errors, total, errors / total, left, lasts)
    yield _reads(slo, BEGUN, cast, (naming.SLO_BURN_RATE, burn), *zip(naming.SLO_PERIOD, values, strict=True))


def _alerts(slo: Slo) -> Iterator[Reading]:
    """Few errors, none, idleness and restarts alert nobody; in the outage every alert is at least pending."""
    me = f'ALERTS{{alertname="ErrorBudgetBurn",slo={quote(slo.id)}}}'
    if slo.indicator.bad and slo.idle != "bad":
        for sample in (BEGUN, ENDED, IDLE, RESTARTED):
            yield Reading(_at(slo, sample), me, ())
    yield Reading(_at(slo, OUTAGE), f"count({me})", (("{}", str(len(slo.pairs))),))

"""Slowdown: slices in which a job is slower than it was itself, which no fixed limit sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.indicators import BASELINE_UNITS, Slowdown, of_kind
from tocsin.lower import slices
from tocsin.lower.slice_readings import here
from tocsin.units import number

if TYPE_CHECKING:
    from fractions import Fraction

    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.indicators import Slices
    from tocsin.lower.cast import Cast
    from tocsin.lower.events import Events
    from tocsin.units import Duration

# The upper quartile of the past. Pauses and checkpoints only lower what is below it. What is above, a counter that
# begins again with a value and seems to jump, has to last for a quarter of the past; and a job that became slow is
# measured by what it was for three quarters of it.
QUANTILE = "0.75"


class Form(NamedTuple):
    """How much slower than its past is too slow, how long the past is, the grace, and how time is cut."""

    at_most: Fraction
    baseline: Duration
    grace: Duration
    slices: Slices


def form(slo: Slo) -> Form:
    """What of a slowdown shapes its rules and their proof."""
    one = of_kind(slo.indicator, Slowdown)
    return Form(one.at_most, one.baseline, one.grace, one.slices)


def cast(factory: Factory, slo: Slo) -> Cast:
    """Its counter, and the gauge that says when it should rise."""
    one = of_kind(slo.indicator, Slowdown)
    return slices.cast(factory, slo, one.counter, one.expected)


def events(slo: Slo, cast: Cast) -> Events:
    """A slice counts where the job runs and its past is known; the past begins where the grace ends."""
    shape, me, unit = form(slo), here(cast), slo.windows.unit
    by, rate = naming.by(slo.by), naming.SLO_RATE + me
    started = slices.started(cast, shape.slices, shape.grace)
    past = f"{rate}[{shape.baseline}:{unit}]"
    baseline = (
        f"quantile_over_time({QUANTILE}, {past})\n"
        f"and count_over_time({past}) >= {BASELINE_UNITS}\n"
        f"and {naming.SLO_RUNNING}{me}"
    )
    before = (
        (naming.SLO_RUNNING, slices.running(slo, cast, shape.slices)),
        (naming.SLO_RATE, f"{slices.rate(slo, cast, unit)}\nand on ({by}) ({started})"),
        (naming.SLO_BASELINE, baseline),
    )
    total = f"{started}\nand on ({by}) {naming.SLO_BASELINE}{me}"
    least = f"on ({by}) {number(1 - shape.at_most)} * {naming.SLO_BASELINE}{me}"
    bad = slices.unless_fast(slo, cast, shape.slices, least)
    return slices.added_up(shape.slices, cast, total, bad, *before)

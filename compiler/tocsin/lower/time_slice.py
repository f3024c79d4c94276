"""Time slices and throughput: slices in which a counter rises fast enough, and those in which it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.indicators import TimeSlice, of_kind
from tocsin.lower import slices
from tocsin.lower.ratio import KNOWN
from tocsin.units import number

if TYPE_CHECKING:
    from fractions import Fraction

    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.indicators import Slices
    from tocsin.lower.cast import Cast
    from tocsin.lower.events import Events
    from tocsin.units import Duration


class Form(NamedTuple):
    """The limit, whether something says when it holds, from when on, and how time is cut."""

    at_least: Fraction
    waits: bool
    grace: Duration
    slices: Slices


def form(slo: Slo) -> Form:
    """What of a time slice shapes its rules and their proof."""
    one = of_kind(slo.indicator, TimeSlice)
    return Form(one.at_least, one.expected is not None, one.grace, one.slices)


def cast(factory: Factory, slo: Slo) -> Cast:
    """Its counter, and the gauge that says when it should rise."""
    one = of_kind(slo.indicator, TimeSlice)
    return slices.cast(factory, slo, one.counter, one.expected)


def events(slo: Slo, cast: Cast) -> Events:
    """A slice counts where something should run; where it is not seen to be fast, it is bad."""
    shape = form(slo)
    bad = slices.unless_fast(slo, cast, shape.slices, number(shape.at_least))
    if shape.waits:
        running = (naming.SLO_RUNNING, slices.running(slo, cast, shape.slices))
        total = slices.started(cast, shape.slices, shape.grace)
        return slices.added_up(shape.slices, cast, total, bad, running)
    return slices.added_up(shape.slices, cast, _always(slo, cast, shape.slices), bad)


def _always(slo: Slo, cast: Cast, cut: Slices) -> str:
    """1 where the counter is seen, from its second slice on; with `no_traffic: bad`, for an hour after it was."""
    by, counter = naming.by(slo.by), slices.Texts(*cast.texts).counter
    seen = f"rate({counter}[{cut.look}]) and {counter} offset {cut.look}"
    if slo.idle == "bad":
        seen = f"last_over_time({counter}[{KNOWN}] offset {cut.look})"
    return f"1 + 0 * max by ({by}) ({seen})"

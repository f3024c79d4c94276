"""A composite: several SLOs as one, whose slices are bad where any of its parts fails more than it allows itself.

That is OpenSLO's budgeting by time slices, in which a slice is good where its own target is met, with each part's
objective as the target. Shares of several SLOs are not added up: events of one are no events of another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.indicators import Composite, of_kind
from tocsin.lower import slice_readings
from tocsin.lower.cast import Cast
from tocsin.lower.proofs import series
from tocsin.lower.slice_readings import here
from tocsin.lower.slices import added_up
from tocsin.plan.rules import RuleTest
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.indicators import Slices
    from tocsin.lower.events import Events

TOTAL = 64  # events per second of a part in the proof


class Form(NamedTuple):
    """The unit windows of the parts, the shares that may be bad in them, and how time is cut."""

    units: tuple[Duration, ...]
    budgets: tuple[Fraction, ...]
    slices: Slices


def form(slo: Slo) -> Form:
    """What of it shapes its rules and their proof."""
    one = of_kind(slo.indicator, Composite)
    return Form(tuple(part.unit for part in one.parts), tuple(part.budget for part in one.parts), one.slices)


def cast(_factory: Factory, slo: Slo) -> Cast:
    """What selects each part, the labels of what it records in the proof, and at last a place."""
    one, texts = of_kind(slo.indicator, Composite), []
    for part in one.parts:
        texts.append(f"{{slo={quote(part.id)}}}")
        texts.append(series("", {**{label: label for label in part.by}, "slo": part.id}, "")[0])
    return Cast(slo.id, (*texts, series("", {**{label: label for label in slo.by}, "slo": slo.id}, "")[0]))


def events(slo: Slo, cast: Cast) -> Events:
    """A slice counts where any part has events. Parts are read as their own groups recorded them last."""
    shape, by = form(slo), naming.by(slo.by)
    parts = [*zip(shape.units, shape.budgets, cast.texts[:-1:2], strict=True)]
    seen = "\n  or ".join(f"{naming.slo_total(unit)}{part} > 0" for unit, _, part in parts)
    failing = "\n  or ".join(
        f"{naming.slo_errors(unit)}{part} > {number(budget)} * {naming.slo_total(unit)}{part}"
        for unit, budget, part in parts
    )
    name = naming.SLO_SLICES + here(cast)
    total = f"1 + 0 * max by ({by}) (\n  {seen}\n)"
    return added_up(shape.slices, cast, total, f"{name} and on ({by}) (\n  {failing}\n)\nor 0 * {name}")


def proof(slo: Slo, cast: Cast, _is_here: bool) -> RuleTest:
    """Each part is there alone; all fail as much as they may, in turn a little more, then all of them; and all end."""
    shape, every, place = form(slo), form(slo).slices.every, cast.texts[-1]
    unit, count = -(-slo.windows.unit // every) + 2, len(shape.units)
    before = unit + 2 * count
    outage = slice_readings.outage_for(slo, every, before)
    past = slice_readings.Past(every, before - count - 1, before + outage - 1, before + outage, outage)
    readings = [*slice_readings.units(slo, cast, place, past), *slice_readings.alerts(slo, cast, past)]
    alone, over = range(count), range(before - count, before)
    for at, value in (*((at, 0) for at in (*alone, past.healthy)), *((at, 1) for at in (*over, past.outage))):
        readings += slice_readings.slices(cast, Duration(at * every), place, 1, value)
    gone = Duration((past.outage + unit) * every)
    readings += [*slice_readings.slices(cast, gone, place, 0, 0), *slice_readings.over(slo, cast, gone)]
    title = f"{cast.id}: parts that fail as much as they may, and more"
    fed = (*_fed(shape, cast, unit, outage), *slice_readings.crowd(cast, past.outage + unit))
    return RuleTest(title, every, fed, (), slo.origin, tuple(readings), every)


def _fed(shape: Form, cast: Cast, unit: int, outage: int) -> Iterator[tuple[str, str]]:
    """What each part records: within its budget but at its own turn, and in the outage."""
    count = len(shape.units)
    places = cast.texts[1:-1:2]
    for turn, (window, budget, place) in enumerate(zip(shape.units, shape.budgets, places, strict=True)):
        good, bad = (number(TOTAL * budget * share / 100) for share in (95, 105))
        turns = " ".join(bad if one == turn else good for one in range(count))
        alone = " ".join(good if one == turn else "stale" if one == turn + 1 else "_" for one in range(count))
        yield naming.slo_errors(window) + place, f"{alone} {good}x{unit - 1} {turns} {bad}x{outage - 1} stale"
        seen = alone.replace(good, f"{TOTAL}")
        yield naming.slo_total(window) + place, f"{seen} {TOTAL}x{unit + count + outage - 1} stale"
    for window in sorted({*shape.units}):
        yield f"{naming.slo_total(window)}{{slo={quote(f'not-{cast.id}')}}}", f"{TOTAL}x{unit + count + outage}"

"""Utilisation: boards that are busy enough, each counted by itself. A mean over a fleet hides those that idle."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.examples import labels_for
from tocsin.indicators import Utilisation, of_kind
from tocsin.lower import slice_readings
from tocsin.lower.cast import Cast
from tocsin.lower.proofs import series
from tocsin.lower.slice_readings import here
from tocsin.lower.slices import added_up
from tocsin.plan.rules import RuleTest
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from fractions import Fraction

    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.indicators import Slices
    from tocsin.lower.events import Events

OTHER = "other"  # what makes a board another one, or its copy, in a test


class Form(NamedTuple):
    """The limit, how time is cut, and the label by which a second board, and by which a copy, can be told apart."""

    at_least: Fraction
    slices: Slices
    second: str
    copied: str


class Texts(NamedTuple):
    """The gauge, series of a board, of its copy, of a second board, and a place."""

    gauge: str
    board: str
    copy: str
    second: str
    place: str


def form(slo: Slo) -> Form:
    """What of it shapes its rules and their proof."""
    one = of_kind(slo.indicator, Utilisation)
    fixed = {*slo.by, *(matcher.label for matcher in one.gauge.matchers)}
    second = next((label for label in ("gpu_uuid", "node") if label not in fixed), "")
    copied = next((label for label in ("job_id", "gpu_i_id", "instance") if label not in fixed), "")
    return Form(one.at_least, one.slices, second, copied)


def cast(factory: Factory, slo: Slo) -> Cast:
    """The gauge, and boards that it shows."""
    one, shape = of_kind(slo.indicator, Utilisation), form(slo)
    labels = labels_for([one.gauge], None, (*naming.GPU, *slo.by), factory.labels) or {}
    recorded = {**{label: labels.get(label, "") for label in slo.by}, "slo": slo.id}
    others = [{**labels, label: OTHER} if label else {} for label in (shape.copied, shape.second)]
    board, copied, second = (series(one.gauge.metric or "", own, "")[0] for own in (labels, *others))
    return Cast(slo.id, Texts(one.gauge.render(), board, copied, second, series("", recorded, "")[0]))


def events(slo: Slo, cast: Cast) -> Events:
    """A board is one, whatever copies of its series there are for its jobs and instances; it is busy over a unit."""
    shape, by = form(slo), naming.by(slo.by)
    boards = naming.by(tuple(dict.fromkeys((*naming.GPU, *slo.by))))
    board = f"max by ({boards}) (avg_over_time({Texts(*cast.texts).gauge}[{shape.slices.look}]))"
    total = f"count by ({by}) ({board})"
    idle = f"count by ({by}) ({board} < {number(shape.at_least)})"
    bad = f"{idle}\nor on ({by}) 0 * {naming.SLO_SLICES}{here(cast)}"
    return added_up(shape.slices, cast, total, bad)


def proof(slo: Slo, cast: Cast, _is_here: bool) -> RuleTest:
    """Boards that are all busy, one of which then idles while their mean is high, that all idle, and end."""
    shape, texts, every = form(slo), Texts(*cast.texts), form(slo).slices.every
    unit, each = -(-slo.windows.unit // every) + 2, 2 if shape.second else 1
    outage = slice_readings.outage_for(slo, every, 2 * unit, each)
    busy, idle, full = (number(shape.at_least * share / 100) for share in (105, 95, 200))
    board = f"{busy}x{unit - 1} {idle}x{unit + outage - 1} stale"
    second = f"{busy}x{unit - 1} {full}x{unit - 1} {idle}x{outage - 1} stale"
    shown = [(texts.board, board), *([(texts.copy, board)] if shape.copied else [])]
    shown += [(texts.second, second)] if shape.second else []
    ends = [unit - 1, 2 * unit - 1, 2 * unit + outage - 1]
    past = slice_readings.Past(every, ends[0], ends[2], each * (2 * unit + outage), each * (outage - unit), each)
    readings = [*slice_readings.units(slo, cast, texts.place, past), *slice_readings.alerts(slo, cast, past)]
    # A board that begins to idle is busy in the mean of half a unit; one that is gone is there for the rest of it.
    begun, rest = ends[0] + max((unit - 2) * 2 // 5, 1), ends[2] + (unit - 2) * 3 // 5
    for at, bad in ((ends[0], 0), (begun, 0), (ends[1], 1), (ends[2], each), (rest, each)):
        readings += slice_readings.slices(cast, Duration(at * every), texts.place, each, bad)
    gone = Duration((ends[2] + 2 * unit) * every)
    readings += [*slice_readings.slices(cast, gone, texts.place, 0, 0), *slice_readings.over(slo, cast, gone)]
    title = f"{cast.id}: boards that are busy, idle and gone"
    return RuleTest(
        title, every, (*shown, *slice_readings.crowd(cast, ends[2] + 2 * unit)), (), slo.origin, tuple(readings), every
    )

"""The proof of periods that a tier looks back on: one world for all SLOs whose periods and windows are as long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.cast import BLANK
from tocsin.lower.proofs import series
from tocsin.lower.readings import off
from tocsin.lower.window_proof import TOTAL, Past, budget_fed, budget_left, exact, past_of, placed, sampled, step_of
from tocsin.plan.rules import Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.factory.slos import Slo


def period_proofs(tier: str, slos: Sequence[Slo]) -> Iterator[tuple[Slo, RuleTest]]:
    """A test for all SLOs of a shape, with the first of them: the past of each, and one of another SLO beside it."""
    alike: dict[tuple[Duration, ...], list[Slo]] = {}
    for slo in slos:
        alike.setdefault((slo.period, slo.windows.unit, slo.windows.step), []).append(slo)
    for same in alike.values():
        yield same[0], _proof(tier, same)


def _proof(tier: str, slos: Sequence[Slo]) -> RuleTest:
    period, step = slos[0].period, step_of(slos[0], slos[0].period)
    past = past_of([period], step)
    oldest = past[-1][0]
    end = Duration(oldest * step)
    inputs: list[tuple[str, str]] = []
    readings: list[Reading] = []
    made: dict[object, tuple[list[tuple[str, str]], list[Reading]]] = {}
    for slo in slos:
        shape = (slo.by, slo.objective, slo.idle)
        form = made.get(shape)
        if form is None:
            blank = slo._replace(id=BLANK)
            read = [Reading(end, expr, samples) for expr, samples in _read(blank, past, period // step)]
            form = made[shape] = [*_fed(blank, past)], read
        fed, read = form
        inputs += [(one.replace(BLANK, slo.id), values) for one, values in fed]
        readings += [_named(one, slo.id) for one in read]
    title = f"{tier}: periods of {period} that see errors of different ages"
    return RuleTest(title, step, tuple(inputs), (), slos[0].origin, tuple(readings), end)


def _named(one: Reading, id_: str) -> Reading:
    """A reading of nobody as that of an SLO."""
    samples = tuple((labels.replace(BLANK, id_), value) for labels, value in one.samples)
    return Reading(one.at, one.expr.replace(BLANK, id_), samples)


def _fed(slo: Slo, past: Past) -> Iterator[tuple[str, str]]:
    """The recorded events of the unit window, the burn rate of now, and a place at which nothing comes."""
    errors, total = naming.slo_errors(slo.windows.unit), naming.slo_total(slo.windows.unit)
    for whose in (slo.id, f"not-{slo.id}"):
        labels = {**placed(slo), "slo": whose}
        yield series(errors, labels, sampled(past))
        yield series(total, labels, sampled([(age, TOTAL) for age, _ in past]))
    yield from budget_fed(slo, past[-1][0])
    if slo.by:
        idle = {**placed(slo, "-idle"), "slo": slo.id}
        nothing = sampled([(age, 0) for age, _ in past])
        yield from (series(name, idle, nothing) for name in (errors, total))


def _read(slo: Slo, past: Past, age: int) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    me = f"{{slo={quote(slo.id)}}}"
    place, idle = (series("", {**placed(slo, suffix), "slo": slo.id}, "")[0] for suffix in ("", "-idle"))
    # Nothing came there: that is good, or not known.
    nothing = ((idle, "0"),) if slo.by and slo.idle == "good" else ()
    yield exact(f"{naming.SLO_PERIOD_RATIO}{me}", past, age), ((place, "1"), *nothing)
    yield f"{off(me, budget_left(slo, past, age))} < bool 1e-9", ((place, "1"),)

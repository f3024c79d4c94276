"""The proof of an SLO's long windows: that each sums up so much of the past, and no more."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.proofs import series
from tocsin.lower.readings import off
from tocsin.plan.rules import Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tocsin.factory.slos import Slo
    from tocsin.lower.readings import Values

STEPS = 12  # of the test in the shortest of the windows
SEEN = 3  # samples of one age: promtool loads at most 10,000 for an expression, and five looks see each
TOTAL = 4096
BURN = 2  # the rate at which the budget burns, as it is fed

Past = tuple[tuple[int, int], ...]  # the age of each sample, in steps of the test, and its errors


def window_proofs(slo: Slo, is_here: bool) -> Iterator[RuleTest]:
    """A past that was the worse the longer ago, told apart by each window; nothing where none is long.

    Another SLO has the same past: its series must not be taken for ours. promtool has to make blocks of so many days,
    and how long a window is does not depend on what its SLO counts: one SLO of a shape proves it for all.
    """
    lengths = [*slo.windows.summed, *([slo.period] if is_here else [])]
    if not lengths:
        return
    unit, step = slo.windows.unit, step_of(slo, min(lengths))
    past = past_of(lengths, step)
    oldest = past[-1][0]
    inputs = []
    for whose in (slo.id, f"not-{slo.id}"):
        labels = {**placed(slo), "slo": whose}
        inputs.append(series(naming.slo_errors(unit), labels, sampled(past)))
        inputs.append(series(naming.slo_total(unit), labels, sampled([(age, TOTAL) for age, _ in past])))
    inputs += budget_fed(slo, oldest, _burn(slo)) if is_here else ()
    place = series("", {**placed(slo), "slo": slo.id}, "")[0]
    end = Duration(oldest * step)
    yield RuleTest(
        f"{slo.id}: windows that see errors of different ages",
        step,
        tuple(inputs),
        (),
        slo.origin,
        tuple(Reading(end, expr, ((place, "1"),)) for expr in _exprs(slo, past, step, is_here)),
        end,
        once=True,
    )


def _burn(slo: Slo) -> int | None:
    """The rate at which the budget burns, where it does not follow from the past."""
    return None if slo.pairs[0].long in slo.windows.summed else BURN


def step_of(slo: Slo, shortest: Duration) -> Duration:
    """The step of a test whose shortest window is so long: so many looks that the window has its steps."""
    look = slo.windows.step
    return Duration(max(shortest // STEPS // look, 1) * look)


def past_of(lengths: Sequence[Duration], step: Duration) -> Past:
    """Half of each window, all of it, and twice as much: between two such ages errors are alike, the older the more.

    No sample lies at such an age itself: Prometheus 2.x counts what is at the begin of a window, 3.x does not.
    """
    last = max(lengths) * 3 // 2
    ages = sorted({min(length * part // 2, last) // step for length in lengths for part in (1, 2, 4)})
    past = []
    for index, (before, age) in enumerate(zip([0, *ages], ages, strict=False)):
        stride = max((age - before) // SEEN, 2)
        past += [(one, 2**index) for one in range(before + 1, age, stride)]
    return tuple(past)


def sampled(past: Iterable[tuple[int, int]]) -> str:
    """Samples by age in promtool's notation; each ends with the next step, and so is seen as long as all others."""
    out, at = [], None
    for age, value in sorted(past, reverse=True):
        gap = 0 if at is None else at - age - 1
        out += ["stale"] * (gap > 0) + [f"_x{gap - 1}"] * (gap > 1) + [str(value)]
        at = age
    return " ".join([*out, "stale"])


def _exprs(slo: Slo, past: Past, step: Duration, is_here: bool) -> Iterator[str]:
    me = f"{{slo={quote(slo.id)}}}"
    for window in slo.windows.summed:
        yield exact(f"{naming.slo_errors(window)}{me} / {naming.slo_total(window)}{me}", past, window // step)
    if is_here:
        yield exact(f"{naming.SLO_PERIOD_RATIO}{me}", past, slo.period // step)
        yield f"{off(me, budget_left(slo, past, slo.period // step, _burn(slo)))} < bool 1e-9"


def exact(ratio: str, past: Past, age: int) -> str:
    """That a ratio is what the samples up to an age give, and not what fewer or more of them would."""
    seen = [errors for at, errors in past if at < age]
    return f"abs({ratio} / {number(Fraction(sum(seen), len(seen) * TOTAL))} - 1) < bool 1e-9"


def budget_fed(slo: Slo, oldest: int, burn: int | None = BURN) -> Iterator[tuple[str, str]]:
    """How fast the budget burns now, so many samples after the oldest; and the budget of another SLO beside it."""
    for whose in (slo.id, f"not-{slo.id}") if burn else ():
        yield series(naming.SLO_BURN_RATE, {**placed(slo), "slo": whose}, f"_x{oldest} {burn}")
    for name in naming.SLO_PERIOD[:-1]:
        yield series(name, {**placed(slo), "slo": f"not-{slo.id}"}, f"_x{oldest} 1")


def budget_left(slo: Slo, past: Past, age: int, burn: int | None = BURN) -> Values:
    """The share of the budget that the samples up to an age have left, and for how many seconds at the rate of now."""
    seen = [errors for at, errors in past if at < age]
    left = 1 - Fraction(sum(seen), len(seen) * TOTAL) / slo.budget
    if not burn:
        return ((naming.SLO_BUDGET_LEFT, left),)
    return (naming.SLO_BUDGET_LEFT, left), (naming.SLO_EXHAUSTION, max(left, Fraction(0)) * slo.period.seconds / burn)


def placed(slo: Slo, suffix: str = "") -> dict[str, str]:
    """The labels of a place of the SLO."""
    return {label: label + suffix for label in slo.by}

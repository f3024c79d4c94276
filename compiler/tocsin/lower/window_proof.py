"""The proof of an SLO's long windows: that each sums up so much of the past, and no more."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.proofs import series
from tocsin.plan import Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Slo

SAMPLES = 12  # in the shortest of the windows
TOTAL = 4096
# Prometheus 2.x counts the sample at the very begin of a window, 3.x does not: one of twelve. Half the window, or twice
# as much, differs by more.
NEAR = "0.15"


def window_proof(slo: Slo, *, is_here: bool) -> tuple[RuleTest, ...]:
    """A test in which the past was the worse the longer ago, told apart by each window; none where none is long."""
    lengths = [*slo.windows.summed, *([slo.period] if is_here else [])]
    if not lengths:
        return ()
    step = _step(slo, min(lengths))
    ages = _ages(lengths, step)
    end = Duration(ages[-1] * step)
    errors = " ".join(f"{2**number_}x{count - 1}" for number_, count in _rings(ages))
    inputs = []
    for whose in (slo.id, f"not-{slo.id}"):  # another SLO's series must not be taken for ours
        labels = {**{label: label for label in slo.by}, "slo": whose}
        inputs.append(series(naming.slo_errors(slo.windows.unit), labels, errors))
        inputs.append(series(naming.slo_total(slo.windows.unit), labels, f"{TOTAL}x{ages[-1]}"))
    readings = [_reading(slo, window, ages, step, end) for window in slo.windows.summed]
    readings += [_reading(slo, slo.period, ages, step, end, naming.SLO_PERIOD_RATIO)] if is_here else []
    name = f"{slo.id}: windows that see errors of different ages"
    return (RuleTest(name, step, tuple(inputs), (), slo.origin, tuple(readings), end),)


def _step(slo: Slo, shortest: Duration) -> Duration:
    """The distance of the samples: whole units, so that each is seen by a step."""
    unit = slo.windows.unit
    return Duration(max(shortest // SAMPLES // unit, 1) * unit)


def _ages(lengths: list[Duration], step: Duration) -> list[int]:
    """Up to which ages, in samples, errors are alike: half of each window, all of it, and twice as much."""
    last = max(lengths) * 3 // 2
    ages = {min(length * part // 2, last) // step for length in lengths for part in (1, 2, 4)}
    return sorted(ages)


def _rings(ages: list[int]) -> Iterator[tuple[int, int]]:
    """The oldest first, how bad they were, and how many samples."""
    before = [0, *ages[:-1]]
    for index in range(len(ages) - 1, -1, -1):
        yield index, ages[index] - before[index]
    yield 0, 1


def _reading(slo: Slo, window: Duration, ages: list[int], step: Duration, end: Duration, ratio: str = "") -> Reading:
    me = f"{{slo={quote(slo.id)}}}"
    ratio = f"{ratio}{me}" if ratio else f"{naming.slo_errors(window)}{me} / {naming.slo_total(window)}{me}"
    count = window // step
    before = [0, *ages[:-1]]
    seen = sum(
        2**index * max(min(age, count) - start, 0) for index, (start, age) in enumerate(zip(before, ages, strict=True))
    )
    expected = Fraction(seen, count * TOTAL)
    labels = {**{label: label for label in slo.by}, "slo": slo.id}
    expr = f"abs({ratio} / {number(expected)} - 1) < bool {NEAR}"
    return Reading(end, expr, ((series("", labels, "")[0], "1"),))

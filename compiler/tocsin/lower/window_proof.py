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
SCALE = 400  # what a test's longest window is to its shortest, at most: promtool reads 10 000 samples of a series
# Prometheus 2.x counts the sample at the very begin of a window, 3.x does not: one of twelve. Half the window, or twice
# as much, differs by more.
NEAR = "0.15"


def window_proofs(slo: Slo, is_here: bool) -> Iterator[RuleTest]:
    """A past that was the worse the longer ago, told apart by each window: one for windows of like lengths."""
    lengths = sorted({*slo.windows.summed, *([slo.period] if is_here else [])})
    while lengths:
        alike = [one for one in lengths if one <= lengths[0] * SCALE]
        yield _proof(slo, alike, is_here and slo.period in alike)
        lengths = lengths[len(alike) :]


def _proof(slo: Slo, lengths: list[Duration], is_here: bool) -> RuleTest:
    """The windows of these lengths. Another SLO has the same past: its series must not be taken for ours."""
    unit = slo.windows.unit
    step = Duration(max(min(lengths) // SAMPLES // unit, 1) * unit)  # whole units, so that a step sees each sample
    last = max(lengths) * 3 // 2
    # Half of each window, all of it, and twice as much: errors are alike between two such ages.
    ages = sorted({min(length * part // 2, last) // step for length in lengths for part in (1, 2, 4)})
    rings = [(age - before, 2**index) for index, (before, age) in enumerate(zip([0, *ages], ages, strict=False))]
    errors = " ".join(f"{bad}x{count - 1}" for count, bad in reversed(rings))
    inputs = []
    for whose in (slo.id, f"not-{slo.id}"):
        labels = {**{label: label for label in slo.by}, "slo": whose}
        inputs.append(series(naming.slo_errors(unit), labels, f"{errors} 1"))
        inputs.append(series(naming.slo_total(unit), labels, f"{TOTAL}x{ages[-1]}"))
    place = series("", {**{label: label for label in slo.by}, "slo": slo.id}, "")[0]
    end = Duration(ages[-1] * step)
    return RuleTest(
        f"{slo.id}: windows that see errors of different ages",
        step,
        tuple(inputs),
        (),
        slo.origin,
        tuple(Reading(end, expr, ((place, "1"),)) for expr in _exprs(slo, lengths, rings, step, is_here)),
        end,
    )


def _exprs(
    slo: Slo, lengths: list[Duration], rings: list[tuple[int, int]], step: Duration, is_here: bool
) -> Iterator[str]:
    me = f"{{slo={quote(slo.id)}}}"
    for window in (one for one in slo.windows.summed if one in lengths):
        yield _near(f"{naming.slo_errors(window)}{me} / {naming.slo_total(window)}{me}", rings, window // step)
    if is_here:
        yield _near(f"{naming.SLO_PERIOD_RATIO}{me}", rings, slo.period // step)


def _near(ratio: str, rings: list[tuple[int, int]], samples: int) -> str:
    """That a ratio is what the youngest samples give, and not what fewer or more of them would."""
    seen, left = 0, samples
    for count, bad in rings:
        seen += min(count, left) * bad
        left -= min(count, left)
    return f"abs({ratio} / {number(Fraction(seen, samples * TOTAL))} - 1) < bool {NEAR}"

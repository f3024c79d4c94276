"""The proof of an SLO's long windows: that each sums up so much of the past, and no more."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower.proofs import series
from tocsin.lower.shape import ID, ME
from tocsin.plan import Reading, RuleTest
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Slo
    from tocsin.lower.shape import Shape

SAMPLES = 12  # in the shortest of the windows
TOTAL = 4096
# Prometheus 2.x counts the sample at the very begin of a window, 3.x does not: one of twelve. Half the window, or twice
# as much, differs by more.
NEAR = "0.15"


class WindowStory(NamedTuple):
    """The proof in numbers: a sample each `step`, and at the `end` expressions that must give 1."""

    step: Duration
    end: Duration
    errors: str
    total: str
    exprs: tuple[str, ...]


def window_story(shape: Shape) -> WindowStory | None:
    """A past that was the worse the longer ago, told apart by each window; nothing where none is long."""
    lengths = [*shape.windows.summed, *([shape.period] if shape.is_here else [])]
    if not lengths:
        return None
    unit = shape.windows.unit
    step = Duration(max(min(lengths) // SAMPLES // unit, 1) * unit)  # whole units, so that a step sees each sample
    last = max(lengths) * 3 // 2
    # Half of each window, all of it, and twice as much: errors are alike between two such ages.
    ages = sorted({min(length * part // 2, last) // step for length in lengths for part in (1, 2, 4)})
    rings = [(age - before, 2**index) for index, (before, age) in enumerate(zip([0, *ages], ages, strict=False))]
    errors = " ".join(f"{bad}x{count - 1}" for count, bad in reversed(rings))
    return WindowStory(
        step, Duration(ages[-1] * step), f"{errors} 1", f"{TOTAL}x{ages[-1]}", tuple(_exprs(shape, rings, step))
    )


def _exprs(shape: Shape, rings: list[tuple[int, int]], step: Duration) -> Iterator[str]:
    for window in shape.windows.summed:
        yield _near(f"{naming.slo_errors(window)}{ME} / {naming.slo_total(window)}{ME}", rings, window // step)
    if shape.is_here:
        yield _near(f"{naming.SLO_PERIOD_RATIO}{ME}", rings, shape.period // step)


def _near(ratio: str, rings: list[tuple[int, int]], samples: int) -> str:
    """That a ratio is what the youngest samples give, and not what fewer or more of them would."""
    seen, left = 0, samples
    for count, bad in rings:
        seen += min(count, left) * bad
        left -= min(count, left)
    return f"abs({ratio} / {number(Fraction(seen, samples * TOTAL))} - 1) < bool {NEAR}"


def window_proof(slo: Slo, story: WindowStory, id_: str) -> RuleTest:
    """The story, told with the SLO's own series, beside another SLO's, which must not be taken for them."""
    inputs = []
    unit = slo.windows.unit
    for whose in (slo.id, f"not-{slo.id}"):
        labels = {**{label: label for label in slo.by}, "slo": whose}
        inputs.append(series(naming.slo_errors(unit), labels, story.errors))
        inputs.append(series(naming.slo_total(unit), labels, story.total))
    place = series("", {**{label: label for label in slo.by}, "slo": slo.id}, "")[0]
    return RuleTest(
        f"{slo.id}: windows that see errors of different ages",
        story.step,
        tuple(inputs),
        (),
        slo.origin,
        tuple(Reading(story.end, expr.replace(ID, id_), ((place, "1"),)) for expr in story.exprs),
        story.end,
    )

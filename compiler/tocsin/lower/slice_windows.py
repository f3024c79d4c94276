"""The proof of windows that add up slices of time: that each adds up so much of the past, and no more."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.proofs import series
from tocsin.plan.rules import Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.factory.slos import Slo
    from tocsin.lower.cast import Cast

SAMPLES = 12  # in the shortest of the windows
TOTAL = 4096
# Prometheus 2.x counts the sample at the very begin of a window, 3.x does not: one of twelve. Half the window, or twice
# as much, differs by more.
NEAR = "0.15"


def windows_proof(slo: Slo, _cast: Cast) -> RuleTest | None:
    """The same past of the windows that add up slices of time; nothing where there is none beside the unit."""
    if not slo.windows.counted:
        return None
    exprs = _ratios(slo, slo.windows.counted)
    step = Duration(min(exprs) // (2 * SAMPLES))
    title = f"{slo.id}: windows that see slices of different ages"
    # A rule that sees a slice tells whether it is bad, which is fed: it must see none when it is evaluated.
    return _aged(slo, title, (naming.SLO_BAD_SLICES, naming.SLO_SLICES), step, exprs, seen=False)


def _me(slo: Slo) -> str:
    return f"{{slo={quote(slo.id)}}}"


def _ratios(slo: Slo, windows: Iterable[Duration]) -> dict[Duration, str]:
    return {one: f"{naming.slo_errors(one)}{_me(slo)} / {naming.slo_total(one)}{_me(slo)}" for one in windows}


def _aged(
    slo: Slo, title: str, fed: tuple[str, str], step: Duration, exprs: dict[Duration, str], *, seen: bool
) -> RuleTest:
    """Errors and totals that are fed as recorded, and what each window makes of them.

    The first and the last of them are there where they may be `seen` by the rules. Another SLO has the same past: its
    series must not be taken for ours.
    """
    last = max(exprs) * 3 // 2
    # Half of each window, all of it, and twice as much: errors are alike between two such ages.
    ages = sorted({min(length * part // 2, last) // step for length in exprs for part in (1, 2, 4)})
    rings = [(age - before, 2**index) for index, (before, age) in enumerate(zip([0, *ages], ages, strict=False))]
    oldest, bad = rings[-1]
    runs = [(bad, oldest if seen else oldest - 1), *((bad, count) for count, bad in reversed(rings[:-1]))]
    errors = " ".join(f"{bad}x{count - 1}" for bad, count in runs)
    values = f"{errors} 1", f"{TOTAL}x{ages[-1]}"
    if not seen:
        values = f"_ {errors} stale", f"_ {TOTAL}x{ages[-1] - 2} stale"
    inputs = []
    for whose in (slo.id, f"not-{slo.id}"):
        labels = {**{label: label for label in slo.by}, "slo": whose}
        inputs += [series(name, labels, text) for name, text in zip(fed, values, strict=True)]
    place = series("", {**{label: label for label in slo.by}, "slo": slo.id}, "")[0]
    end = Duration(ages[-1] * step)
    return RuleTest(
        title,
        step,
        tuple(inputs),
        (),
        slo.origin,
        tuple(Reading(end, _near(expr, rings, one // step), ((place, "1"),)) for one, expr in exprs.items()),
        end,
    )


def _near(ratio: str, rings: list[tuple[int, int]], samples: int) -> str:
    """That a ratio is what the youngest samples give, and not what fewer or more of them would."""
    seen, left = 0, samples
    for count, bad in rings:
        seen += min(count, left) * bad
        left -= min(count, left)
    return f"abs({ratio} / {number(Fraction(seen, samples * TOTAL))} - 1) < bool {NEAR}"

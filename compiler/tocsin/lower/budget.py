"""What became of an SLO's budget over its whole period, and how long what is left lasts: for dashboards and people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.shape import ME
from tocsin.plan import Record
from tocsin.units import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tocsin.factory import Slo
    from tocsin.lower.shape import Shape
    from tocsin.units import Duration

Texts = tuple[tuple[str, str], ...]  # names of recorded series and their expressions


def described(slo: Slo) -> tuple[Record, Record]:
    """What the SLO promises, and what it is."""
    what = {"slo": slo.id, "owner": slo.owner, "layer": slo.layer, "indicator": slo.kind, "period": str(slo.period)}
    return (
        Record(naming.SLO_OBJECTIVE, f"vector({number(slo.objective)})", {"slo": slo.id}, slo.origin),
        Record(naming.SLO_INFO, "vector(1)", what, slo.origin),
    )


def long_windows(shape: Shape) -> Iterator[tuple[str, str]]:
    """Events per second over the windows that are summed up from steps, each as long as the unit: each counted once."""
    unit = shape.windows.unit
    for window in shape.windows.summed:
        for name in (naming.slo_total, naming.slo_errors):
            per_second = f"{number(unit.seconds)} / {number(window.seconds)}"
            yield name(window), f"{_summed(shape, name, window)} * {per_second}"


def burning(shape: Shape) -> tuple[str, str]:
    """How many times faster than it lasts the budget burns now, over the first alert's long window."""
    window = shape.pairs[0].long
    ratio = _ratio(shape, naming.slo_errors(window) + ME, naming.slo_total(window) + ME)
    return naming.SLO_BURN_RATE, f"({ratio}) / {number(shape.budget)}"


def period(shape: Shape) -> Texts:
    """Events of the period, bad ones and all, their ratio, the share of the budget that is left, and for how long.

    The last is left * P / burn rate (P the period): what is left at the pace of now, nought once it is gone.
    """
    unit = number(shape.windows.unit.seconds)
    errors, total = (f"{_summed(shape, name, shape.period)} * {unit}" for name in (naming.slo_errors, naming.slo_total))
    ratio = _ratio(shape, naming.SLO_PERIOD_ERRORS + ME, naming.SLO_PERIOD_TOTAL + ME)
    left = f"1 - {naming.SLO_PERIOD_RATIO}{ME} / {number(shape.budget)}"
    lasts = f"clamp_min({naming.SLO_BUDGET_LEFT}{ME}, 0) * {number(shape.period.seconds)}"
    exprs = (errors, total, ratio, left, f"{lasts} / ({naming.SLO_BURN_RATE}{ME} > 0)")
    return tuple(zip(naming.SLO_PERIOD, exprs, strict=True))


def _summed(shape: Shape, name: Callable[[Duration], str], window: Duration) -> str:
    return f"sum_over_time({name(shape.windows.unit)}{ME}[{window}:{shape.windows.unit}])"


def _ratio(shape: Shape, errors: str, total: str) -> str:
    """Bad events among all; nothing where there are none, or a ratio of nought where no events are good."""
    ratio = f"{errors} / ({total} > 0)"
    return f"{ratio} or 0 * {total}" if shape.idle == "good" else ratio

"""What became of an SLO's budget over its whole period, and how long what is left lasts: for dashboards and people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.plan.rules import Record
from tocsin.units import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tocsin.factory.slos import Slo
    from tocsin.units import Duration

Texts = tuple[tuple[str, str], ...]  # names of recorded series and their expressions


def described(slo: Slo) -> tuple[Record, Record]:
    """What the SLO promises, and what it is."""
    what = {"slo": slo.id, "owner": slo.owner, "layer": slo.layer, "indicator": slo.kind, "period": str(slo.period)}
    return (
        Record(naming.SLO_OBJECTIVE, f"vector({number(slo.objective)})", {"slo": slo.id}, slo.origin),
        Record(naming.SLO_INFO, "vector(1)", what, slo.origin),
    )


def long_windows(slo: Slo, me: str) -> Iterator[tuple[str, str]]:
    """Events per second over the windows that are summed up of what the unit has seen at each step."""
    step = slo.windows.step
    for window in slo.windows.summed:
        for name in (naming.slo_total, naming.slo_errors):
            per_second = f"{number(step.seconds)} / {number(window.seconds)}"
            yield name(window), f"{_summed(slo, me, name, window)} * {per_second}"


def burning(slo: Slo, me: str) -> tuple[str, str]:
    """How many times faster than it lasts the budget burns now, over the first alert's long window."""
    window = slo.pairs[0].long
    ratio = _ratio(slo, naming.slo_errors(window) + me, naming.slo_total(window) + me)
    return naming.SLO_BURN_RATE, f"({ratio}) / {number(slo.budget)}"


def period(slo: Slo, me: str) -> Texts:
    """Events of the period, bad ones and all, their ratio, the share of the budget that is left, and for how long.

    The last is left * P / burn rate (P the period): what is left at the pace of now, nought once it is gone.
    """
    step = number(slo.windows.step.seconds)
    errors, total = (f"{_summed(slo, me, name, slo.period)} * {step}" for name in (naming.slo_errors, naming.slo_total))
    ratio = _ratio(slo, naming.SLO_PERIOD_ERRORS + me, naming.SLO_PERIOD_TOTAL + me)
    left = f"1 - {naming.SLO_PERIOD_RATIO}{me} / {number(slo.budget)}"
    lasts = f"clamp_min({naming.SLO_BUDGET_LEFT}{me}, 0) * {number(slo.period.seconds)}"
    exprs = (errors, total, ratio, left, f"{lasts} / ({naming.SLO_BURN_RATE}{me} > 0)")
    return tuple(zip(naming.SLO_PERIOD, exprs, strict=True))


def _summed(slo: Slo, me: str, name: Callable[[Duration], str], window: Duration) -> str:
    return f"sum_over_time({name(slo.windows.unit)}{me}[{window}:{slo.windows.step}])"


def _ratio(slo: Slo, errors: str, total: str) -> str:
    """Bad events among all; nothing where there are none, or a ratio of nought where no events are good."""
    ratio = f"{errors} / ({total} > 0)"
    return f"{ratio} or 0 * {total}" if slo.idle == "good" else ratio

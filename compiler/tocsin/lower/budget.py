"""What became of an SLO's budget over its whole period, and how long what is left lasts: for dashboards and people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.plan import Record
from tocsin.promql import quote
from tocsin.units import number

if TYPE_CHECKING:
    from tocsin.factory import Slo
    from tocsin.units import Duration


def summed(slo: Slo, name: str, window: Duration) -> str:
    """The events per second of the unit window, over so long, each counted once: a step is as long as the unit."""
    return f"sum_over_time({name}{{slo={quote(slo.id)}}}[{window}:{slo.windows.unit}])"


def described(slo: Slo) -> tuple[Record, ...]:
    """What the SLO promises, and what it is."""
    what = {"slo": slo.id, "owner": slo.owner, "layer": slo.layer, "indicator": slo.kind, "period": str(slo.period)}
    return (
        Record(naming.SLO_OBJECTIVE, f"vector({number(slo.objective)})", {"slo": slo.id}, slo.origin),
        Record(naming.SLO_INFO, "vector(1)", what, slo.origin),
    )


def burning(slo: Slo) -> Record:
    """How many times faster than it lasts the budget burns now, over the first alert's long window."""
    me, window = f"{{slo={quote(slo.id)}}}", slo.pairs[0].long
    ratio = ratio_of(slo, naming.slo_errors(window) + me, naming.slo_total(window) + me)
    return Record(naming.SLO_BURN_RATE, f"({ratio}) / {number(slo.budget)}", {"slo": slo.id}, slo.origin)


def ratio_of(slo: Slo, errors: str, total: str) -> str:
    """Bad events among all; nothing where there are none, or a ratio of nought where no events are good."""
    ratio = f"{errors} / ({total} > 0)"
    return f"{ratio} or 0 * {total}" if slo.idle == "good" else ratio


def period(slo: Slo) -> tuple[Record, ...]:
    """Events of the period, bad ones and all, their ratio, the share of the budget that is left, and for how long.

    The last is left * P / burn rate (P the period): what is left at the pace of now, nought once it is gone.
    """
    me, labels, unit = f"{{slo={quote(slo.id)}}}", {"slo": slo.id}, number(slo.windows.unit.seconds)
    names = (naming.slo_errors(slo.windows.unit), naming.slo_total(slo.windows.unit))
    errors, total = (f"{summed(slo, name, slo.period)} * {unit}" for name in names)
    ratio = ratio_of(slo, naming.SLO_PERIOD_ERRORS + me, naming.SLO_PERIOD_TOTAL + me)
    left = f"1 - {naming.SLO_PERIOD_RATIO}{me} / {number(slo.budget)}"
    lasts = f"clamp_min({naming.SLO_BUDGET_LEFT}{me}, 0) * {number(slo.period.seconds)}"
    exprs = (errors, total, ratio, left, f"{lasts} / ({naming.SLO_BURN_RATE}{me} > 0)")
    return tuple(Record(name, expr, labels, slo.origin) for name, expr in zip(naming.SLO_PERIOD, exprs, strict=True))

"""The alerts on burning budgets: one for each pair of windows, so that who is paged sees which one fired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import links
from tocsin.plan import Alert
from tocsin.promql import quote
from tocsin.units import number, percent

if TYPE_CHECKING:
    from tocsin.burn import Pair
    from tocsin.factory import Factory, Slo

ALERT = "ErrorBudgetBurn"


def burn_alert(factory: Factory, slo: Slo, pair: Pair) -> Alert:
    """Too large a share of the events of both windows is bad, and enough events came for a share to mean something."""
    me, limit, window = f"{{slo={quote(slo.id)}}}", number(pair.threshold(slo.budget)), str(pair.long)
    errors, total = naming.slo_errors(pair.long) + me, naming.slo_total(pair.long) + me
    # The short window is compared without a division: where there is no event, nothing is above nothing.
    expr = (
        f"{errors} / {total} > {limit}\n"
        f"and {naming.slo_errors(pair.short)}{me} > {limit} * {naming.slo_total(pair.short)}{me}\n"
        f"and {total} * {number(pair.long.seconds)} >= {number(slo.least)}"
    )
    named = ", ".join(f"{label} {{{{ $labels.{label} }}}}" for label in slo.by)
    description = (
        f"{{{{ $value | humanizePercentage }}}} of the events of {slo.id} ({named}) failed within {window}; "
        f"{percent(slo.objective)} over {slo.period} allow {percent(slo.budget)}."
    )
    return Alert(
        name=ALERT,
        expr=expr,
        hold=pair.hold,
        labels={"severity": pair.severity, "owner": slo.owner, "layer": slo.layer, "slo": slo.id, "window": window},
        annotations={
            "summary": f"{slo.id} burns its error budget at more than {number(pair.factor, 4)} times its pace",
            "description": description,
            **links(factory, slo.owner, ALERT, place(slo)),
        },
        origin=slo.origin,
    )


def place(slo: Slo) -> tuple[str, ...]:
    """The labels by which the dashboard opens at the place, as far as the SLO tells them apart."""
    return tuple(label for label in naming.NODE if label in slo.by)

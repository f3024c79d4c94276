"""The alerts on burning budgets: one for each pair of windows, so that who is paged sees which one fired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import links
from tocsin.plan.rules import Alert
from tocsin.units import number, percent

if TYPE_CHECKING:
    from tocsin.burn import Pair
    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo

ALERT = "ErrorBudgetBurn"
FATES = {
    "latency": "took too long",
    "availability": "found nothing available",
}  # what became of bad events, by the kind of the indicator


def burn_alerts(factory: Factory, slo: Slo, me: str) -> tuple[Alert, ...]:
    """The alerts of an SLO's pairs of windows, in their order."""
    named = ", ".join(f"{label} {{{{ $labels.{label} }}}}" for label in slo.by)
    fate = FATES.get(slo.kind, "failed")
    failed = f"{{{{ $value | humanizePercentage }}}} of the events of {slo.id} ({named}) {fate} within"
    allowed = f"{percent(slo.objective)} over {slo.period} allow {percent(slo.budget)}."
    lead_on = links(factory, slo.owner, ALERT, place(slo), "slos", slo.id)
    alerts = []
    for pair in slo.pairs:
        window = str(pair.long)
        labels = {"severity": pair.severity, "owner": slo.owner, "layer": slo.layer, "slo": slo.id, "window": window}
        texts = {
            "summary": f"{slo.id} burns its error budget at more than {number(pair.factor, 4)} times its pace",
            "description": f"{failed} {window}; {allowed}",
            **lead_on,
        }
        alerts.append(Alert(ALERT, _expr(slo, pair, me), pair.hold, labels, texts, slo.origin))
    return tuple(alerts)


def _expr(slo: Slo, pair: Pair, me: str) -> str:
    """Too large a share of the events of both windows is bad, and enough events came for a share to mean something."""
    limit = number(pair.threshold(slo.budget))
    errors, total = naming.slo_errors(pair.long) + me, naming.slo_total(pair.long) + me
    # The short window is compared without a division: where there is no event, nothing is above nothing.
    return (
        f"{errors} / {total} > {limit}\n"
        f"and {naming.slo_errors(pair.short)}{me} > {limit} * {naming.slo_total(pair.short)}{me}\n"
        f"and {total} * {number(pair.long.seconds)} >= {number(slo.enough(pair))}"
    )


def place(slo: Slo) -> tuple[str, ...]:
    """The labels by which the dashboard opens at the place, as far as the SLO tells them apart."""
    return tuple(label for label in naming.NODE if label in slo.by)

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
# What became of bad events, or for how much of the time an SLO was bad, by the kind of the indicator.
FATES = {
    "ratio": "{share} of the events of {slo} failed",
    "latency": "{share} of the events of {slo} took too long",
    "availability": "{share} of the events of {slo} found nothing available",
    "time_slice": "{slo} was too slow for {share} of the time",
    "throughput": "{slo} was too slow for {share} of the time",
    "slowdown": "{slo} was slower than it used to be for {share} of the time",
    "utilisation": "{slo} was idle, or nearly, for {share} of the time of its boards",
    "composite": "{slo} failed in one of its parts for {share} of the time",
}


def burn_alerts(factory: Factory, slo: Slo, me: str) -> tuple[Alert, ...]:
    """The alerts of an SLO's pairs of windows, in their order."""
    failed = FATES[slo.kind].format(share="{{ $value | humanizePercentage }}", slo=named(slo))
    allowed = f"{percent(slo.objective)} over {slo.period} allow {percent(slo.budget)}."
    lead_on = links(factory, slo.owner, ALERT, place(slo), "slos", slo.id)
    alerts = []
    for pair in slo.pairs:
        window = str(pair.long)
        labels = {"severity": pair.severity, "owner": slo.owner, "layer": slo.layer, "slo": slo.id, "window": window}
        texts = {
            "summary": f"{named(slo)} burns its error budget {_pace(pair)}",
            "description": f"{failed} within {window}; {allowed}",
            **lead_on,
        }
        alerts.append(Alert(ALERT, _expr(slo, pair, me), pair.hold, labels, texts, slo.origin))
    return tuple(alerts)


def _pace(pair: Pair) -> str:
    """At its pace a budget lasts for its period."""
    times = f"{number(pair.factor, 4)} times " if pair.factor != 1 else ""
    return f"at more than {times}its pace"


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


def named(slo: Slo) -> str:
    """An SLO and what it tells apart, as texts name them: `chat (cluster east)`."""
    labels = ", ".join(f"{label} {{{{ $labels.{label} }}}}" for label in slo.by)
    return f"{slo.id} ({labels})" if labels else slo.id


def place(slo: Slo) -> tuple[str, ...]:
    """The labels by which the dashboard opens at the place, as far as the SLO tells them apart."""
    return tuple(label for label in naming.NODE if label in slo.by)

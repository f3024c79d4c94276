"""Alerts as every one of them must be: owner, severity, layer, signal, place, and where to look next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.plan import NO_TIME, Alert

if TYPE_CHECKING:
    from tocsin.factory import Factory, Signal
    from tocsin.units import Duration


def signal_alert(
    factory: Factory,
    name: str,
    signal: Signal,
    severity: str,
    *,
    expr: str,
    summary: str,
    description: str,
    hold: Duration = NO_TIME,
    layer: str = "",
    where: tuple[str, ...] = naming.NODE,
) -> Alert:
    """An alert on a signal. `layer` overrides the signal's own where the fault is another team's to mend.

    `where` are the labels of the expression by which the dashboard opens at the fault's place.
    """
    owner = factory.owner_of(layer) if layer else signal.owner
    labels = {"severity": severity, "owner": owner, "layer": layer or signal.layer, "signal": signal.id}
    texts = {"summary": summary, "description": description, **links(factory, owner, name, where)}
    return Alert(name, expr, hold, labels, texts, signal.origin)


def links(factory: Factory, owner: str, name: str, where: tuple[str, ...]) -> dict[str, str]:
    """The annotations that lead on: the owner's runbook page of the alert, and the dashboard at the fault's place."""
    uid = naming.dashboard_uid(factory.name, "operations")
    query = "&".join(f"var-{label}={{{{ $labels.{label} | urlquery }}}}" for label in where)
    return {
        "runbook_url": f"{factory.owners[owner].runbooks}{name}",
        "dashboard_url": f"{factory.grafana_url}/d/{uid}{'?' if query else ''}{query}",
    }

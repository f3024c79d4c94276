"""Alerts as every one of them must be: owner, severity, layer, signal, place, and where to look next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.plan.rules import Alert
from tocsin.units import NO_TIME

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.factory.signals import Signal
    from tocsin.units import Duration

# The variables of the dashboards that alerts open, and which of them is whose.
VARIABLES = {
    "operations": naming.NODE,
    "gpus": naming.GPU,
    "fabric": naming.NODE,
    "cooling": naming.NODE,
    "training": naming.NODE,
    "inference": ("cluster",),
    "slos": ("cluster",),
    "monitoring": ("cluster",),
}
OF_LAYER = {"silicon": "gpus", "fabric": "fabric", "facility": "cooling"}
_SHOW = {"inference": {"vllm", "triton"}, "training": {"nccl"}}


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
    page = _page(factory, layer or signal.layer, signal)
    texts = {"summary": summary, "description": description, **links(factory, owner, name, where, page)}
    return Alert(name, expr, hold, labels, texts, signal.origin)


def links(
    factory: Factory, owner: str, name: str, where: tuple[str, ...], page: str = "operations", slo: str = ""
) -> dict[str, str]:
    """The annotations that lead on: the owner's runbook page of the alert, and a dashboard at the fault's place.

    The dashboard takes the labels of the place that it has a variable for, and the objective if it is about one.
    """
    uid = naming.dashboard_uid(factory.name, page)
    chosen = [f"var-{label}={{{{ $labels.{label} | urlquery }}}}" for label in where if label in VARIABLES[page]]
    query = "&".join([*([f"var-slo={slo}"] if slo else []), *chosen])
    return {
        "runbook_url": f"{factory.owners[owner].runbooks}{name}",
        "dashboard_url": f"{factory.grafana_url}/d/{uid}{'?' if query else ''}{query}",
    }


def _page(factory: Factory, layer: str, signal: Signal) -> str:
    """The dashboard of those who mend a layer, or of those whose work a signal is about."""
    shown = {metric.exporter for metric in signal.metrics if metric.sensitivity == "open"}
    if shown and shown <= {capacity.ITSELF, capacity.ALERTMANAGER}:
        return "monitoring"
    if layer == "application" and shown & jobs_of(factory, "inference"):
        return "inference"
    if layer == "application" and shown & jobs_of(factory, "training") and "job_metadata" in factory.signals:
        return "training"
    return OF_LAYER.get(layer, "operations")


def jobs_of(factory: Factory, workload: str) -> set[str]:
    """The scrape jobs of a kind of work, those of the catalogue's servers of models included."""
    own = {job.name for cluster in factory.clusters.values() for job in cluster.jobs if job.workload == workload}
    return own | _SHOW[workload]

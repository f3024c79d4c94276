"""The monitoring itself: what its servers hold, what they refuse or lose, and whether anybody hears of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.ingest import carriers
from tocsin.lower.dashboards.measures import measured
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import (
    AT_CLUSTER,
    CLUSTER,
    LINES,
    ROWS,
    bars,
    firing,
    from_here,
    of_monitoring,
    of_signal,
    table,
    to_gpus,
)
from tocsin.plan.dashboards import Column
from tocsin.promql import quote

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard, Panel

_JOBS = (capacity.ITSELF, capacity.ALERTMANAGER)


def monitoring(factory: Factory) -> Dashboard:
    """The page of those who run the monitoring."""
    panels = (
        firing("Alerts of the monitoring", "Alerts about its own servers.", f'signal=~"{_signals(factory)}"'),
        targets_at_fault(factory, (), AT_CLUSTER),
        *label_values(factory),
        *measured(factory, lambda metric: _is_there(factory, metric), lambda _metric: AT_CLUSTER),
    )
    about = "Each Prometheus and Alertmanager, their targets, and how many values labels have."
    owners = (factory.alerting.fallback,)
    return page(factory, "monitoring", "Monitoring", about, (CLUSTER,), panels, owners, title="the monitoring itself")


def _is_there(factory: Factory, metric: Metric) -> bool:
    """Nothing tells of writing on where nothing is written on."""
    writes = any(tier.store for tier in factory.retention.tiers)
    return metric.exporter in _JOBS and (writes or metric.signal != "prometheus_remote_write")


def _signals(factory: Factory) -> str:
    own = (signal.id for signal in factory.signals.values() for metric in signal.metrics if metric.exporter in _JOBS)
    return "|".join(dict.fromkeys(own))


def targets_at_fault(factory: Factory, jobs: Collection[str], here: str) -> Panel:
    """Targets that do not answer, and those whose series break the label schema; of all jobs where none is named."""
    which = f"{here}, job=~{quote('|'.join(sorted(jobs)))}" if jobs else here
    by = "cluster, node, job"
    silent = f"max by ({by}) (up{{{which}}}) == 0"
    broken = f"max by ({by}) ({naming.LABEL_VIOLATIONS}{{{which}}}) > 0"
    return table(
        "Targets at fault",
        "Targets that do not answer, which have no series, and those with series that break the label schema. "
        f"Whose signals they are is told by their alerts. {of_monitoring(factory)}",
        [f"topk({ROWS}, {silent} or {broken})"],
        (*(Column(name, name) for name in ("cluster", "node", "job")), Column("Value #A", "series that break it")),
        unit="short",
        links=(to_gpus(factory, *naming.NODE),),
    )


def label_values(factory: Factory) -> Iterator[Panel]:
    """How many of the values that it may have a label has."""
    counted = [
        (f"max({naming.LABEL_VALUES}{{{AT_CLUSTER}, label={quote(label.name)}}}) / {label.max_values}", label.name)
        for label in factory.labels.values()
        if label.max_values is not None and carriers(factory, label.name)
    ]
    if counted:
        yield bars(
            "Values of labels",
            "Share of the values that the spec allows a label at a time; beyond that the capacity plan is void. "
            + of_signal(factory, "prometheus_storage"),
            counted[:LINES],
            "percentunit",
            steps=from_here(1),
            maximum=1,
        )

"""Scheduler and queue, cooling and power, capacity and forecast: what the factory has, and for how long that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.factory import DASHBOARD_RANGE
from tocsin.lower.dashboards.disks import filling
from tocsin.lower.dashboards.measures import measured
from tocsin.lower.dashboards.monitoring import label_values, targets_at_fault
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import (
    AT_CLUSTER,
    AT_NODE,
    CLUSTER,
    END,
    GPU,
    NODE,
    firing,
    from_here,
    gauge,
    graph,
    of_signal,
    to_gpus,
    worst,
)
from tocsin.lower.presence import TEMP
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard, Panel

_SCHEDULERS = ("slurm", "kueue", "volcano")
_POWER = "DCGM_FI_DEV_POWER_USAGE"
_TREND, _AHEAD = Duration.of(hours=6), Duration.of(days=7)


def scheduler(factory: Factory) -> Dashboard | None:
    """The page of those who share the factory out."""
    own = tuple(measured(factory, lambda metric: metric.exporter in _SCHEDULERS and _open(metric), _at_cluster))
    if not own:
        return None
    panels = (*own, firing("Alerts of the runtime", "Alerts about jobs and schedulers.", 'layer="runtime"'))
    about = "What runs, what waits and why, and how the quotas stand."
    owners = (factory.owner_of("runtime"),)
    return page(factory, "scheduler", "Scheduler", about, (CLUSTER,), panels, owners, title="scheduler and queue")


def cooling(factory: Factory) -> Dashboard:
    """The page of those who run the building."""
    own = measured(factory, lambda metric: factory.signals[metric.signal].layer == "facility", _at_cluster)
    jobs = {m.exporter for m in factory.metrics.values() if factory.signals[m.signal].layer == "facility"}
    hot = f"max by (cluster, node) ({TEMP}{{{AT_NODE}}}{END})"
    drawn = f"sum by (cluster, node) (max by ({GPU}) ({_POWER}{{{AT_NODE}}}{END}))"
    whole = f"sum by (cluster) (max by ({GPU}) ({_POWER}{{{AT_NODE}}}))"
    power = of_signal(factory, "power_draw")
    lead = (to_gpus(factory, *naming.NODE),)
    panels = (
        graph("Power of all boards", f"Without what hosts and fans draw. {power}", [(whole, "{{cluster}}")], "watt"),
        graph(
            "Most power",
            f"Nodes by their boards. {power}",
            [(worst("cluster, node", drawn), "{{node}}")],
            "watt",
            links=lead,
        ),
        graph(
            "Hottest nodes",
            f"By their hottest board. {of_signal(factory, 'gpu_temp')}",
            [(worst("cluster, node", hot), "{{node}}")],
            "celsius",
            links=lead,
        ),
        *own,
        *((targets_at_fault(factory, jobs, AT_CLUSTER),) if jobs else ()),
        firing("Alerts of the facility", "Alerts whose owner runs the building.", 'layer="facility"'),
    )
    about = "Power and heat of the boards, and what coolant and machines say."
    owners = (factory.owner_of("facility"),)
    return page(factory, "cooling", "Facility", about, (CLUSTER, NODE), panels, owners, title="cooling and power")


def capacities(factory: Factory) -> Dashboard:
    """The page of those who order more of it."""
    panels = (
        *_shares(factory),
        *_boards(factory),
        *_monitoring(factory),
        *label_values(factory),
        *filling(factory, AT_CLUSTER),
    )
    about = "What there is, what of it is used, and when it will not do."
    owners = (factory.owner_of("silicon"), factory.alerting.fallback)
    return page(factory, "capacity", "Capacity", about, (CLUSTER,), panels, owners, title="capacity and forecast")


def _shares(factory: Factory) -> Iterator[Panel]:
    """What is taken of what there is."""
    at = f"{{{AT_CLUSTER}}}"
    there = f"sum({naming.GPUS_PRESENT}{at})"
    if "job_metadata" in factory.signals:
        taken = f'count(group by ({GPU}) ({TEMP}{{{AT_CLUSTER}, job_id!=""}}))'
        about = f"Share of the boards that are there. {of_signal(factory, 'job_metadata')}"
        yield gauge("GPUs with a job", about, f"{taken} / {there}")
    expected = f"sum({naming.GPUS_EXPECTED}{at})"
    about = f"Share of the boards in the spec that are there. {of_signal(factory, 'gpu_temp')}"
    yield gauge("GPUs there", about, f"{there} / {expected}")
    if "prometheus_storage" in factory.signals:
        about = f"Share of what the spec is predicted to make. {of_signal(factory, 'prometheus_storage')}"
        held = f"max(prometheus_tsdb_head_series{at}) / {_predicted(factory)}"
        yield gauge("Series of the prediction", about, held, steps=from_here(1))


def _boards(factory: Factory) -> Iterator[Panel]:
    at = f"{{{AT_CLUSTER}}}"
    asked = [
        (f"sum by (cluster) ({naming.GPUS_EXPECTED}{at})", "{{cluster}}: in the spec"),
        (f"sum by (cluster) ({naming.GPUS_PRESENT}{at})", "{{cluster}}: there"),
    ]
    if "job_metadata" in factory.signals:
        taken = f'count by (cluster) (group by ({GPU}) ({TEMP}{{{AT_CLUSTER}, job_id!=""}}))'
        asked.append((taken, "{{cluster}}: with a job"))
    yield graph("GPUs", f"Boards. {of_signal(factory, 'gpu_temp')}", asked, "short")


def _monitoring(factory: Factory) -> Iterator[Panel]:
    """Series in memory against what the spec was predicted to make, and where they go."""
    if "prometheus_storage" not in factory.signals:
        return
    head = f"max by (cluster) (prometheus_tsdb_head_series{{{AT_CLUSTER}}})"
    asked = [(head, "{{cluster}}")]
    if factory.retention.hot.keep.seconds >= _TREND.seconds + DASHBOARD_RANGE.seconds:
        future = f"predict_linear(prometheus_tsdb_head_series{{{AT_CLUSTER}}}[{_TREND}], {int(_AHEAD.seconds)})"
        asked.append((f"max by (cluster) ({future})", f"{{{{cluster}}}}: in {_AHEAD}"))
    yield graph(
        "Series of the largest Prometheus",
        f"The line is what the spec is predicted to make. {of_signal(factory, 'prometheus_storage')}",
        asked,
        "short",
        steps=from_here(float(_predicted(factory))),
    )


def _predicted(factory: Factory) -> int:
    """Series of the largest server."""
    return max(max(size.series for size in capacity.servers(factory, one)) for one in factory.clusters.values())


def _open(metric: Metric) -> bool:
    return metric.sensitivity == "open"


def _at_cluster(_metric: Metric) -> str:
    return AT_CLUSTER

"""Dashboards: which questions are asked of which series. Recorded ones wherever they exist, never a bare average."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.factory import DASHBOARD_RANGE
from tocsin.lower.presence import TEMP
from tocsin.plan import Dashboard, Panel, Query, Step, Variable
from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.factory import Factory

_HERE = 'cluster=~"$cluster", node=~"$node"'
_GPU = naming.by(naming.GPU)
_EVERY_ALERT = f'ALERTS{{alertstate="firing", alertname!="{naming.WATCHDOG}", cluster=~"$cluster"}}'
_PORT_ERRORS = {
    "infiniband": (naming.PORT_CORRECTED, naming.PORT_UNCORRECTED),
    "roce": (naming.ROCE_CORRECTED, naming.ROCE_UNCORRECTED),
}
GOOD, WATCH, BAD = "green", "orange", "red"


def operations(factory: Factory) -> Dashboard:
    """The page that every alert links to: what fires, what is missing, what is slow, how the budgets stand."""
    panels = (*_now(), *_gpus(factory), *_fabric(factory), *_budgets(factory))
    return Dashboard(
        uid=naming.dashboard_uid(factory.name, "operations"),
        name="operations",
        folder="Operations",
        title=f"{factory.name}: operations",
        description="What fires, what is missing, what is slow. Every alert links here with its cluster and node.",
        variables=(
            Variable("cluster", "Cluster", 'label_values(up{job="dcgm"}, cluster)'),
            Variable("node", "Node", 'label_values(up{job="dcgm", cluster=~"$cluster"}, node)'),
        ),
        panels=panels,
        refresh=max(factory.interval, Duration.of(seconds=30)),
        range=DASHBOARD_RANGE,
        origin=factory.origin,
    )


def _firing(severity: str) -> str:
    return f'count(ALERTS{{alertstate="firing", severity="{severity}", cluster=~"$cluster"}}) or vector(0)'


def _stat(title: str, description: str, expr: str, bad: str) -> Panel:
    return Panel(
        "stat", title, description, (Query(expr, "", instant=True),), "short", 6, 4, (Step(None, GOOD), Step(1, bad))
    )


def _now() -> tuple[Panel, ...]:
    missing = f"sum({naming.GPUS_EXPECTED}{{{_HERE}}}) - sum({naming.GPUS_PRESENT}{{{_HERE}}})"
    return (
        _stat("Pages", "Alerts that wake someone now.", _firing("page"), BAD),
        _stat("Tickets", "Alerts that wait for the morning.", _firing("ticket"), WATCH),
        _stat("GPUs missing", "Boards that the spec expects and no exporter reports.", missing, BAD),
        _stat(
            "Exporters down",
            "Targets that did not answer the last scrape.",
            f"count(up{{{_HERE}}} == 0) or vector(0)",
            WATCH,
        ),
        Panel(
            "table",
            "Firing alerts",
            "One row an alert, those included of which nobody is told: whose it is and where it is.",
            (Query(_EVERY_ALERT, "", instant=True),),
            width=24,
            height=7,
        ),
    )


def _gpus(factory: Factory) -> tuple[Panel, ...]:
    signals = factory.signals
    panels = []
    if "xid" in signals:
        panels.append(
            _series(
                "New XID errors",
                f"{signals['xid'].meaning}; shown while it is news. Owner: {signals['xid'].owner}.",
                [
                    (
                        f"max by (node, gpu_uuid, err_code) ({naming.XID_NEW}{{{_HERE}}})",
                        "XID {{err_code}} {{node}} {{gpu_uuid}}",
                    )
                ],
                "none",
            )
        )
    if "throttle_reasons" in signals:
        panels += [
            _series(
                "Throttled GPUs",
                "Boards that run below their clock, by reason. sw_power_cap is normal for training at its limit.",
                [(f"sum by (reason) ({naming.THROTTLED}{{{_HERE}}})", "{{reason}}")],
                "short",
            ),
            _series(
                "GPU utilisation",
                "Smallest, middle and largest: a mean would hide the one board that idles.",
                _spread(f"{naming.GPU_UTIL}{{{_HERE}}}"),
                "percent",
                maximum=100,
            ),
        ]
    panels.append(
        _series(
            "Hottest GPUs",
            "Die temperature of the five hottest boards.",
            [(f"topk(5, max by ({_GPU}) ({TEMP}{{{_HERE}}}))", "{{node}} {{gpu_uuid}}")],
            "celsius",
        )
    )
    if "pcie_throughput" in signals:
        panels.append(
            _series(
                "Host links",
                "Share of the PCIe link that the busiest board uses.",
                [(f"max by (direction) ({naming.PCIE_SHARE}{{{_HERE}}})", "{{direction}}")],
                "percentunit",
                steps=(Step(None, GOOD), Step(0.9, BAD)),
                maximum=1,
            )
        )
    if "hbm_activity" in signals:
        panels.append(
            _series(
                "Memory activity",
                f"{signals['hbm_activity'].meaning}: smallest, middle, largest.",
                _spread(f"{naming.HBM_ACTIVE}{{{_HERE}}}"),
                "percentunit",
                steps=(Step(None, GOOD), Step(0.9, BAD)),
                maximum=1,
            )
        )
    return tuple(panels)


def _fabric(factory: Factory) -> tuple[Panel, ...]:
    if "fabric_errors" not in factory.signals:
        return ()
    owner = factory.signals["fabric_errors"].owner
    nvlinks = [
        (f"sum by (error) ({name}{{{_HERE}}})", "{{error}}")
        for name in (naming.NVLINK_CORRECTED, naming.NVLINK_UNCORRECTED)
    ]
    panels = [_series("NVLink errors", f"Within a quarter of an hour. Owner: {owner}.", nvlinks, "short")]
    fabrics = {group.fabric for cluster in factory.clusters.values() for group in cluster.groups}
    names = [name for fabric, two in _PORT_ERRORS.items() if fabric in fabrics for name in two]
    if names:
        ports = [(f"sum by (error) ({name}{{{_HERE}}})", "{{error}}") for name in names]
        panels.insert(0, _series("Fabric port errors", f"Within a quarter of an hour. Owner: {owner}.", ports, "short"))
    return tuple(panels)


def _budgets(factory: Factory) -> tuple[Panel, ...]:
    if not factory.slos:
        return ()
    return (
        _series(
            "Error budgets left",
            "1 is untouched, 0 is spent; below 0 the objective is broken.",
            [(f"min by (slo) ({naming.SLO_BUDGET_LEFT})", "{{slo}}")],
            "percentunit",
            steps=(Step(None, BAD), Step(0, WATCH), Step(0.5, GOOD)),
            maximum=1,
        ),
    )


def _spread(series: str) -> list[tuple[str, str]]:
    return [(f"min({series})", "smallest"), (f"quantile(0.5, {series})", "middle"), (f"max({series})", "largest")]


def _series(
    title: str,
    description: str,
    queries: list[tuple[str, str]],
    unit: str,
    steps: tuple[Step, ...] = (),
    maximum: float | None = None,
) -> Panel:
    asked = tuple(Query(expr, legend) for expr, legend in queries)
    minimum = 0.0 if maximum is not None and not any(step.value == 0 for step in steps) else None
    return Panel("timeseries", title, description, asked, unit, 12, 8, steps, minimum, maximum)

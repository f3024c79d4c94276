"""Operations of a cluster: what fires, what is missing, what is slow, and how the budgets stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.dashboards.boards import host_links, hottest, memory_activity, new_xids, throttled, utilisation
from tocsin.lower.dashboards.cables import error_graphs
from tocsin.lower.dashboards.objectives import budgets_left
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import (
    AT_CLUSTER,
    AT_NODE,
    BAD,
    CLUSTER,
    NODE,
    WATCH,
    count_of,
    firing,
    of_monitoring,
    of_signal,
    to_gpus,
)

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard, Panel


def operations(factory: Factory) -> Dashboard:
    """The page of those who are on call."""
    panels = (
        *_now(factory),
        *new_xids(factory, AT_NODE),
        *throttled(factory, AT_NODE),
        *utilisation(factory, AT_NODE),
        *hottest(factory, AT_NODE),
        *host_links(factory, AT_NODE),
        *memory_activity(factory, AT_NODE),
        *error_graphs(factory),
        *budgets_left(factory),
    )
    description = "What fires, what is missing, what is slow, cluster by cluster, for those who are on call."
    owners = factory.layers.values()
    return page(factory, "operations", "Operations", description, (CLUSTER, NODE), panels, owners)


def of_severity(severity: str, *matchers: str) -> str:
    """How many alerts of a severity fire."""
    which = ", ".join(('alertstate="firing"', f'severity="{severity}"', AT_CLUSTER, *matchers))
    return f"count(ALERTS{{{which}}}) or vector(0)"


def missing_gpus(factory: Factory) -> Panel:
    """Boards that are not there."""
    expr = f"sum({naming.GPUS_EXPECTED}{{{AT_NODE}}}) - sum({naming.GPUS_PRESENT}{{{AT_NODE}}})"
    return count_of(
        "GPUs missing",
        f"Boards that the spec expects and no exporter reports. {of_signal(factory, 'gpu_temp')}",
        expr,
        BAD,
    )


def _now(factory: Factory) -> tuple[Panel, ...]:
    return (
        count_of("Pages", "Alerts that wake someone now.", of_severity("page"), BAD),
        count_of("Tickets", "Alerts that wait for the morning.", of_severity("ticket"), WATCH),
        missing_gpus(factory),
        count_of(
            "Exporters down",
            f"Targets that did not answer the last scrape. {of_monitoring(factory)}",
            f"count(up{{{AT_NODE}}} == 0) or vector(0)",
            WATCH,
        ),
        firing(
            "Firing alerts",
            "One row an alert, those included of which nobody is told: whose it is and where it is.",
            links=(to_gpus(factory, "cluster", "node"),),
        ),
    )

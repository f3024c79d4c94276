"""A dashboard for each tenant, in a folder of its own: its jobs, its services, its alerts, and nobody else's.

The tenant stands in every query, and no variable changes it; whoever may ask the data source himself can still ask for
more. What boards draw is left out: from their power a neighbour's work could be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.dashboards.measures import measured
from tocsin.lower.dashboards.operations import of_severity
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import AT_CLUSTER, BAD, CLUSTER, END, WATCH, count_of, firing, graph, of_slos, worst
from tocsin.promql import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard, Panel


def tenants(factory: Factory) -> Iterator[Dashboard]:
    """One a tenant."""
    for name in factory.tenants:
        tenant = f"tenant={quote(name)}"
        panels = (
            count_of("Pages", "Alerts about the tenant that wake someone.", of_severity("page", tenant), BAD),
            count_of("Tickets", "Alerts about the tenant that wait.", of_severity("ticket", tenant), WATCH),
            firing("Alerts", "Alerts about what is the tenant's.", tenant),
            *_measured(factory, tenant),
            *_objectives(factory, tenant),
        )
        owners = (factory.owner_of("application"),)
        about = f"What {name} runs: its jobs and services, its alerts, and its share of what was promised."
        folder = f"Tenant {name}"
        made = page(factory, f"tenant-{name}", folder, about, (CLUSTER,), panels, owners)
        yield made._replace(marked=f"{AT_CLUSTER}, {tenant}")


def _measured(factory: Factory, tenant: str) -> Iterator[Panel]:
    def its(metric: Metric) -> bool:
        return "tenant" in metric.labels and metric.sensitivity == "open"

    yield from measured(factory, its, lambda _metric: f"{AT_CLUSTER}, {tenant}")


def _objectives(factory: Factory, tenant: str) -> Iterator[Panel]:
    """Error ratios of the objectives that tell tenants apart; a budget is shared with others."""
    of_tenants = [slo for slo in factory.slos.values() if "tenant" in slo.by]
    if not of_tenants:
        return
    window = min(slo.pairs[0].long for slo in of_tenants)
    same = "|".join(slo.id for slo in of_tenants if window in slo.pairs[0][:2])
    which = f'{{slo=~"{same}", {tenant}}}'
    errors, total = (f"sum by (slo) ({name(window)}{which}{END})" for name in (naming.slo_errors, naming.slo_total))
    yield graph(
        "Error ratio",
        f"Bad events of the tenant among all of its own, within {window}. {of_slos(factory)}",
        [(worst("slo", f"({errors} / ({total} > 0))"), "{{slo}}")],
        "percentunit",
        maximum=1,
    )

"""Dashboards, one for each audience: which questions are asked of which series.

Each is left out where the factory collects nothing that it would show, as is each of its panels. Recorded series are
asked for wherever there are some, and no query returns more series the larger the factory is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.lower.dashboards.executive import executive
from tocsin.lower.dashboards.fabric import fabric
from tocsin.lower.dashboards.gpus import gpus
from tocsin.lower.dashboards.monitoring import monitoring
from tocsin.lower.dashboards.operations import operations
from tocsin.lower.dashboards.owners import owners
from tocsin.lower.dashboards.plant import capacities, cooling, scheduler
from tocsin.lower.dashboards.slos import slos
from tocsin.lower.dashboards.teams import teams
from tocsin.lower.dashboards.tenants import tenants
from tocsin.lower.dashboards.workloads import inference, training

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard

AUDIENCES: tuple[Callable[[Factory], Dashboard | None], ...] = (
    operations,
    executive,
    gpus,
    training,
    inference,
    fabric,
    scheduler,
    cooling,
    capacities,
    monitoring,
    slos,
    owners,
)


def dashboards(factory: Factory) -> tuple[Dashboard, ...]:
    """Those of all audiences, then one an owner and one a tenant."""
    found = (audience(factory) for audience in AUDIENCES)
    return (*(dashboard for dashboard in found if dashboard is not None), *teams(factory), *tenants(factory))

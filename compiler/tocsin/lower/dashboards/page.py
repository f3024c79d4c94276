"""A dashboard around its panels: its name, its folder, how often it asks, whose runbooks it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.factory import DASHBOARD_RANGE
from tocsin.plan.dashboards import Dashboard
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Panel, Variable

_LEAST_REFRESH = Duration.of(seconds=30)


def page(
    factory: Factory,
    name: str,
    folder: str,
    description: str,
    variables: tuple[Variable, ...],
    panels: tuple[Panel, ...],
    owners: Iterable[str],
    *,
    title: str = "",
) -> Dashboard:
    """A dashboard; it is asked anew no more often than there is something new."""
    named = sorted(set(owners))
    return Dashboard(
        uid=naming.dashboard_uid(factory.name, name),
        name=name,
        folder=folder,
        title=f"{factory.name}: {title or folder.lower()}",
        description=description,
        variables=variables,
        panels=panels,
        refresh=max(factory.interval, _LEAST_REFRESH),
        range=DASHBOARD_RANGE,
        origin=factory.origin,
        tags=(factory.name, *(f"owner:{owner}" for owner in named)),
        runbooks=tuple((owner, factory.owners[owner].runbooks) for owner in named),
    )

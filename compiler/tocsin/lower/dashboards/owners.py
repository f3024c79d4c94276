"""Owners and alerts: who has what to do, since when, and what of it came how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.lower.dashboards.objectives import all_objectives
from tocsin.lower.dashboards.operations import of_severity
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import (
    AT_CLUSTER,
    BAD,
    CLUSTER,
    END,
    GOOD,
    LINES,
    WATCH,
    count_of,
    firing,
    graph,
    to_gpus,
    worst,
)
from tocsin.naming import WATCHDOG
from tocsin.plan.dashboards import Panel, Query, Step, Variable

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard

_OWNER = 'owner=~"$owner"'
_FIRING = f'ALERTS{{alertstate="firing", alertname!="{WATCHDOG}", {_OWNER}, {AT_CLUSTER}}}'


def owners(factory: Factory) -> Dashboard:
    """The page of a team, and of those who share work out."""
    panels = (
        count_of("Pages", "Alerts that wake someone of the owner now.", of_severity("page", _OWNER), BAD),
        count_of("Tickets", "Alerts that wait for the morning.", of_severity("ticket", _OWNER), WATCH),
        graph(
            "Alerts by owner",
            f"How many fire. Of the {LINES} owners with most.",
            [(worst("owner", f"count by (owner) ({_FIRING}{END})"), "{{owner}}")],
            "short",
        ),
        firing(
            "Alerts of the owner",
            "One row an alert: what, how urgent, and where. Its runbook is that of its name, below the owner's link.",
            _OWNER,
            links=(to_gpus(factory, "cluster", "node"),),
        ),
        history(_OWNER),
        *all_objectives(factory),
    )
    owner = Variable("owner", "Owner", f'label_values(ALERTS{{alertname!="{WATCHDOG}", {AT_CLUSTER}}}, owner)')
    about = "Whose alerts fire, since when, and which objectives are whose."
    return page(factory, "owners", "Owners", about, (CLUSTER, owner), panels, factory.owners, title="owners and alerts")


def history(owner: str) -> Panel:
    """Alerts by name: when each began and when it was over. Those that are over count as well, so none is chosen."""
    fired = f'ALERTS{{alertstate="firing", alertname!="{WATCHDOG}", {owner}, {AT_CLUSTER}}}'
    return Panel(
        "state-timeline",
        "When which alert fired",
        "One row an alert; the number is at how many places it fires.",
        (Query(f"count by (alertname) ({fired})", "{{alertname}}"),),
        "short",
        24,
        10,
        (Step(None, GOOD), Step(1, WATCH), Step(10, BAD)),
    )

"""What a fault has to lead to, as the spec has it: the alert with its wait, and who is told of it when."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.lower.reach import of_owner, of_tenant
from tocsin.plan.rules import Alert
from tocsin.routes import is_silent, taken
from tocsin.units import NO_TIME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from tocsin.factory import Factory
    from tocsin.plan import Plan
    from tocsin.units import Duration


class Expected(NamedTuple):
    """An alert of the plan: its labels, and the seconds that it waits before it fires and before it is told."""

    alert: str
    labels: dict[str, str]
    hold: float
    wait: float


def expected(plan: Plan, alert: str, slo: str = "") -> Expected | None:
    """The first alert of that name, of an objective where one is named; None where the plan has none.

    Of an objective it is the one that pages, by its shortest window, if it has one.
    """
    found = [
        (rule, {name: file.filled(value) for name, value in rule.labels.items()})
        for file in plan.rules
        for group in file.groups
        for rule in group.rules
        if isinstance(rule, Alert) and rule.name == alert
    ]
    found = [(rule, labels) for rule, labels in found if labels.get("slo", "") == slo]
    if not found:
        return None
    rule, labels = min(found, key=lambda one: one[1]["severity"] != "page")
    return Expected(alert, labels, float(rule.hold.seconds), _wait(plan, {"alertname": alert, **labels}))


def wanted(factory: Factory, labels: Mapping[str, str]) -> set[str]:
    """The receivers that the spec wants to be told of an alert at once: its owner, its tenant, or both."""
    severity = labels["severity"]
    if severity == "info":
        return set()
    told = {of_owner(labels["owner"], severity)}
    tenant = factory.tenants.get(labels.get("tenant", ""))
    if tenant and getattr(tenant, severity):
        told = {of_tenant(tenant.name, severity), *(set() if tenant.instead else told)}
    return told


def silenced(plan: Plan, labels: Mapping[str, str], at: datetime) -> str:
    """What an alert waits for at a moment: maintenance that goes on, else the hours of its owner; empty for nothing."""
    intervals = {one.name: one for one in plan.notifications.intervals}
    routes = [route for route in taken(plan.notifications.root, dict(labels)) if is_silent(route, intervals, at)]
    muted = [name for route in routes for name in route.muted if intervals[name].holds(at)]
    return ", ".join(sorted({*muted} or {name for route in routes for name in route.active}))


def _wait(plan: Plan, labels: Mapping[str, str]) -> float:
    """The longest `group_wait` on its way to those that are told at once: escalations wait on purpose."""
    return max((float(time.seconds) for time in _waits(plan, labels)), default=0.0)


def _waits(plan: Plan, labels: Mapping[str, str]) -> Iterator[Duration]:
    root = plan.notifications.root
    for route in taken(root, dict(labels)):
        if not route.receiver.endswith("-escalation"):
            yield route.wait if route.wait is not None else root.wait or NO_TIME

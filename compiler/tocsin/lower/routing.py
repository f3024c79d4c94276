"""Notifications: each alert to the team that owns it, pages and tickets apart, and a heartbeat to the outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import storms
from tocsin.lower.inhibitions import inhibitions
from tocsin.lower.members import members
from tocsin.lower.reach import DASHBOARDS, HEARTBEAT, escalated, of_owner, of_tenant, route_tests
from tocsin.lower.samples import samples
from tocsin.plan.notifications import Notifications, Receiver
from tocsin.routes import Matcher, Route, TimeInterval, walk
from tocsin.units import NO_TIME, Duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.owners import Maintenance, Owner
    from tocsin.plan.notifications import Sample
    from tocsin.plan.rules import RuleFile
    from tocsin.plan.servers import Server

# By where the fault is, so that eight dead boards of a node are one page.
PLACE = ("cluster", "node", "slo")


def notifications(factory: Factory, rules: Sequence[RuleFile], servers: Sequence[Server]) -> Notifications:
    """The routing tree, the receivers and intervals that it names, what need not be told, and the tests of all that."""
    alerts = samples(rules, servers)
    root = _root(factory, alerts)
    named = {name for route in walk(root) for name in (*route.muted, *route.active)}
    return Notifications(
        root,
        tuple(_receivers(factory)),
        route_tests(factory, alerts),
        members(factory),
        tuple(interval for interval in _intervals(factory) if interval.name in named),
        inhibitions(factory, alerts),
        alerts,
    )


def _root(factory: Factory, alerts: Sequence[Sample]) -> Route:
    alerting = factory.alerting
    owners = factory.owners.values()
    return Route(
        receiver=of_owner(alerting.fallback, "ticket"),
        origin=alerting.origin,
        group_by=("alertname", *_place(alerts)),
        wait=Duration.of(seconds=30),
        interval=Duration.of(minutes=5),
        repeat=Duration.of(hours=12),
        children=(_heartbeat(factory), *_tenants(factory), *(_owner(factory, owner, alerts) for owner in owners)),
    )


def _place(alerts: Sequence[Sample], **wanted: str) -> tuple[str, ...]:
    """The labels that say where, as far as some alert of the wanted labels carries them."""
    carried = {
        name
        for alert in alerts
        if all(alert.labels.get(label) == value for label, value in wanted.items())
        for name in alert.labels
    }
    return tuple(label for label in PLACE if label in carried)


def _heartbeat(factory: Factory) -> Route:
    """First of all routes, repeated at least at the pace that the outside service waits for."""
    half = Duration(int(factory.alerting.every) // 2)
    return Route(
        receiver=HEARTBEAT,
        origin=factory.alerting.origin,
        matchers=(Matcher("alertname", naming.WATCHDOG),),
        group_by=("cluster",),
        wait=NO_TIME,
        # A notification is repeated when the group's interval ends and the repeat interval is over. Equal ones end
        # together, so it takes one interval or two, as the milliseconds fall: of half the pace each.
        interval=half,
        repeat=half,
    )


def _tenants(factory: Factory) -> Iterator[Route]:
    """What names a tenant comes to the tenant, and then to its owner as well, unless the tenant is told instead."""
    for tenant in factory.tenants.values():
        for severity in ("page", "ticket"):
            if getattr(tenant, severity):
                yield Route(
                    receiver=of_tenant(tenant.name, severity),
                    origin=tenant.origin,
                    matchers=(Matcher("tenant", tenant.name), Matcher("severity", severity)),
                    goes_on=not tenant.instead,
                )


def _owner(factory: Factory, owner: Owner, alerts: Sequence[Sample]) -> Route:
    """Tickets are what is neither a page nor for dashboards only, whatever severity a foreign rule gives itself.

    A route's time intervals are its own and not those of the routes below it, so each has what is meant for it.
    """
    muted = {
        severity: tuple(
            _maintenance(one.name) for one in factory.maintenance.values() if _is_muted(one, owner, severity)
        )
        for severity in ("page", "ticket")
    }
    storm = tuple(_storms(owner, alerts, muted["page"]))
    page = Route(
        receiver=of_owner(owner.name, "page"),
        origin=owner.origin,
        matchers=(Matcher("severity", "page"),),
        group_by=_place(alerts, owner=owner.name, severity="page"),
        wait=storms.wait(factory) if storm else Duration.of(seconds=10),
        repeat=Duration.of(hours=4),
        children=storm,
        goes_on=bool(owner.escalation),
        muted=muted["page"],
    )
    return Route(
        receiver=of_owner(owner.name, "ticket"),
        origin=owner.origin,
        matchers=(Matcher("owner", owner.name),),
        children=(
            page,
            *_escalation(owner, page),
            Route(DASHBOARDS, owner.origin, matchers=(Matcher("severity", "info"),)),
        ),
        muted=muted["ticket"],
        active=(_hours(owner.name),) if owner.hours else (),
    )


def _storms(owner: Owner, alerts: Sequence[Sample], muted: tuple[str, ...]) -> Iterator[Route]:
    """A storm waits for nothing, and is no news of a page that was told of the cluster before."""
    if any((one.labels["alertname"], one.labels["owner"]) == (storms.ALERT, owner.name) for one in alerts):
        yield Route(
            receiver=of_owner(owner.name, "page"),
            origin=owner.origin,
            matchers=(Matcher("alertname", storms.ALERT),),
            group_by=("cluster",),
            wait=NO_TIME,
            muted=muted,
        )


def _escalation(owner: Owner, page: Route) -> Iterator[Route]:
    """A group that waits is told only of what still fires when its time is over, counted from the alert's start.

    Alertmanager knows of no acknowledgement: it is a silence that stops the next step.
    """
    for number, step in enumerate(owner.escalation, 1):
        yield page._replace(
            receiver=escalated(step.to),
            origin=step.origin,
            children=(),
            group_by=("alertname", *page.group_by) if page.group_by else (),
            wait=step.after,
            goes_on=number < len(owner.escalation),
        )


def _is_muted(one: Maintenance, owner: Owner, severity: str) -> bool:
    return owner.name in one.owners and severity in one.mutes


def _maintenance(name: str) -> str:
    return f"maintenance/{name}"


def _hours(owner: str) -> str:
    return f"hours/{owner}"


def _intervals(factory: Factory) -> Iterator[TimeInterval]:
    for owner in factory.owners.values():
        yield TimeInterval(_hours(owner.name), owner.hours, owner.origin)
    for one in factory.maintenance.values():
        yield TimeInterval(_maintenance(one.name), one.windows, one.origin)


def _receivers(factory: Factory) -> Iterator[Receiver]:
    owners = factory.owners.values()
    yield Receiver(HEARTBEAT, (factory.alerting.heartbeat,), factory.alerting.origin, tells_end=False)
    yield Receiver(DASHBOARDS, (), factory.alerting.origin)
    for owner in owners:
        yield Receiver(of_owner(owner.name, "page"), owner.page, owner.origin)
    for owner in owners:
        yield Receiver(of_owner(owner.name, "ticket"), owner.ticket, owner.origin)
    for name in sorted({step.to for owner in owners for step in owner.escalation}):
        yield Receiver(escalated(name), factory.owners[name].page, factory.owners[name].origin)
    for tenant in factory.tenants.values():
        for severity in ("page", "ticket"):
            channels = getattr(tenant, severity)
            if channels:
                yield Receiver(of_tenant(tenant.name, severity), channels, tenant.origin)

"""Notifications: each alert to the team that owns it, pages and tickets apart, and a heartbeat to the outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.plan import NO_TIME, Member, Notifications, Receiver, Route, RouteTest
from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.factory import Factory, Owner

_CLUSTER_PORT = 9094  # Alertmanager's default
HEARTBEAT, DASHBOARDS = "heartbeat", "dashboards-only"

# By where the fault is, so that eight dead boards of a node are one page.
PLACE = ("cluster", "node", "slo")


def notifications(factory: Factory) -> Notifications:
    """The routing tree, the receivers that it names, and a test for every owner and severity."""
    alerting = factory.alerting
    owners = factory.owners.values()
    root = Route(
        receiver=_ticket(factory.owners[alerting.fallback]),
        origin=alerting.origin,
        group_by=("alertname", *PLACE),
        wait=Duration.of(seconds=30),
        interval=Duration.of(minutes=5),
        repeat=Duration.of(hours=12),
        children=(_heartbeat(factory), *(_owner(owner) for owner in owners)),
    )
    receivers = (
        Receiver(HEARTBEAT, (alerting.heartbeat,), alerting.origin, tells_end=False),
        Receiver(DASHBOARDS, (), alerting.origin),
        *(Receiver(_page(owner), owner.page, owner.origin) for owner in owners),
        *(Receiver(_ticket(owner), owner.ticket, owner.origin) for owner in owners),
    )
    return Notifications(root, receivers, _tests(factory), _members(factory))


def _members(factory: Factory) -> tuple[Member, ...]:
    """Every Alertmanager with its peers, each at a port of its own; one that is alone looks for none."""
    addresses = factory.alerting.alertmanagers
    hosts = [address.rpartition(":")[0] for address in addresses]
    peers = [f"{host}:{_CLUSTER_PORT + hosts[:index].count(host)}" for index, host in enumerate(hosts)]
    members = []
    for index, (host, me) in enumerate(zip(hosts, peers, strict=True)):
        others = tuple(f"--cluster.peer={peer}" for peer in peers if peer != me)
        listen = f"--cluster.listen-address=0.0.0.0:{me.rpartition(':')[2]}" if others else "--cluster.listen-address="
        name = host if hosts.count(host) == 1 else f"{host}-{hosts[:index].count(host)}"
        members.append(Member(name, (listen, *others), factory.alerting.origin))
    return tuple(members)


def _page(owner: Owner) -> str:
    return f"{owner.name}-page"


def _ticket(owner: Owner) -> str:
    return f"{owner.name}-ticket"


def _heartbeat(factory: Factory) -> Route:
    """First of all routes, repeated at least at the pace that the outside service waits for."""
    half = Duration(int(factory.alerting.every) // 2)
    return Route(
        receiver=HEARTBEAT,
        origin=factory.alerting.origin,
        matchers=(("alertname", naming.WATCHDOG),),
        group_by=("cluster",),
        wait=NO_TIME,
        # A notification is repeated when the group's interval ends and the repeat interval is over. Equal ones end
        # together, so it takes one interval or two, as the milliseconds fall: of half the pace each.
        interval=half,
        repeat=half,
    )


def _owner(owner: Owner) -> Route:
    severities = (
        Route(
            receiver=_page(owner),
            origin=owner.origin,
            matchers=(("severity", "page"),),
            group_by=PLACE,
            wait=Duration.of(seconds=10),
            repeat=Duration.of(hours=4),
        ),
        Route(DASHBOARDS, owner.origin, matchers=(("severity", "info"),)),
    )
    return Route(_ticket(owner), owner.origin, matchers=(("owner", owner.name),), children=severities)


def _tests(factory: Factory) -> tuple[RouteTest, ...]:
    tests = [
        RouteTest((("alertname", naming.WATCHDOG), ("severity", "info")), HEARTBEAT, factory.alerting.origin),
        RouteTest(
            (("alertname", "Foreign"),), _ticket(factory.owners[factory.alerting.fallback]), factory.alerting.origin
        ),
    ]
    for owner in factory.owners.values():
        reached = {"page": _page(owner), "ticket": _ticket(owner), "info": DASHBOARDS}
        tests += [
            RouteTest((("owner", owner.name), ("severity", severity)), receiver, owner.origin)
            for severity, receiver in reached.items()
        ]
    return tuple(tests)

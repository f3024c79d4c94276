"""Several Alertmanagers that are one: the flags by which each finds its peers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.plan.notifications import Member

if TYPE_CHECKING:
    from tocsin.factory import Factory

_CLUSTER_PORT = 9094  # Alertmanager's default


def members(factory: Factory) -> tuple[Member, ...]:
    """Every Alertmanager with its peers, each at a port of its own; one that is alone looks for none."""
    addresses = factory.alerting.alertmanagers
    hosts = [address.rpartition(":")[0] for address in addresses]
    peers = [f"{host}:{_CLUSTER_PORT + hosts[:index].count(host)}" for index, host in enumerate(hosts)]
    found = []
    for index, (host, me) in enumerate(zip(hosts, peers, strict=True)):
        others = tuple(f"--cluster.peer={peer}" for peer in peers if peer != me)
        listen = f"--cluster.listen-address=0.0.0.0:{me.rpartition(':')[2]}" if others else "--cluster.listen-address="
        name = host if hosts.count(host) == 1 else f"{host}-{hosts[:index].count(host)}"
        found.append(Member(name, (listen, *others), factory.alerting.origin))
    return tuple(found)

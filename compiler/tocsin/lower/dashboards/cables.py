"""Panels about errors of the fabric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import roce
from tocsin.lower.dashboards.panels import AT_NODE, WATCH, from_here, graph, of_signal
from tocsin.lower.fabric import PACKETS, REPEATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Panel

PORT_ERRORS = {
    "infiniband": (naming.PORT_CORRECTED, naming.PORT_UNCORRECTED),
    "roce": (naming.ROCE_CORRECTED, naming.ROCE_UNCORRECTED),
}
# What graphs of them are called, and how many rises are told.
_PORTS = {
    naming.PORT_CORRECTED: ("Errors corrected on InfiniBand ports", REPEATED),
    naming.PORT_UNCORRECTED: ("Losses on InfiniBand ports", PACKETS),
    naming.ROCE_CORRECTED: ("Errors corrected on RoCE ports", roce.RISES),
    naming.ROCE_UNCORRECTED: ("Losses on RoCE ports", roce.RISES),
}


def port_errors(factory: Factory) -> tuple[str, ...]:
    """The recorded series of the ports' errors, by the fabrics that there are."""
    if "fabric_errors" not in factory.signals:
        return ()
    fabrics = {group.fabric for cluster in factory.clusters.values() for group in cluster.groups}
    return tuple(name for fabric, two in PORT_ERRORS.items() if fabric in fabrics for name in two)


def error_graphs(factory: Factory) -> Iterator[Panel]:
    """Errors of ports and of NVLinks by their kind."""
    if "fabric_errors" not in factory.signals:
        return
    for name in port_errors(factory):
        yield _worst(factory, *_PORTS[name], name, "port")
    yield _worst(factory, "Recovered NVLinks", 1, naming.NVLINK_UNCORRECTED, "board")
    yield _worst(factory, "Errors corrected on NVLinks", REPEATED, naming.NVLINK_CORRECTED, "board")


def _worst(factory: Factory, title: str, limit: int, name: str, of: str) -> Panel:
    """How often the counter of each kind of error rose on the one that has most."""
    return graph(
        title,
        f"How often the counter of each error rose within a quarter of an hour, on the {of} where it did most; "
        f"the line is where the alert begins. {of_signal(factory, 'fabric_errors')}",
        [(f"max by (error) ({name}{{{AT_NODE}}})", "{{error}}")],
        "short",
        steps=from_here(limit, WATCH),
    )

"""Panels about errors of the fabric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.dashboards.panels import AT_NODE, graph, of_signal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan import Panel

PORT_ERRORS = {
    "infiniband": (naming.PORT_CORRECTED, naming.PORT_UNCORRECTED),
    "roce": (naming.ROCE_CORRECTED, naming.ROCE_UNCORRECTED),
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
    about = f"Rises of the errors' counters within a quarter of an hour. {of_signal(factory, 'fabric_errors')}"
    if names := port_errors(factory):
        yield graph("Fabric port errors", about, _by_error(names), "short")
    yield graph("NVLink errors", about, _by_error((naming.NVLINK_CORRECTED, naming.NVLINK_UNCORRECTED)), "short")


def _by_error(names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(f"sum by (error) ({name}{{{AT_NODE}}})", "{{error}}") for name in names]

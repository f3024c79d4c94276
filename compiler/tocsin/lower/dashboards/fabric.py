"""The fabric: its errors, the state of its ports, and how much they carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.dashboards import boards
from tocsin.lower.dashboards.cables import error_graphs, port_errors
from tocsin.lower.dashboards.monitoring import targets_at_fault
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import (
    AT_NODE,
    BAD,
    CLUSTER,
    END,
    GOOD,
    LINES,
    NODE,
    ROWS,
    WATCH,
    count_of,
    firing,
    graph,
    of_signal,
    table,
    to_gpus,
    worst,
)
from tocsin.lower.ports import ACTIVE, SPEED, STATE
from tocsin.plan.dashboards import Column, Meaning, Panel, Query, Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard

_PORT = naming.by(naming.PORT)
# PortState of the InfiniBand Architecture Specification; RoCE's ports are told as either of the outer two.
_STATES = (
    Meaning("1", "down", BAD),
    Meaning("2", "initialising", WATCH),
    Meaning("3", "armed", WATCH),
    Meaning("4", "active", GOOD),
)
_BYTES = {
    "received": "node_infiniband_port_data_received_bytes_total",
    "sent": "node_infiniband_port_data_transmitted_bytes_total",
}


def fabric(factory: Factory) -> Dashboard:
    """The page of those who mend cables."""
    at_fabric = 'layer="fabric"', 'node=~"$node"'
    panels = (
        *_now(factory),
        firing("Alerts on the fabric", "Alerts whose owner mends the fabric.", *at_fabric),
        *error_graphs(factory),
        *_worst_ports(factory),
        *_states(factory),
        *boards.xid_table(factory, AT_NODE),
        targets_at_fault(factory, ("node",), AT_NODE),
        *_traffic(factory),
    )
    about = "Ports and NVLinks: errors, states, and how much of what they can carry they do."
    return page(factory, "fabric", "Fabric", about, (CLUSTER, NODE), panels, (factory.owner_of("fabric"),))


def _now(factory: Factory) -> Iterator[Panel]:
    if not (names := port_errors(factory)):
        return
    down = f"count(max by ({_PORT}) ({STATE}{{{AT_NODE}}}) != {ACTIVE}) or vector(0)"
    yield count_of("Ports down", f"Ports that are not active. {of_signal(factory, 'fabric_link')}", down, BAD)
    for name, title, color in zip(names[:2], ("corrected", "uncorrected"), (WATCH, BAD), strict=True):
        ports = f"count(max by ({_PORT}) ({name}{{{AT_NODE}}}) > 0) or vector(0)"
        about = f"Ports with {title} errors within a quarter of an hour. {of_signal(factory, 'fabric_errors')}"
        yield count_of(f"Ports with {title} errors", about, ports, color)


def _worst_ports(factory: Factory) -> Iterator[Panel]:
    by = f"{_PORT}, error"
    rows = [f"max by ({by}) ({name}{{{AT_NODE}}}) > 0" for name in port_errors(factory)]
    if rows:
        yield table(
            "Ports with errors",
            f"Rises of each error's counter within a quarter of an hour. {of_signal(factory, 'fabric_errors')}",
            [f"topk({ROWS}, {' or '.join(rows)})"],
            (*(Column(name, name) for name in (*naming.PORT, "error")), Column("Value #A", "rises")),
            unit="short",
            links=(to_gpus(factory, *naming.NODE),),
        )


def _states(factory: Factory) -> Iterator[Panel]:
    """When which port went down and came back."""
    if port_errors(factory):
        state = f"max by ({_PORT}) ({STATE}{{{AT_NODE}}}{END})"
        yield Panel(
            "state-timeline",
            "States of ports",
            f"The {LINES} that are furthest from being active. {of_signal(factory, 'fabric_link')}",
            (Query(worst(_PORT, state, least=True), "{{node}} {{device}} {{port}}"),),
            "none",
            steps=(Step(None, BAD), Step(2, WATCH), Step(ACTIVE, GOOD)),
            meanings=_STATES,
            links=(to_gpus(factory, *naming.NODE),),
        )


def _traffic(factory: Factory) -> Iterator[Panel]:
    if not port_errors(factory):
        return
    for way, name in _BYTES.items():
        carried = f"sum by (cluster, node) (rate({name}{{{AT_NODE}}}[5m]{END}))"
        yield graph(
            f"Most {way}",
            f"Nodes by what their ports carry. {of_signal(factory, 'fabric_link')}",
            [(worst("cluster, node", carried), "{{node}}")],
            "Bps",
            links=(to_gpus(factory, *naming.NODE),),
        )
    shares = [
        (f"max(rate({name}{{{AT_NODE}}}[5m]) / on ({_PORT}) {SPEED}{{{AT_NODE}}})", way) for way, name in _BYTES.items()
    ]
    about = f"Share of its speed that the busiest port carries. {of_signal(factory, 'fabric_link')}"
    yield graph("Busiest port", about, shares, "percentunit", maximum=1)

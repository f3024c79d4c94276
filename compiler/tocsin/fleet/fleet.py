"""The fleet: its hosts, an HTTP server for each exporter of each, and what can go wrong."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tocsin.fleet.listener import Listener, same_port
from tocsin.fleet.node import EXPORTERS, Node
from tocsin.fleet.workload import Service, Trainer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from tocsin.fleet.listener import Answer

USUAL_PORTS = {"dcgm": 9400, "node": 9100, "trainer": 8000, "serving": 8002}
FAULTS = ("xid", "vanish", "throttle", "ecc", "link_down", "exporter_down", "errors")


def usual(nodes: int, gpus: int) -> list[Node]:
    """Hosts from 127.0.0.11 on, each of which trains, but for the last, which serves."""
    hosts = [f"127.0.0.{11 + index}" for index in range(nodes)]
    trainers = [
        Node(host, gpus=gpus, jobs=(str(4711 + index),), trainer=Trainer(str(4711 + index), "vision"))
        for index, host in enumerate(hosts[:-1])
    ]
    return [*trainers, Node(hosts[-1], gpus=gpus, jobs=("4700",), release=(4, 8, 3), service=Service("chat"))]


class Fleet:
    """Listens on every node's address from the moment it is made until it is closed; use it in a `with`.

    An exporter has the same port on all nodes; `ports` says which, and where it does not, free ones are found.
    OSError where an address cannot be listened on.
    """

    def __init__(self, nodes: Iterable[Node], ports: Mapping[str, int] | None = None) -> None:
        self.nodes = {node.host: node for node in nodes}
        self.ports: dict[str, int] = {}
        self._down: set[tuple[str, str]] = set()
        self._listeners: dict[tuple[str, str], Listener] = {}
        try:
            for exporter in EXPORTERS:
                self._listen(exporter, (ports or {}).get(exporter, 0))
        except OSError:
            self.close()
            raise

    def __enter__(self) -> Fleet:
        """Nothing to do: it listens already."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Stop listening."""
        self.close()

    def close(self) -> None:
        """Stop listening."""
        while self._listeners:
            self._listeners.popitem()[1].stop()

    def endpoints(self) -> list[tuple[str, str, str]]:
        """Exporter, host and address of all that is there to be scraped."""
        return [
            (exporter, node.host, f"{node.host}:{self.ports[exporter]}")
            for exporter in EXPORTERS
            for node in self.nodes.values()
            if exporter in node.exporters()
        ]

    def _listen(self, exporter: str, port: int) -> None:
        hosts = [node.host for node in self.nodes.values() if exporter in node.exporters()]
        if not hosts:
            return
        listeners = same_port(hosts, [self._answer(exporter, host) for host in hosts], port)
        self.ports[exporter] = listeners[0].address[1]
        for host, listener in zip(hosts, listeners, strict=True):
            if exporter == "node" and self.nodes[host].sysfs is not None:
                listener.stop()  # the address is free, and the real node_exporter will have it
            else:
                self._listeners[exporter, host] = listener

    def _answer(self, exporter: str, host: str) -> Answer:
        page = partial(self.nodes[host].page, exporter)

        def answer(path: str, _body: bytes) -> str | None:
            if (host, exporter) in self._down:
                return None
            return page() if path == "/metrics" else "See /metrics\n"

        return answer

    # --- faults -------------------------------------------------------------------------------------------------------

    def xid(self, node: str, gpu: int, code: int) -> None:
        """The driver of a GPU reports an XID error."""
        self.nodes[node].boards[gpu].xid(code)

    def vanish(self, node: str, gpu: int) -> None:
        """A GPU is gone, and its series with it."""
        self.nodes[node].boards[gpu].present = False

    def throttle(self, node: str, gpu: int, reason: str = "hw_thermal") -> None:
        """A GPU is slowed down: sw_power_cap, hw_slowdown, sw_thermal, hw_thermal or hw_power_brake."""
        self.nodes[node].boards[gpu].throttle(reason)

    def ecc(self, node: str, gpu: int, count: int = 1) -> None:
        """So many uncorrected memory errors more."""
        self.nodes[node].boards[gpu].ecc(count)

    def link_down(self, node: str, device: str = "mlx5_0") -> None:
        """The InfiniBand port of an adapter loses its link and stays down."""
        (port,) = [port for port in self.nodes[node].ports if port.device == device]
        port.down()
        self.nodes[node].show_ports()

    def exporter_down(self, node: str, exporter: str) -> None:
        """An exporter (dcgm, node, trainer, serving) hangs up on whoever asks it."""
        if (exporter, node) not in self._listeners:
            raise KeyError(f"{exporter} of {node}")
        self._down.add((node, exporter))

    def errors(self, service: str, ratio: float) -> None:
        """From now on this share of a service's requests fails, on all its hosts."""
        services = [node.service for node in self.nodes.values() if node.service and node.service.name == service]
        if not services:
            raise KeyError(service)
        for one in services:
            one.errors(ratio)

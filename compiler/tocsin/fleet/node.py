"""A host of the fleet and the pages of its exporters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tocsin.catalog import gpu_models
from tocsin.fleet import port, work
from tocsin.fleet.board import XID, XID_MESSAGES, Board
from tocsin.fleet.counters import every_metric, listed
from tocsin.fleet.exposition import Family, page, rendered
from tocsin.fleet.meter import Meter
from tocsin.fleet.port import Port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from tocsin.catalog.kinds import Metric
    from tocsin.fleet.exposition import Labels
    from tocsin.fleet.workload import Service, Trainer

EXPORTERS = ("dcgm", "node", "dcgm-deep", "trainer", "serving")
LINKS = 4  # NVLinks of a board
# What of a host is no board, by its labels: switches and their links, CPUs, the host as a whole.
_PARTS: dict[str, list[dict[str, str]]] = {
    "nvswitch": [{"nvswitch": str(switch)} for switch in range(2)],
    "nvswitch_link": [{"nvswitch": str(switch), "nvlink": str(link)} for switch in range(2) for link in range(4)],
    "cpu": [{"cpu": str(cpu)} for cpu in range(2)],
    "host": [{}],
}
_LOWER_CASE_SINCE = (4, 8, 3)  # the release of dcgm-exporter that renamed Hostname to hostname


@dataclass(slots=True)
class Node:
    """A host by its address. `jobs` are those that all its boards work for; `sysfs` a folder that shows its ports.

    `release` is its dcgm-exporter's, and `pod` what that takes for the host's name where it runs in a container. A host
    with a `sysfs` leaves node_exporter's page to the real node_exporter; `beside` tells further families of that page.
    `on_pods` is whether Kubernetes gives its boards away: then there is a second dcgm-exporter, and `pods` are those of
    each board by its number. A board may be shared (mig or time_slicing) by so many `shares`.
    """

    host: str
    model: str = "h100"
    gpus: int = 8
    jobs: tuple[str, ...] = ()
    release: tuple[int, ...] = (4, 8, 2)
    pod: str = ""
    adapters: int = 2
    fabric: str = "infiniband"
    trainer: Trainer | None = None
    service: Service | None = None
    sysfs: Path | None = None
    on_pods: bool = False
    pods: dict[int, tuple[work.Pod, ...]] = field(default_factory=dict)
    sharing: str = "none"
    shares: int = 1
    beside: Callable[[], Iterable[Family]] = tuple
    boards: list[Board] = field(init=False)
    ports: list[Port] = field(init=False)
    _metrics: tuple[Metric, ...] = field(default_factory=every_metric)
    _deep: tuple[Metric, ...] = ()
    _busy: Meter = field(default_factory=lambda: Meter(rate=0.7))
    _known: dict[tuple[object, ...], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Everything is sound."""
        product = gpu_models()[self.model].product
        self.boards = [
            Board(self.host, index, product, self.jobs, busy=bool(self.jobs or self.pods.get(index)))
            for index in range(self.gpus)
        ]
        self.ports = [Port(f"mlx5_{index}", 50e9, self.fabric) for index in range(self.adapters)]
        self.show_ports()

    def show_ports(self) -> None:
        """Let the folder that stands for /sys say how the ports are."""
        if self.sysfs is not None:
            port.write_sysfs(self.ports, self.sysfs)

    def collect(self, counters: str) -> None:
        """Restart dcgm-exporter with a counters file; ValueError where it would not start."""
        self._metrics = listed(counters)

    def collect_deep(self, counters: str) -> None:
        """Restart the second dcgm-exporter with a counters file."""
        self._deep = listed(counters)

    def exporters(self) -> list[str]:
        """Those that answer on this host."""
        there = {
            "dcgm": True,
            "node": True,
            "dcgm-deep": self.on_pods,
            "trainer": self.trainer,
            "serving": self.service,
        }
        return [name for name in EXPORTERS if there[name]]

    def page(self, exporter: str) -> str:
        """What an exporter says now."""
        if exporter in ("dcgm", "dcgm-deep"):
            return page(self._dcgm(self._metrics if exporter == "dcgm" else self._deep))
        if exporter == "node":
            load = Family("node_load1", "gauge", "1m load average.", [({}, 12.5)])
            busy = Family(
                "node_cpu_seconds_total",
                "counter",
                "Seconds the CPUs spent in each mode.",
                [({"cpu": "0", "mode": "user"}, self._busy.read())],
            )
            return page([busy, load, *port.families(self.ports), *self.beside()])
        workload = self.trainer if exporter == "trainer" else self.service
        return page(workload.families() if workload else [])

    def _dcgm(self, metrics: Iterable[Metric]) -> Iterator[Family]:
        present = [board for board in self.boards if board.present]
        if not present:
            return
        for metric in metrics:
            if metric.sparse:
                continue
            copies: list[tuple[Labels | str, float]] = [
                (self._named(board, metric, worker, link), board.read(metric.name))
                for board in present
                for worker in self._copies(board, metric.name)
                for link in _links(metric)
            ]
            if metric.entity in _PARTS:  # as often as the host has it; no board's, and so without its labels
                copies = [({**self._host(), **part}, 0) for part in _PARTS[metric.entity]]
            yield Family(metric.name, metric.type, metric.help, copies)

    def _copies(self, board: Board, metric: str) -> list[work.Labels]:
        workers = [{"hpc_job": job} for job in board.jobs]
        workers += [pod.named() for pod in self.pods.get(board.index, ())]
        if self.sharing == "mig":
            return work.of_instances(workers, self.shares)
        return work.of_slices(workers, metric) if self.sharing == "time_slicing" else work.whole(workers)

    def _named(self, board: Board, metric: Metric, worker: work.Labels, link: dict[str, str]) -> str:
        """The labels of a series, written out once for all its samples."""
        code = board.read(XID) if metric.name == XID else 0
        key = (metric.name, board.index, board.uuid, code, *worker.items(), *link.items())
        if key not in self._known:
            self._known[key] = rendered({**self._labels(board, metric, worker), **link})
        return self._known[key]

    def _labels(self, board: Board, metric: Metric, worker: work.Labels) -> dict[str, str]:
        """As the exporter orders them; labels of a job or a pod only where its mapping names one."""
        labels = {
            "gpu": str(board.index),
            "UUID": board.uuid,
            "pci_bus_id": f"00000000:{0x1B + board.index:02X}:00.0",
            "device": f"nvidia{board.index}",
            "modelName": board.product,
            **self._host(),
            "DCGM_FI_DRIVER_VERSION": "550.54.15",
        }
        if metric.name == XID:
            code = int(board.read(XID))
            labels |= {"err_code": str(code), "err_msg": XID_MESSAGES.get(code, "Unknown Error")}
        return labels | worker

    def _host(self) -> dict[str, str]:
        return {"hostname" if self.release >= _LOWER_CASE_SINCE else "Hostname": self.pod or self.host}


def _links(metric: Metric) -> list[dict[str, str]]:
    """The labels of each link of a board, or none: most series are one a board."""
    return [{"nvlink": str(link)} for link in range(LINKS)] if metric.entity == "link" else [{}]

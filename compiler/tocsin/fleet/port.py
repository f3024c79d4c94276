"""A port of a fabric, as node_exporter shows it and as Linux does: a folder of files below /sys/class/infiniband."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.catalog import PORT_ERRORS, metrics
from tocsin.fleet.exposition import Family
from tocsin.fleet.meter import Meter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tocsin.catalog.kinds import Metric

STATE, PHYSICAL, SPEED = (
    "node_infiniband_state_id",
    "node_infiniband_physical_state_id",
    "node_infiniband_rate_bytes_per_second",
)
DOWNED = "node_infiniband_link_downed_total"
STATES = {4: "4: ACTIVE", 1: "1: DOWN"}
PHYSICAL_STATES = {5: "5: LinkUp", 2: "2: Polling"}

# The kernel's file behind each counter. It counts data in words of four bytes, which node_exporter multiplies.
FILES = {
    DOWNED: ("link_downed", 1),
    "node_infiniband_port_errors_received_total": ("port_rcv_errors", 1),
    "node_infiniband_port_discards_transmitted_total": ("port_xmit_discards", 1),
    "node_infiniband_symbol_error_total": ("symbol_error", 1),
    "node_infiniband_link_error_recovery_total": ("link_error_recovery", 1),
    "node_infiniband_port_data_received_bytes_total": ("port_rcv_data", 4),
    "node_infiniband_port_data_transmitted_bytes_total": ("port_xmit_data", 4),
}


class Port:
    """The one port of an adapter, `speed` in bytes per second, with a meter for each of the catalogue's metrics."""

    def __init__(self, device: str, speed: float, fabric: str = "infiniband") -> None:
        self.device = device
        self.fabric = fabric
        self.meters = {metric.name: Meter(rate=1e9 if metric.unit == "bytes" else 0) for metric in shown(fabric)}
        for name, value in ((STATE, 4), (PHYSICAL, 5), (SPEED, speed)):
            self.meters[name].put(value)

    def down(self) -> None:
        """The cable is pulled: the loss is counted, the port polls for a partner."""
        self.meters[DOWNED].add(1)
        self.meters[STATE].put(1)
        self.meters[PHYSICAL].put(2)
        for meter in self.meters.values():
            meter.run(0)


def shown(fabric: str = "infiniband") -> list[Metric]:
    """What the rules read of node_exporter's ports. One of RoCE has what it counts as errors beside all others."""
    signals = {"fabric_errors", "fabric_link", PORT_ERRORS[fabric]}
    return [metric for metric in metrics().values() if metric.exporter == "node" and metric.signal in signals]


def families(ports: Sequence[Port]) -> list[Family]:
    """The ports as node_exporter shows them; nothing where there are none."""
    if not ports:
        return []
    return [
        Family(
            metric.name,
            metric.type,
            metric.help,
            [({"device": port.device, "port": "1"}, int(port.meters[metric.name].read())) for port in ports],
        )
        for metric in shown(ports[0].fabric)
    ]


def write_sysfs(ports: Sequence[Port], folder: Path) -> None:
    """The ports as Linux shows them, in a folder that stands for /sys; each file is replaced whole."""
    for port in ports:
        adapter = folder / "class" / "infiniband" / port.device
        one = adapter / "ports" / "1"
        value = {name: int(meter.read()) for name, meter in port.meters.items()}
        _write(adapter / "board_id", "MT_0000000838")
        _write(adapter / "fw_ver", "28.39.1002")
        _write(adapter / "hca_type", "MT4129")
        _write(one / "state", STATES[value[STATE]])
        _write(one / "phys_state", PHYSICAL_STATES[value[PHYSICAL]])
        _write(one / "rate", f"{value[SPEED] * 8 // 10**9} Gb/sec (4X NDR)")
        for name, (file, words) in FILES.items():
            _write(one / "counters" / file, str(value[name] // words))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.parent.parent / f"{path.name}.next"  # out of the sight of who lists the folder
    beside.write_text(f"{text}\n", encoding="utf-8")
    beside.replace(path)

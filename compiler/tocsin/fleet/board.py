"""A GPU: what dcgm-exporter can read of it, at work or idle, and what can befall it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from tocsin.fleet.counters import every_metric
from tocsin.fleet.meter import Meter

if TYPE_CHECKING:
    from tocsin.catalog.kinds import Metric

XID = "DCGM_FI_DEV_XID_ERRORS"
XID_MESSAGES = {
    0: "No Error",
    31: "GPU memory page fault",
    48: "Double Bit ECC Error",
    79: "GPU has fallen off the bus",
}

# Bits of DCGM_FI_DEV_CLOCK_THROTTLE_REASONS (dcgm_fields.h).
THROTTLE_BITS = {
    "idle": 1,
    "sw_power_cap": 4,
    "hw_slowdown": 8,
    "sw_thermal": 32,
    "hw_thermal": 64,
    "hw_power_brake": 128,
}

# What a sound board shows: at work, idle. Other fields show what is usual for their reading.
_SOUND = {
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": (THROTTLE_BITS["sw_power_cap"], THROTTLE_BITS["idle"]),
    "DCGM_FI_DEV_GPU_UTIL": (97, 0),
    "DCGM_FI_DEV_GPU_TEMP": (61, 34),
    "DCGM_FI_DEV_MEMORY_TEMP": (72, 41),
    "DCGM_FI_DEV_SLOWDOWN_TEMP": (89, 89),
    "DCGM_FI_DEV_SHUTDOWN_TEMP": (92, 92),
    "DCGM_FI_DEV_GPU_MAX_OP_TEMP": (87, 87),
    "DCGM_FI_DEV_MEM_MAX_OP_TEMP": (95, 95),
    "DCGM_FI_DEV_POWER_USAGE": (655.5, 71.25),
    "DCGM_FI_DEV_POWER_MGMT_LIMIT": (700, 700),
    "DCGM_FI_DEV_ENFORCED_POWER_LIMIT": (700, 700),
    "DCGM_FI_DEV_SM_CLOCK": (1755, 345),
    "DCGM_FI_DEV_MAX_SM_CLOCK": (1980, 1980),
    "DCGM_FI_PROF_DRAM_ACTIVE": (0.46, 0),
    "DCGM_FI_PROF_PCIE_TX_BYTES": (4.1e9, 1.2e5),
    "DCGM_FI_PROF_PCIE_RX_BYTES": (5.3e9, 1.1e5),
}
_USUAL = {"level": (50, 40), "ratio": (0.5, 0), "percent": (50, 0), "throughput": (1e9, 0)}
_GROWTH = {"bytes": (2e9, 0), "millijoules": (655e3, 71e3), "joules": (655, 71)}  # a second; other totals count faults


class Board:
    """One GPU of a host. `jobs` are those that it works for; each is a copy of all its series."""

    def __init__(self, host: str, index: int, product: str, jobs: tuple[str, ...], *, busy: bool) -> None:
        self.index = index
        self.uuid = f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, f'{index}.{host}')}"
        self.product = product
        self.jobs = jobs
        self.present = True
        self._meters = {metric.name: _meter(metric, idle=not busy) for metric in every_metric()}

    def read(self, name: str) -> float:
        """The value of a field now."""
        return self._meters[name].read()

    def put(self, name: str, value: float) -> None:
        """Let a field show a value from now on; KeyError for a field that the catalogue does not know."""
        self._meters[name].put(value)

    def add(self, name: str, amount: float) -> None:
        """Let a counter jump by an amount; KeyError for a field that the catalogue does not know."""
        self._meters[name].add(amount)

    def xid(self, code: int) -> None:
        """The driver reports an error; the field keeps its code."""
        self._meters[XID].put(code)

    def throttle(self, reason: str) -> None:
        """The clock goes down for a reason; KeyError for an unknown one."""
        bits = THROTTLE_BITS[reason]
        self._meters["DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"].put(bits)
        self._meters["DCGM_FI_DEV_SM_CLOCK"].put(900)

    def ecc(self, count: int) -> None:
        """So many memory errors more that could not be corrected."""
        self._meters["DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"].add(count)


def _meter(metric: Metric, *, idle: bool) -> Meter:
    if metric.reading == "total":
        return Meter(rate=_GROWTH.get(metric.unit, (0, 0))[idle])
    return Meter(_SOUND.get(metric.name, _USUAL.get(metric.reading, (0, 0)))[idle])

"""Panels about drives and filesystems of the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.dashboards.panels import LINES, ROWS, bars, of_signal, table, to_gpus, up_to_here
from tocsin.lower.disks import AVAIL, NVME, READONLY, REAL
from tocsin.plan.dashboards import Column
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Panel

_TREND = Duration.of(hours=6)


def filling(factory: Factory, here: str) -> Iterator[Panel]:
    """How soon filesystems are full, asked for as it is now: over the range it would read each six hours anew."""
    if "filesystem" not in factory.signals or factory.retention.hot.keep.seconds < _TREND.seconds:
        return
    space, by = f"{AVAIL}{{{here}, {REAL}}}", "cluster, node, mountpoint"
    full = f"min by ({by}) ({space} / -(deriv({space}[{_TREND}]) < 0))"
    yield bars(
        "Filesystems that are full first",
        f"In how long, if they go on filling as within the last {_TREND}; below its limit the alert begins. "
        + of_signal(factory, "filesystem"),
        [(f"bottomk({LINES}, {full})", "{{node}} {{mountpoint}}")],
        "s",
        steps=up_to_here(float(factory.limits["filesystem_full_in"])),
        links=(to_gpus(factory, *naming.NODE),),
    )


def failed(factory: Factory, here: str) -> Iterator[Panel]:
    """Drives that do not work, and filesystems that take no writes."""
    rows, signals = [], []
    if "nvme_info" in factory.signals:
        rows.append(f'max by (cluster, node, device, state) ({NVME}{{{here}, state!="live"}}) == 1')
        signals.append("nvme_info")
    if "filesystem" in factory.signals:
        rows.append(f"max by (cluster, node, device, mountpoint) ({READONLY}{{{here}, {REAL}}}) == 1")
        signals.append("filesystem")
    if rows:
        about = " ".join(of_signal(factory, signal) for signal in signals)
        yield table(
            "Drives and filesystems at fault",
            f"Drives that are not live, and filesystems that take no writes, those included that shall not. {about}",
            [f"topk({ROWS}, {' or '.join(rows)})"],
            tuple(Column(name, name) for name in ("cluster", "node", "device", "state", "mountpoint")),
            links=(to_gpus(factory, *naming.NODE),),
        )

"""Drives and filesystems of the nodes: worn, warned of, read-only, and filling up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.cases import Case, group
from tocsin.lower.proofs import example_node
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan import RuleGroup

WARNING, WEAR = "smartctl_device_critical_warning", "smartctl_device_percentage_used"
SPARE, LEAST_SPARE = "smartctl_device_available_spare", "smartctl_device_available_spare_threshold"
NVME, READONLY, AVAIL = "node_nvme_info", "node_filesystem_readonly", "node_filesystem_avail_bytes"
READ_ONLY = 8  # of the critical warnings: the media became read-only (NVM Express Base Specification, SMART log)
_DRIVE, _MOUNT = (naming.by((*naming.NODE, *more)) for more in (("device",), ("device", "mountpoint")))
_DISK = "{{ $labels.device }} of {{ $labels.node }}"
_MOUNTED = "{{ $labels.mountpoint }} of {{ $labels.node }}"
# Filesystems that are in memory, or read-only by what they are.
REAL = 'fstype!~"tmpfs|ramfs|overlay|squashfs|iso9660|erofs"'
_REAL = f"{{{REAL}}}"


def disks(factory: Factory) -> RuleGroup | None:
    """What ails drives and filesystems, by the signals that are collected."""
    return group("node-disks", "drives and filesystems that fail, and others beside them", list(_cases(factory)))


def _cases(factory: Factory) -> Iterator[Case]:
    if "nvme_warning" in factory.signals:
        yield from _warned(factory)
    if "nvme_wear" in factory.limits:
        yield _worn(factory)
    if "nvme_spare" in factory.signals:
        yield _spare(factory)
    if "nvme_info" in factory.signals:
        yield _dead(factory)
    if "filesystem" in factory.signals:
        yield _read_only(factory)
        yield _filling(factory)


def _drive(factory: Factory, device: str) -> dict[str, str]:
    return {**example_node(factory), "device": device}


def _warned(factory: Factory) -> Iterator[Case]:
    signal = factory.signals["nvme_warning"]
    bits = f"max by ({_DRIVE}) ({WARNING})"
    read_only, spare = _drive(factory, "nvme0"), _drive(factory, "nvme1")
    inputs = [
        (WARNING, {**read_only, "job": "smartctl"}, f"0x9 {READ_ONLY}x30"),
        (WARNING, {**spare, "job": "smartctl"}, "0x9 1x30"),
        (WARNING, {**_drive(factory, "nvme2"), "job": "smartctl"}, "0x40"),
    ]
    yield Case(
        signal_alert(
            factory,
            "NvmeReadOnly",
            signal,
            "page",
            expr=f"floor({bits} / {READ_ONLY}) % 2 == 1",
            summary="A drive of {{ $labels.node }} became read-only",
            description=f"{_DISK} takes no more writes, by its own word: drain the node and exchange the drive.",
        ),
        9,
        10,
        read_only,
        inputs,
        1,
    )
    yield Case(
        signal_alert(
            factory,
            "NvmeWarning",
            signal,
            "ticket",
            expr=f"({bits} > 0) unless on ({_DRIVE}) (floor({bits} / {READ_ONLY}) % 2 == 1)",
            summary="A drive of {{ $labels.node }} warns",
            description=f"{_DISK} tells critical warnings, {{{{ $value }}}} as bits: 1 spare blocks, 2 temperature, "
            "4 reliability, 16 the power that saves its cache.",
        ),
        9,
        10,
        spare,
        inputs,
        1,
    )


def _worn(factory: Factory) -> Case:
    limit = factory.limits["nvme_wear"]
    alert = signal_alert(
        factory,
        "NvmeWornOut",
        factory.signals["nvme_wear"],
        "ticket",
        expr=f"max by ({_DRIVE}) ({WEAR}) >= {number(limit)}",
        summary="A drive of {{ $labels.node }} is worn",
        description=f"{_DISK} has used up {{{{ $value }}}} percent of its rated life: plan to exchange it.",
    )
    worn = _drive(factory, "nvme0")
    inputs = [
        (WEAR, {**worn, "job": "smartctl"}, f"{number(limit - 1)}x9 {number(limit)}x30"),
        (WEAR, {**_drive(factory, "nvme1"), "job": "smartctl"}, f"{number(limit - 1)}x40"),
    ]
    return Case(alert, 9, 10, worn, inputs, float(limit))


def _spare(factory: Factory) -> Case:
    alert = signal_alert(
        factory,
        "NvmeSpareLow",
        factory.signals["nvme_spare"],
        "ticket",
        expr=f"max by ({_DRIVE}) ({SPARE}) < on ({_DRIVE}) max by ({_DRIVE}) ({LEAST_SPARE})",
        summary="A drive of {{ $labels.node }} has few spare blocks",
        description=f"{_DISK} has {{{{ $value }}}} percent of its spare blocks left, less than its own threshold: "
        "exchange it.",
    )
    few, some = _drive(factory, "nvme0"), _drive(factory, "nvme1")
    inputs = [
        (SPARE, {**few, "job": "smartctl"}, "10x9 9x30"),
        (SPARE, {**some, "job": "smartctl"}, "10x40"),
        *((LEAST_SPARE, {**one, "job": "smartctl"}, "10x40") for one in (few, some)),
    ]
    return Case(alert, 9, 10, few, inputs, 9)


def _dead(factory: Factory) -> Case:
    alert = signal_alert(
        factory,
        "NvmeNotLive",
        factory.signals["nvme_info"],
        "ticket",
        expr=f'max by ({naming.by((*naming.NODE, "device", "state"))}) ({NVME}{{state!="live"}}) == 1',
        hold=Duration.of(minutes=5),
        summary="A drive of {{ $labels.node }} does not work",
        description=f"The kernel says of {_DISK} that it is {{{{ $labels.state }}}}: look at the drive and its log.",
    )
    dead = _drive(factory, "nvme0")
    inputs = [
        (NVME, {**dead, "job": "node", "state": "live"}, "1x9 stale"),
        (NVME, {**dead, "job": "node", "state": "dead"}, "_x10 1x30"),
        (NVME, {**_drive(factory, "nvme1"), "job": "node", "state": "live"}, "1x40"),
    ]
    return Case(alert, 14, 15, {**dead, "state": "dead"}, inputs, 1)


def _mount(factory: Factory, point: str) -> dict[str, str]:
    return {**_drive(factory, f"/dev/{point}"), "mountpoint": f"/{point}"}


def _read_only(factory: Factory) -> Case:
    alert = signal_alert(
        factory,
        "FilesystemReadOnly",
        factory.signals["filesystem"],
        "ticket",
        # Some are mounted so on purpose: it is news where it could be written within the last day.
        expr=f"max by ({_MOUNT}) ({READONLY}{_REAL}) == 1\n"
        f"and on ({_MOUNT}) (min by ({_MOUNT}) (min_over_time({READONLY}{_REAL}[1d])) == 0)",
        hold=Duration.of(minutes=2),
        summary="A filesystem of {{ $labels.node }} became read-only",
        description=f"{_MOUNTED} takes no more writes: the kernel met errors on {{{{ $labels.device }}}}.",
    )
    broken, meant, memory = (_mount(factory, point) for point in ("data", "boot", "run"))
    inputs = [
        (READONLY, {**broken, "job": "node", "fstype": "ext4"}, "0x9 1x40"),
        (READONLY, {**meant, "job": "node", "fstype": "vfat"}, "1x60"),
        (READONLY, {**memory, "job": "node", "fstype": "tmpfs"}, "0x9 1x40"),
    ]
    return Case(alert, 11, 12, broken, inputs, 1)


def _filling(factory: Factory) -> Case:
    ahead = number(factory.limits["filesystem_full_in"])
    space = f"{AVAIL}{_REAL}"
    alert = signal_alert(
        factory,
        "FilesystemFilling",
        factory.signals["filesystem"],
        "ticket",
        # Over six hours, and still over the last one: what was written at once, and stays, fills nothing.
        expr=f"min by ({_MOUNT}) (predict_linear({space}[6h], {ahead})) < 0\n"
        f"and on ({_MOUNT}) (min by ({_MOUNT}) (predict_linear({space}[1h], {ahead})) < 0)\n"
        f"and on ({_MOUNT}) group by ({_MOUNT}) ({space} offset 1h)",
        hold=Duration.of(minutes=10),
        summary="A filesystem of {{ $labels.node }} will be full soon",
        description=f"If it goes on so, {_MOUNTED} is full within {Duration.of(seconds=int(float(ahead)))}: "
        "checkpoints and logs will fail.",
    )
    soon, late, once, steady = (_mount(factory, point) for point in ("fills", "falls", "filled", "steady"))
    # Bytes a minute by which the first is full a little before, and the second a little after that.
    minutes = int(float(ahead)) // 60
    inputs = [
        (AVAIL, {**soon, "job": "node", "fstype": "xfs"}, f"{1000 * (minutes + 60)}-1000x69"),
        (AVAIL, {**late, "job": "node", "fstype": "xfs"}, f"{1000 * (minutes + 90)}-1000x75"),
        (AVAIL, {**once, "job": "node", "fstype": "xfs"}, f"{1000 * minutes}x9 10x100"),
        (AVAIL, {**steady, "job": "node", "fstype": "xfs"}, "10x100"),
    ]
    return Case(alert, 68, 71, soon, inputs, 0)

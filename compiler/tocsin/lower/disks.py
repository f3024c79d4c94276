"""Drives and filesystems of the nodes: worn, warned of, read-only, and filling up."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.cases import Case, group
from tocsin.lower.proofs import example_node, firing, proof, series
from tocsin.plan.rules import Expectation
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.rules import Alert, RuleGroup, RuleTest

WARNING, WEAR = "smartctl_device_critical_warning", "smartctl_device_percentage_used"
SPARE, LEAST_SPARE = "smartctl_device_available_spare", "smartctl_device_available_spare_threshold"
NVME, READONLY, AVAIL = "node_nvme_info", "node_filesystem_readonly", "node_filesystem_avail_bytes"
_STEP, _STEPS = Duration.of(minutes=10), 156  # of the test that looks back for a day
READ_ONLY = 8  # of the critical warnings: the media became read-only (NVM Express Base Specification, SMART log)
_DRIVE, _MOUNT = (naming.by((*naming.NODE, *more)) for more in (("device",), ("device", "mountpoint")))
_DISK = "{{ $labels.device }} of {{ $labels.node }}"
_MOUNTED = "{{ $labels.mountpoint }} of {{ $labels.node }}"
# Filesystems that are in memory, or read-only by what they are.
REAL = 'fstype!~"tmpfs|ramfs|overlay|squashfs|iso9660|erofs"'
_REAL = f"{{{REAL}}}"


def disks(factory: Factory) -> RuleGroup | None:
    """What ails drives and filesystems, by the signals that are collected."""
    cases = list(_cases(factory))
    made = group("node-disks", "drives and filesystems that fail, and others beside them", cases)
    if made is None or "filesystem" not in factory.signals:
        return made
    filling = _filling(factory)
    proofs = (*made.tests, _days_test(factory, cases[-1].alert, filling))
    return made._replace(rules=(*made.rules, filling), tests=proofs)


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


def _drive(factory: Factory, device: str) -> dict[str, str]:
    return {**example_node(factory), "device": device}


def _warned(factory: Factory) -> Iterator[Case]:
    read_only, spare = _drive(factory, "nvme0"), _drive(factory, "nvme1")
    inputs = [
        (WARNING, {**read_only, "job": "smartctl"}, f"0x9 {READ_ONLY + 1}x30"),
        (WARNING, {**spare, "job": "smartctl"}, "0x9 1x30"),
        (WARNING, {**_drive(factory, "nvme2"), "job": "smartctl"}, "0x40"),
    ]
    became_read_only, warned = _warnings(factory)
    yield Case(became_read_only, 9, 10, read_only, inputs, 1)
    yield Case(warned, 9, 10, spare, inputs, 1)


def _warnings(factory: Factory) -> tuple[Alert, Alert]:
    """That a drive took to reading only, and that it warns of anything else."""
    signal, bits = factory.signals["nvme_warning"], f"max by ({_DRIVE}) ({WARNING})"
    return (
        signal_alert(
            factory,
            "NvmeReadOnly",
            signal,
            "page",
            expr=f"floor({bits} / {READ_ONLY}) % 2 == 1",
            summary="A drive of {{ $labels.node }} became read-only",
            description=f"{_DISK} takes no more writes, by its own word: drain the node and exchange the drive.",
        ),
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


def _filling(factory: Factory) -> Alert:
    ahead = number(factory.limits["filesystem_full_in"])
    space = f"{AVAIL}{_REAL}"
    return signal_alert(
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


def _days_test(factory: Factory, read_only: Alert, filling: Alert) -> RuleTest:
    """Twenty-six hours in steps of ten minutes, at whose end filesystems fill, seem to, or became read-only."""
    ahead = Fraction(factory.limits["filesystem_full_in"]) / _STEP.seconds
    # So many bytes are left of one that loses a thousand a step, and will be full at the last step and the one before.
    left = (ahead - Fraction(3, 2)) * 1000
    steady = f"{number(left + 200_000)}x{_STEPS}"
    space = {
        "fills": _falls(left, 38),
        "later": _falls(left + 2000, 38),
        "calm": _falls(left, 19),  # only in the last three of six hours
        "cleaned": f"{_falls(Fraction(0), 32, 4)} {number(left + 3000)}-1000x3",  # and filled again for half an hour
        "filled": f"{number(left + 200_000)}x{_STEPS - 10} 10x9",
        "young": f"_x{_STEPS - 4} 4000-1000x4",
        "steady": steady,
    }
    inputs = [series(AVAIL, _mounted(factory, point, "xfs"), values) for point, values in space.items()]
    inputs.append(series(AVAIL, _mounted(factory, "run", "tmpfs"), space["fills"]))
    for point, hours in (("recent", 13), ("known", 25)):
        written = _STEPS - 6 * hours
        inputs.append(series(READONLY, _mounted(factory, point, "ext4"), f"0x{written} 1x{6 * hours - 1}"))
    end = Duration(_STEPS * _STEP)
    checks = [
        Expectation(Duration(end - _STEP), filling.name, ()),
        Expectation(end, filling.name, (firing(filling, _mount(factory, "fills"), 0),)),
        Expectation(end, read_only.name, (firing(read_only, _mount(factory, "recent"), 1),)),
    ]
    return proof(filling, "filesystems within a day", inputs, *checks, interval=_STEP)


def _mounted(factory: Factory, point: str, kind: str) -> dict[str, str]:
    return {**_mount(factory, point), "job": "node", "fstype": kind}


def _falls(left: Fraction, steps: int, before: int = 0) -> str:
    """The same all day, and in the last steps, up to so many before the end, less by a thousand each, until `left`."""
    begin = number(left + 1000 * steps)
    return f"{begin}x{_STEPS - steps - before - 1} {begin}-1000x{steps}"

"""Boards near the limits that they tell of themselves: die and memory too warm, and links that lost lanes or speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.cases import Case, group
from tocsin.lower.presence import TEMP
from tocsin.lower.proofs import example_gpu
from tocsin.lower.throttling import UTIL, whole
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.plan.rules import RuleGroup

SLOWDOWN, MEMORY, MEMORY_LIMIT = (
    "DCGM_FI_DEV_SLOWDOWN_TEMP",
    "DCGM_FI_DEV_MEMORY_TEMP",
    "DCGM_FI_DEV_MEM_MAX_OP_TEMP",
)
_GPU = naming.by(naming.GPU)
_HOLD = Duration.of(minutes=5)


class Link(NamedTuple):
    """What a host link can lose: what shows it now and at most, and what is told; `example` are values of both."""

    signal: str
    alert: str
    now: str
    most: str
    lost: str
    told: str
    example: tuple[int, int]


LINKS = (
    Link(
        "pcie_link_width",
        "GpuPcieLanesLost",
        "DCGM_FI_DEV_PCIE_LINK_WIDTH",
        "DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH",
        "lost lanes",
        "has {{ $value }} lanes to its host, fewer than it can have",
        (16, 8),
    ),
    Link(
        "pcie_link_gen",
        "GpuPcieLinkSlow",
        "DCGM_FI_DEV_PCIE_LINK_GEN",
        "DCGM_FI_DEV_PCIE_MAX_LINK_GEN",
        "is of an old generation",
        "talks to its host by generation {{ $value }} of PCIe, and both could do better",
        (5, 1),
    ),
)


def heat(factory: Factory) -> RuleGroup | None:
    """Boards whose die or memory is almost as warm as it may be."""
    kinds = (
        ("gpu_near_slowdown", "gpu_temp_limits", "GpuNearSlowdown", TEMP, SLOWDOWN, "die", "slowdown threshold"),
        (
            "gpu_memory_near_limit",
            "memory_temp_limit",
            "GpuMemoryNearLimit",
            MEMORY,
            MEMORY_LIMIT,
            "memory",
            "highest lawful temperature",
        ),
    )
    cases = [_near_limit(factory, *kind) for kind in kinds if kind[0] in factory.limits and kind[1] in factory.signals]
    return group("gpu-heat", "boards that are almost too warm, and boards that tell no limit", cases)


def _near_limit(factory: Factory, limit: str, signal: str, name: str, temp: str, most: str, *words: str) -> Case:
    margin, (part, threshold) = factory.limits[limit], words
    alert = signal_alert(
        factory,
        name,
        factory.signals[signal],
        "ticket",
        # A board that has no such sensor, or no such limit, shows nought.
        expr=f"max by ({_GPU}) ({temp})\n>= on ({_GPU})\n((max by ({_GPU}) ({most}) > 0) - {number(margin)})",
        hold=_HOLD,
        summary=f"The {part} of a GPU of {{{{ $labels.node }}}} is almost too warm",
        description=f"The {part} of {{{{ $labels.gpu_uuid }}}} on {{{{ $labels.node }}}} has {{{{ $value }}}} degrees, "
        f"less than {number(margin)} below its {threshold}: look at its cooling.",
    )
    hot, cool, silent = (example_gpu(factory, index) for index in range(3))
    edge = number(95 - margin)
    inputs = [
        (temp, {**hot, "job": "dcgm"}, f"60x9 {edge}x20"),
        (most, {**hot, "job": "dcgm"}, "95x40"),
        (temp, {**cool, "job": "dcgm"}, f"{number(94 - margin)}x40"),
        (most, {**cool, "job": "dcgm"}, "95x40"),
        (temp, {**silent, "job": "dcgm"}, "94x40"),
        (most, {**silent, "job": "dcgm"}, "0x40"),
    ]
    return Case(alert, 14, 15, hot, inputs, float(95 - margin))


def lanes(factory: Factory) -> RuleGroup | None:
    """Boards at work whose link to their host is less than it can be: in lanes, or in its generation."""
    cases = [_less(factory, link) for link in LINKS if link.signal in factory.signals]
    return group("gpu-lanes", "a link that is less than it can be, at work and at rest", cases)


def _less(factory: Factory, link: Link) -> Case:
    busy = f"max by ({_GPU}) (avg_over_time({whole(factory)}[10m]))"
    alert = signal_alert(
        factory,
        link.alert,
        factory.signals[link.signal],
        "ticket",
        # Links may shrink where nobody works. Where no utilisation is told, as under MIG, nobody knows that.
        expr=f"((max by ({_GPU}) ({link.now}) > 0) < on ({_GPU}) max by ({_GPU}) ({link.most}))\n"
        f"unless on ({_GPU}) ({busy} <= 50)",
        hold=_HOLD,
        summary=f"The host link of a GPU of {{{{ $labels.node }}}} {link.lost}",
        description=f"{{{{ $labels.gpu_uuid }}}} on {{{{ $labels.node }}}} {link.told}: reseat the board, or look at "
        "its riser.",
    )
    # Of boards with a lesser link one rests half of the time, one until minute 26, and one from then on.
    full, less = link.example
    stories = (
        (f"{full}x29 {less}x30", "98x40"),
        (f"{full}x40", "98x40"),
        ("0x40", "98x40"),
        (f"{less}x40", "50x40"),
        (f"{less}x40", "0x26 98x40"),
        (f"{less}x40", "98x25 0x40"),
    )
    boards = [{**example_gpu(factory, index), "job": "dcgm"} for index in range(3, 3 + len(stories))]
    inputs = [(link.most, board, f"{full}x40") for board in boards]
    for board, (now, load) in zip(boards, stories, strict=True):
        inputs += [(link.now, board, now), (UTIL, board, load)]
    return Case(alert, 34, 35, {label: boards[0][label] for label in naming.GPU}, inputs, less)

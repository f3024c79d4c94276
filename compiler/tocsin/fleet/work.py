"""What works on a board, as dcgm-exporter names it: the labels of each copy of the board's series."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Labels = dict[str, str]

# With --kubernetes-virtual-gpus these are measured for each pod, beside the board's own value.
OF_PROCESSES = ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED")


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that was given a board, or a share of one; `labels` are its own."""

    namespace: str
    name: str
    labels: Labels = field(default_factory=dict)

    def named(self) -> Labels:
        """Its labels as --kubernetes-enable-pod-labels spells them, and its name."""
        spelled = {re.sub("[^A-Za-z0-9_]", "_", label): value for label, value in self.labels.items()}
        return {**spelled, "container": "main", "namespace": self.namespace, "pod": self.name}


def whole(workers: Sequence[Labels]) -> list[Labels]:
    """Copies of a board that is not shared: one for each job that is mapped to it, and one without where none is."""
    return list(workers) or [{}]


def of_instances(workers: Sequence[Labels], count: int) -> list[Labels]:
    """Copies of a board that is split into so many MIG instances, of which the first ones work."""
    idle: list[Labels] = [{}] * (count - len(workers))
    return [
        {"GPU_I_PROFILE": "1g.10gb", "GPU_I_ID": str(7 + number), **worker}
        for number, worker in enumerate([*workers, *idle])
    ]


def of_slices(workers: Sequence[Labels], metric: str) -> list[Labels]:
    """Copies of a board that pods take turns on."""
    taken = [{**worker, "vgpu": str(number)} for number, worker in enumerate(workers)]
    return [{}, *taken] if not taken or metric in OF_PROCESSES else taken

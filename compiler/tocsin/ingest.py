"""What a series looks like once it is stored: its labels, and what becomes of one that breaks the label schema."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tocsin.catalog import DEEP_JOB, MONITORS, exporter_kinds

if TYPE_CHECKING:
    from tocsin.catalog import Metric
    from tocsin.factory import Factory

# The labels that every series of an entity of dcgm-exporter has after ingest, beside those of its own metric.
ENTITY_LABELS = {
    "gpu": ("gpu", "gpu_uuid", "job_id", "pci_bus_id", "device", "modelName"),
    "gpu_instance": ("gpu", "gpu_uuid", "gpu_i_id", "job_id", "pci_bus_id", "device", "modelName"),
    "link": ("gpu", "gpu_uuid", "job_id", "pci_bus_id", "device", "model_name"),
}
TARGET_LABELS = ("cluster", "node", "job", "instance", "tenant")

VIOLATES = "violates"  # names the label of a series whose value the schema does not allow
QUARANTINED = "quarantined_series"  # the name of a series that is kept apart
ORIGINAL = "quarantined"  # its label with the name that it came with


def labels_of(metric: Metric) -> set[str]:
    """The labels of a metric's series after ingest."""
    own = {"le"} if metric.type == "histogram" else set()
    entity = ENTITY_LABELS.get(metric.entity, ()) if metric.exporter in ("dcgm", DEEP_JOB) else ()
    target = set(TARGET_LABELS) - ({"node"} if metric.exporter in beside_nodes() else set())
    return {*target, *entity, *metric.labels, *own}


@cache
def beside_nodes() -> frozenset[str]:
    """The jobs of exporters that do not stand on the nodes: their targets have no `node`."""
    return frozenset((*MONITORS, *(kind.job for kind in exporter_kinds().values() if kind.stands != "node")))


def carriers(factory: Factory, label: str) -> list[Metric]:
    """A metric of each job whose series have a label: one that is there as long as its target, and cheap, if any is."""
    found: dict[str, list[Metric]] = {}
    for metric in factory.metrics.values():
        if label in labels_of(metric):
            found.setdefault(metric.exporter, []).append(metric)
    return [min(some, key=lambda metric: (metric.sparse, metric.cost != "cheap")) for some in found.values()]

"""What a series looks like once it is stored: its labels, and what becomes of one that breaks the label schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.catalog import Metric

# The labels that every series of an entity has after ingest, beside those of its own metric.
ENTITY_LABELS = {
    "gpu": ("gpu", "gpu_uuid", "job_id", "pci_bus_id", "device", "modelName"),
    "gpu_instance": ("gpu", "gpu_uuid", "gpu_i_id", "job_id", "pci_bus_id", "device", "modelName"),
    "port": (),
    "target": (),
}
TARGET_LABELS = ("cluster", "node", "job", "instance", "tenant")

VIOLATES = "violates"  # names the label of a series whose value the schema does not allow
QUARANTINED = "quarantined_series"  # the name of a series that is kept apart
ORIGINAL = "quarantined"  # its label with the name that it came with


def labels_of(metric: Metric) -> set[str]:
    """The labels of a metric's series after ingest."""
    own = {"le"} if metric.type == "histogram" else set()
    return {*TARGET_LABELS, *ENTITY_LABELS[metric.entity], *metric.labels, *own}

"""What a series looks like once it is stored: its labels, and what becomes of one that breaks the label schema."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tocsin.catalog import DEEP_JOB, MONITORS, exporter_kinds

if TYPE_CHECKING:
    from collections.abc import Collection

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory

# The labels that every series of an entity of dcgm-exporter has after ingest, beside those of its own metric.
ENTITY_LABELS = {
    "gpu": ("gpu", "gpu_uuid", "job_id", "pci_bus_id", "device", "modelName"),
    "gpu_instance": ("gpu", "gpu_uuid", "gpu_i_id", "gpu_i_profile", "job_id", "pci_bus_id", "device", "modelName"),
    "link": ("gpu", "gpu_uuid", "job_id", "pci_bus_id", "device", "model_name"),
}
# Those of a pod, on the series of the boards that it works on and on its own.
POD_LABELS = ("namespace", "pod", "container")
# What dcgm-exporter calls its labels, and their names after ingest; a fleet has both spellings while it is upgraded.
# exported_* is what Prometheus makes of an exporter's label that a target label already has.
RENAMED = {
    "UUID": "gpu_uuid",
    "uuid": "gpu_uuid",
    "hpc_job": "job_id",
    "GPU_I_ID": "gpu_i_id",
    "exported_pod": "pod",
    "exported_namespace": "namespace",
    "exported_container": "container",
    "Hostname": "node",
    "hostname": "node",
}
TARGET_LABELS = ("cluster", "node", "job", "instance", "tenant")

# By what the servers are told apart above them: their external labels, which a store puts on every series of theirs.
_SERVER_LABELS = ("cluster", "region", "replica", "shard")

VIOLATES = "violates"  # names the label of a series whose value the schema does not allow
QUARANTINED = "quarantined_series"  # the name of a series that is kept apart
ORIGINAL = "quarantined"  # its label with the name that it came with


def labels_of(metric: Metric, of_pods: Collection[str] = ()) -> set[str]:
    """The labels of a metric's series after ingest; `of_pods` are the jobs whose series name a pod."""
    own = {"le"} if metric.type == "histogram" else set()
    is_boards = metric.exporter in ("dcgm", DEEP_JOB)
    entity = ENTITY_LABELS.get(metric.entity, ()) if is_boards else ()
    target = set(TARGET_LABELS) - ({"node"} if metric.exporter in beside_nodes() else set())
    pod: tuple[str, ...] = ()
    if metric.exporter in of_pods:
        pod = (POD_LABELS if entity else ()) if is_boards else ("namespace", "pod", "job_id")
    return {*target, *entity, *metric.labels, *own, *pod}


@cache
def beside_nodes() -> frozenset[str]:
    """The jobs of exporters that do not stand on the nodes: their targets have no `node`."""
    return frozenset((*MONITORS, *(kind.job for kind in exporter_kinds().values() if kind.stands != "node")))


def above(factory: Factory) -> frozenset[str]:
    """The labels that series have beside their own where a data source sees several servers."""
    wanted = factory.servers
    several = wanted.replicas > 1 or wanted.levels or (wanted.shards or 1) > 1 or wanted.max_series is not None
    return frozenset(_SERVER_LABELS if several or len(factory.clusters) > 1 or factory.targets.long_term else ())


def carriers(factory: Factory, label: str) -> list[Metric]:
    """A metric of each job whose series have a label: one that is there as long as its target, and cheap, if any is."""
    found: dict[str, list[Metric]] = {}
    for metric in factory.metrics.values():
        if label in labels_of(metric):
            found.setdefault(metric.exporter, []).append(metric)
    return [min(some, key=lambda metric: (metric.sparse, metric.cost != "cheap")) for some in found.values()]

"""Schedulers: nothing is written for one that is another's, since a job has one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Cluster, Factory

_OF_SLURM = ("slurm", "slurm_job")


def check_scheduler(factory: Factory, document: Document, log: Log) -> None:
    """What names jobs fits the scheduler of each cluster, and the settings of hooks are those of some hooks."""
    for cluster in factory.clusters.values():
        if cluster.on_pods:
            _check_exporters(cluster, log)
        else:
            _check_labels(cluster, document, log)
    if factory.clusters and all(cluster.on_pods for cluster in factory.clusters.values()):
        _check_hooks(document, log)


def _check_exporters(cluster: Cluster, log: Log) -> None:
    for exporter in cluster.exporters:
        if exporter.kind.id in _OF_SLURM:
            what = f"`{exporter.kind.id}` tells of Slurm's jobs, the scheduler of '{cluster.name}' is Kubernetes"
            hint = "remove it; `kube_state_metrics`, `kueue` and `volcano` tell of what Kubernetes schedules"
            log.error("CLU110", what, exporter.origin, hint)


def _check_labels(cluster: Cluster, document: Document, log: Log) -> None:
    path = ("clusters", cluster.name, "job_labels")
    if document.places.node(*path) is not None and not document.is_broken(*path[:2]):
        what = f"`job_labels` has no effect: the jobs of '{cluster.name}' are Slurm's, and no pods"
        log.error("CLU109", what, document.places.key(*path), "remove it, or write `scheduler: kubernetes`")


def _check_hooks(document: Document, log: Log) -> None:
    for key in ("targets", "jobs"):
        path = ("collection", "deep", key)
        if document.places.node(*path) is not None and not document.is_broken("clusters"):
            what = f"`{key}` has no effect: it is for the hooks of Slurm, and no cluster has any"
            log.error("DEP107", what, document.places.key(*path), "remove it: under Kubernetes pods tell who works")

"""Schedulers: nothing is written for one that is another's, since a job has one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.diagnostics import Related
from tocsin.examples import value_for
from tocsin.promql import Matcher

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster

_OF_SLURM = ("slurm", "slurm_job")
_JOB = Matcher(0, 0, "job_id", "=~", ".+/.+", 0, 0)  # a namespace and a name


def check_scheduler(factory: Factory, document: Document, log: Log) -> None:
    """What names jobs fits the scheduler of each cluster, and the settings of hooks are those of some hooks."""
    for cluster in factory.clusters.values():
        if cluster.on_pods:
            _check_exporters(cluster, log)
            _check_schema(factory, cluster, document, log)
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


def _check_schema(factory: Factory, cluster: Cluster, document: Document, log: Log) -> None:
    """A job of a pod is lawful: what is not loses its `job_id` at ingest."""
    rule = factory.labels.get("job_id")
    if rule and not document.is_broken("labels", "job_id") and value_for([_JOB], rule) is None:
        what = f"no job of '{cluster.name}' is a value of the label `job_id`: it would be a namespace and a name"
        hint = 'widen it, as in `job_id: {pattern: "[a-z0-9-]+/[a-z0-9.-]+"}`, for vision/train-7 and the like'
        log.error("LBL109", what, rule.origin, hint, [Related(cluster.origin, "scheduled by Kubernetes")])


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

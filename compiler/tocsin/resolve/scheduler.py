"""Schedulers: what names a job, and the release of dcgm-exporter that can name it on a board's series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.resolve.targets import require

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory.servers import Targets
    from tocsin.spec import clusters as written

# What names the job of a pod of a batch/v1 Job, since Kubernetes 1.27 (Kubernetes, "Well-Known Labels").
_JOB_LABELS = ("batch.kubernetes.io/job-name",)
# What dcgm-exporter must know where boards are shared, by the scheduler.
_OF_SHARES = {("kubernetes", "time_slicing"): "dcgm.labels_of_shares", ("slurm", "mig"): "dcgm.jobs_of_instances"}


def job_labels(cluster: written.Cluster) -> tuple[str, ...]:
    """The labels that name the job of a pod; none where jobs are no pods."""
    return tuple(cluster.job_labels or _JOB_LABELS) if cluster.scheduler == "kubernetes" else ()


def require_jobs(document: Document, targets: Targets, log: Log) -> None:
    """Tell of schedulers, and of shares of boards, whose jobs the exporter of the target cannot name."""
    for name, cluster in sorted(document.spec.clusters.items()):
        path = ("clusters", name)
        if cluster.scheduler == "kubernetes":
            what = "`scheduler: kubernetes`"
            require("dcgm.pod_labels", targets, what, document.places, (*path, "scheduler"), log)
        for group, nodes in sorted(cluster.nodes.items()):
            feature = _OF_SHARES.get((cluster.scheduler, nodes.gpu.sharing))
            if feature:
                place = (*path, "nodes", group, "gpu", "sharing")
                require(feature, targets, f"`sharing: {nodes.gpu.sharing}`", document.places, place, log)

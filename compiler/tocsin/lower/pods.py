"""Pods: what a series of a pod says of it after ingest, and the job and the tenant that follow from that.

The name of a job is unique in its namespace only, so a `job_id` is both, as in `vision/train-7`. A pod without a label
that names its job is a job of its own, as a replica of a service is. Whoever may label a pod may not leave its
namespace, so the namespace says which tenant's it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin import pattern
from tocsin.plan.servers import Relabel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, NodeGroup
    from tocsin.factory.owners import Tenant

# How dcgm-exporter calls them with --use-old-namespace.
_OLD = {"pod_name": "pod", "pod_namespace": "namespace", "container_name": "container"}
_META = "__meta_kubernetes_"


def of_boards(factory: Factory, cluster: Cluster) -> tuple[Relabel, ...]:
    """Steps for the series of dcgm-exporter, which names the pod that works on a board and what labels the pod has.

    A pod may have a label that is called like one of ours: what it says there is not asked for.
    """
    labels = [_lawful(label) for label in cluster.job_labels]
    return (
        Relabel("labeldrop", regex="job_id|tenant"),
        *(Relabel(source=(old,), regex="(.+)", target=new) for old, new in _OLD.items()),
        *_job("namespace", "pod", labels),
        *in_namespaces(("namespace",), tuple(factory.tenants.values())),
        Relabel("labeldrop", regex="|".join((*_OLD, *labels))),
    )


def at_work() -> Relabel:
    """What leaves only the series of boards on which a pod works: dcgm-exporter names no pod on one that idles."""
    return Relabel("keep", ("pod",), ".+")


def of_targets(cluster: Cluster) -> list[Relabel]:
    """Steps for a target that is a pod itself, as Kubernetes told of it."""
    namespace, pod = f"{_META}namespace", f"{_META}pod_name"
    labels = [f"{_META}pod_label_{_lawful(label)}" for label in cluster.job_labels]
    return [
        Relabel(source=(namespace,), regex="(.+)", target="namespace"),
        Relabel(source=(pod,), regex="(.+)", target="pod"),
        *_job(namespace, pod, labels),
    ]


def flags(cluster: Cluster, group: NodeGroup) -> tuple[str, ...]:
    """The start flags by which dcgm-exporter names pods, and of their labels no more than those that name a job.

    Without the last one, of the pods that take turns on a board it names any one, and with every scrape another.
    """
    wanted = ",".join(f"^{pattern.literal(label)}$" for label in cluster.job_labels)
    shared = ("--kubernetes-virtual-gpus",) if group.sharing == "time_slicing" else ()
    return (
        "--kubernetes",
        "--kubernetes-enable-pod-labels",
        f"--kubernetes-pod-label-allowlist-regex '{wanted}'",
        *shared,
    )


def in_namespaces(source: tuple[str, ...], tenants: tuple[Tenant, ...]) -> list[Relabel]:
    """Steps that name the tenant whose namespace a label holds."""
    return [
        Relabel(source=source, regex="|".join(tenant.namespaces), target="tenant", replacement=tenant.name)
        for tenant in tenants
        if tenant.namespaces
    ]


def _job(namespace: str, pod: str, labels: list[str]) -> Iterator[Relabel]:
    """The pod itself, then the labels, of which the first is written last."""
    for label in (pod, *reversed(labels)):
        yield Relabel(source=(namespace, label), regex="(.+);(.+)", target="job_id", replacement="$1/$2")


def _lawful(label: str) -> str:
    """A pod's label as Prometheus and dcgm-exporter spell it."""
    return re.sub("[^A-Za-z0-9_]", "_", label)

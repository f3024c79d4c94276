"""Schedulers: work that waits, and nodes that they cannot use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.cases import Case, group
from tocsin.lower.proofs import STRANGER, example_node
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.rules import RuleGroup

KUEUE, POD, CONDITION = "kueue_pending_workloads", "kube_pod_status_unschedulable", "kube_node_status_condition"
CORDONED = "kube_node_spec_unschedulable"
_QUEUE, _POD, _NAMESPACE = (
    ("cluster", "cluster_queue"),
    ("cluster", "namespace", "pod"),
    ("cluster", "namespace"),
)
_HOLD = Duration.of(minutes=15)  # kubernetes-mixin, KubeNodeNotReady


def scheduling(factory: Factory) -> RuleGroup | None:
    """What Slurm, Kueue and Kubernetes tell of work that waits and of nodes that are lost to it."""
    return group("scheduling", "work that waits, nodes that are lost, and others", list(_cases(factory)))


def _cases(factory: Factory) -> Iterator[Case]:
    if "kueue_pending" in factory.limits:
        yield _kueue(factory)
    if "pods_unschedulable" in factory.limits:
        yield _pods(factory)
    if "node_condition" in factory.signals:
        yield _not_ready(factory)
    for limit, signal, metric, name, sign, text in (
        (
            "slurm_pending",
            "slurm_jobs",
            "slurm_jobs_pending",
            "SlurmQueueLong",
            ">",
            "{{ $value }} jobs wait in Slurm, more than {limit}: see which partition or account holds them up.",
        ),
        (
            "slurm_nodes_down",
            "slurm_nodes",
            "slurm_nodes_down",
            "SlurmNodesDown",
            ">=",
            "Slurm cannot use {{ $value }} nodes, which is {limit} or more: `sinfo -R` says why.",
        ),
    ):
        if limit in factory.limits:
            yield _slurm(factory, limit, signal, metric, name, sign, text)


def _cluster(factory: Factory) -> str:
    return next(iter(factory.clusters))


def _kueue(factory: Factory) -> Case:
    window = Duration.of(seconds=int(factory.limits["kueue_pending"]))
    by, waiting = naming.by(_QUEUE), f'{KUEUE}{{status="active"}}'
    alert = signal_alert(
        factory,
        "KueueWaiting",
        factory.signals["kueue_pending"],
        "ticket",
        # Both replicas of the manager show the gauge. A queue that is new has not waited so long.
        expr=f"max by ({by}) (min_over_time({waiting}[{window}])) > 0\n"
        f"and on ({by}) group by ({by}) ({waiting} offset {window})",
        summary="Workloads wait in the queue {{ $labels.cluster_queue }} of Kueue",
        description=f"{{{{ $labels.cluster_queue }}}} has not been empty for {window}; at least {{{{ $value }}}} "
        "workloads waited all the time: look at its quota, and at who uses it.",
        where=("cluster",),
    )
    minutes = int(window.seconds) // 60
    at = {"cluster": _cluster(factory), "job": "kueue", "status": "active", "replica_role": "leader"}
    inputs = [
        (KUEUE, {**at, "cluster_queue": "full"}, f"0x9 2x{minutes + 20}"),
        (KUEUE, {**at, "cluster_queue": "moves"}, f"2x{minutes} 0 2x20"),
        (KUEUE, {**at, "cluster_queue": "new"}, f"_x20 2x{minutes + 20}"),
        (KUEUE, {**at, "cluster_queue": "stopped", "status": "inadmissible"}, f"2x{minutes + 30}"),
    ]
    place = {"cluster": _cluster(factory), "cluster_queue": "full"}
    return Case(alert, minutes + 8, minutes + 11, place, inputs, 2)


def _pods(factory: Factory) -> Case:
    window = Duration.of(seconds=int(factory.limits["pods_unschedulable"]))
    by, pod = naming.by(_NAMESPACE), naming.by(_POD)
    alert = signal_alert(
        factory,
        "PodsUnschedulable",
        factory.signals["pod_unschedulable"],
        "ticket",
        expr=f"count by ({by}) (\n  max by ({pod}) (min_over_time({POD}[{window}])) == 1\n"
        f"  and on ({pod}) group by ({pod}) ({POD} offset {window})\n) > 0",
        summary="No node fits some pods of {{ $labels.namespace }}",
        description=f"{{{{ $value }}}} pods of {{{{ $labels.namespace }}}} have found no node for {window}: see what "
        "they ask for, and which nodes are cordoned.",
        where=("cluster",),
    )
    minutes = int(window.seconds) // 60
    at = {"cluster": _cluster(factory), "job": "kube-state-metrics", "namespace": "vision"}
    inputs = [
        (POD, {**at, "pod": "stuck"}, f"0 1x{minutes + 30}"),
        (POD, {**at, "pod": "again", "namespace": "research"}, f"1 1 0 1x{minutes + 30}"),
        (POD, {**at, "pod": "new", "namespace": "assist"}, f"_x20 1x{minutes + 10}"),
    ]
    place = {"cluster": _cluster(factory), "namespace": "vision"}
    return Case(alert, minutes - 1, minutes + 1, place, inputs, 1)


def _not_ready(factory: Factory) -> Case:
    by = naming.by(naming.NODE)
    alert = signal_alert(
        factory,
        "KubeNodeNotReady",
        factory.signals["node_condition"],
        "ticket",
        # Whoever cordons a node knows of it.
        expr=f'max by ({by}) ({CONDITION}{{condition="Ready", status="true"}}) == 0\n'
        f"unless on ({by}) (max by ({by}) ({CORDONED}) == 1)",
        hold=_HOLD,
        summary="Kubernetes cannot use {{ $labels.node }}",
        description="{{ $labels.node }} has not been ready for a quarter of an hour, and nobody cordoned it: "
        "`kubectl describe node` says why.",
    )
    lost = example_node(factory)
    ready = {"job": "kube-state-metrics", "condition": "Ready", "status": "true"}
    inputs = [
        (CONDITION, {**lost, **ready}, "1x9 0x40"),
        (CONDITION, {**lost, **ready, "status": "false"}, "0x9 1x40"),
        (CONDITION, {**lost, **ready, "condition": "DiskPressure"}, "1x60"),
        (CONDITION, {**lost, "node": "cordoned", **ready}, "1x9 0x40"),
        (CORDONED, {**lost, "node": "cordoned", "job": "kube-state-metrics"}, "1x60"),
        (CORDONED, {**lost, "job": "kube-state-metrics"}, "0x60"),
        (CONDITION, {**lost, "node": "fine", **ready}, "1x60"),
    ]
    return Case(alert, 24, 25, lost, inputs)


def _slurm(factory: Factory, limit: str, signal: str, metric: str, name: str, sign: str, text: str) -> Case:
    summary = "Jobs queue in the Slurm of" if sign == ">" else "Nodes are down for the Slurm of"
    most = factory.limits[limit]
    alert = signal_alert(
        factory,
        name,
        factory.signals[signal],
        "ticket",
        expr=f"max by (cluster) ({metric}) {sign} {number(most)}",
        hold=_HOLD,
        summary=f"{summary} {{{{ $labels.cluster }}}}",
        description=text.replace("{limit}", number(most)),
        where=("cluster",),
    )
    at = {"cluster": _cluster(factory)}
    low, high = (most, most + 1) if sign == ">" else (most - 1, most)
    inputs = [
        (metric, {**at, "job": "slurm"}, f"{number(low)}x9 {number(high)}x40"),
        (metric, {"cluster": STRANGER, "job": "slurm"}, f"{number(low)}x60"),
    ]
    return Case(alert, 24, 25, at, inputs, float(high))

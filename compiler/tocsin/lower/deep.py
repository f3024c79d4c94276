"""Deep collection: the job, the counters files and the scheduler's hooks for what is looked at only where work is done.

A scrape configuration cannot ask a query. Under Slurm what decides is a target that is there or not: the prolog and the
epilog of each node write and remove it. Under Kubernetes it is the pod that dcgm-exporter names on the series of every
board that has been given to one: the exporter is asked on all nodes, and only such series are kept.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tocsin.catalog import DEEP_JOB
from tocsin.lower import pods
from tocsin.lower.discovery import discovered
from tocsin.lower.enforcement import enforced
from tocsin.plan.programs import CounterFile, JobHooks
from tocsin.plan.servers import ScrapeJob

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, NodeGroup
    from tocsin.factory.signals import Deep
    from tocsin.plan.servers import Relabel, Target


def deep_jobs(
    factory: Factory, cluster: Cluster, named: tuple[Relabel, ...], nodes: tuple[Target, ...], file: str
) -> list[ScrapeJob]:
    """The job of the deep signals, none where the factory has no such signals.

    `named` are the steps that give labels their names. Under Kubernetes the targets are all `nodes`, which stand in the
    `file` if there is one.
    """
    deep = factory.deep
    if deep is None:
        return []
    lawful = enforced(factory, DEEP_JOB)
    if cluster.on_pods:
        relabel = (*named, pods.at_work(), *lawful)
        return [discovered(factory, cluster, ScrapeJob(DEEP_JOB, deep.interval, nodes, file, relabel, deep.origin))]
    watched = f"{_targets(deep, cluster)}/*.json"
    return [ScrapeJob(DEEP_JOB, deep.interval, (), "", (*named, *lawful), deep.origin, watched=watched)]


def deep_counters(factory: Factory) -> tuple[CounterFile, ...]:
    """The fields of the second exporter of every node."""
    deep = factory.deep
    if deep is None:
        return ()
    metrics = tuple(
        sorted((m for m in factory.metrics.values() if m.signal in deep.signals), key=lambda m: m.field or 0)
    )
    return tuple(
        CounterFile(
            f"exporters/dcgm/{cluster.name}-{group.name}-deep.csv",
            metrics,
            deep.refresh,
            group.origin,
            (f"--address :{deep.port}", *shared_flags(factory, cluster, group)),
        )
        for cluster in factory.clusters.values()
        for group in cluster.groups
    )


def shared_flags(factory: Factory, cluster: Cluster, group: NodeGroup) -> tuple[str, ...]:
    """The start flags of both exporters of a node: how jobs are found, and one hostengine that reads the boards.

    The profiling counters of a board have one user at a time, so two exporters may not each bring a hostengine along.
    """
    deep = factory.deep
    hostengine = ("--remote-hostengine-info localhost:5555",) if deep else ()
    if cluster.on_pods:
        return (*pods.flags(cluster, group), *hostengine)
    return (f"--hpc-job-mapping-dir {shlex.quote(deep.jobs)}", *hostengine) if deep else ()


def job_hooks(factory: Factory) -> tuple[JobHooks, ...]:
    """The hooks of every cluster of Slurm."""
    deep = factory.deep
    if deep is None:
        return ()
    return tuple(
        JobHooks(cluster.name, deep.port, _targets(deep, cluster), deep.jobs, deep.origin)
        for cluster in factory.clusters.values()
        if not cluster.on_pods
    )


def _targets(deep: Deep, cluster: Cluster) -> str:
    return f"{deep.targets}/{cluster.name}"

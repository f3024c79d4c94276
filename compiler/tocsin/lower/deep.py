"""Deep collection: the job, the counters files and the scheduler's hooks for what is looked at only where work is done.

A scrape configuration cannot ask a query, so what decides is a target that is there or not. Under Slurm the prolog and
the epilog of each node write and remove it. Under Kubernetes it would be a `keep` on a pod's label, as relabelling of
the discovery; that belongs into `deep_jobs` and needs no hooks.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tocsin.catalog import DEEP_JOB
from tocsin.plan import CounterFile, JobHooks, ScrapeJob

if TYPE_CHECKING:
    from tocsin.factory import Cluster, Deep, Factory
    from tocsin.plan import Relabel


def deep_jobs(factory: Factory, cluster: Cluster, relabel: tuple[Relabel, ...]) -> list[ScrapeJob]:
    """The job of the deep signals, relabelled like that of the others; none where the factory has no such signals."""
    deep = factory.deep
    if deep is None:
        return []
    watched = f"{_targets(deep, cluster)}/*.json"
    return [ScrapeJob(DEEP_JOB, deep.interval, (), "", relabel, deep.origin, watched=watched)]


def deep_counters(factory: Factory) -> tuple[CounterFile, ...]:
    """The fields of the second exporter of every node."""
    deep = factory.deep
    if deep is None:
        return ()
    metrics = tuple(
        sorted((m for m in factory.metrics.values() if m.signal in deep.signals), key=lambda m: m.field or 0)
    )
    flags = (f"--address :{deep.port}", *shared_flags(factory))
    return tuple(
        CounterFile(f"exporters/dcgm/{cluster.name}-{group.name}-deep.csv", metrics, deep.refresh, group.origin, flags)
        for cluster in factory.clusters.values()
        for group in cluster.groups
    )


def shared_flags(factory: Factory) -> tuple[str, ...]:
    """The start flags of both exporters of a node: one job mapping, and one hostengine that reads the boards.

    The profiling counters of a board have one user at a time, so two exporters may not each bring a hostengine along.
    """
    if factory.deep is None:
        return ()
    return (f"--hpc-job-mapping-dir {shlex.quote(factory.deep.jobs)}", "--remote-hostengine-info localhost:5555")


def job_hooks(factory: Factory) -> tuple[JobHooks, ...]:
    """The hooks of every cluster."""
    deep = factory.deep
    if deep is None:
        return ()
    return tuple(
        JobHooks(cluster.name, deep.port, _targets(deep, cluster), deep.jobs, deep.origin)
        for cluster in factory.clusters.values()
    )


def _targets(deep: Deep, cluster: Cluster) -> str:
    return f"{deep.targets}/{cluster.name}"

"""Clusters: host ranges become hosts, models become boards."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tocsin import hostlist
from tocsin.catalog import DEEP_JOB, MONITORS, gpu_models
from tocsin.diagnostics import near
from tocsin.factory.clusters import Cluster, Job, NodeGroup
from tocsin.resolve.discovery import WAYS, source
from tocsin.resolve.exporters import check_flavours, resolve_exporters, scraped_jobs
from tocsin.resolve.scheduler import job_labels

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory.owners import Tenant
    from tocsin.factory.signals import Deep
    from tocsin.spec import clusters as written


def resolve_clusters(document: Document, tenants: dict[str, Tenant], deep: Deep | None, log: Log) -> dict[str, Cluster]:
    """The clusters by name."""
    places = document.places
    ranges = _Ranges(document)
    taken = (*scraped_jobs(document), *MONITORS)
    clusters = {}
    for name, cluster in sorted(document.spec.clusters.items()):
        path = ("clusters", name)
        way = _way(cluster, path, document, log)
        groups = (_group(ranges, (*path, "nodes", g), group, log) for g, group in sorted(cluster.nodes.items()))
        jobs = (_job(ranges, (*path, "jobs", j), job, tenants, taken, log) for j, job in sorted(cluster.jobs.items()))
        exporters = resolve_exporters((*path, "exporters"), cluster.exporters, ranges.names, document, log)
        ports = {one.kind.job: one.port for one in exporters if one.kind.stands == "node"}
        clusters[name] = Cluster(
            name=name,
            region=cluster.region,
            discovery=way,
            source=source(cluster.discovery, way),
            ports={**ports, DEEP_JOB: deep.port} if deep and cluster.scheduler == "kubernetes" else ports,
            groups=tuple(groups),
            jobs=tuple(jobs),
            origin=places.key(*path),
            exporters=exporters,
            cooling=cluster.cooling,
            scheduler=cluster.scheduler,
            job_labels=job_labels(cluster),
        )
    check_flavours(clusters, log)
    if not clusters and not document.is_broken("clusters"):
        log.error("CLU106", "this factory has no clusters", places.key("clusters"), "name at least one")
    return clusters


def _way(cluster: written.Cluster, path: Path, document: Document, log: Log) -> str:
    """The one way of discovery."""
    chosen = [key for key in WAYS if getattr(cluster.discovery, key) is not None]
    if len(chosen) != 1 and not document.is_broken(*path, "discovery"):
        what = f"a cluster is discovered in one way, here {'are several' if chosen else 'is none'}"
        hint = f"write one of {', '.join(f'`{way}`' for way in WAYS[:-1])} and `{WAYS[-1]}`"
        log.error("CLU104", what, document.places.key(*path, "discovery"), hint)
    return chosen[0] if chosen else "static"


def _group(ranges: _Ranges, path: Path, group: written.NodeGroup, log: Log) -> NodeGroup:
    document = ranges.document
    models = gpu_models()
    model = models.get(group.gpu.model)
    if model is None:
        close = near(group.gpu.model, models)
        hint = f"did you mean '{close}'?" if close else f"known models: {', '.join(models)}"
        place = document.places.value(*path, "gpu", "model")
        log.error("CLU103", f"the GPU model '{group.gpu.model}' is not in the catalogue", place, hint)
        model = next(iter(models.values()))
    speed = None if group.fabric_speed is None else group.fabric_speed / 8
    if group.fabric == "none" and (group.fabric_devices or speed) and not document.is_broken(*path, "fabric"):
        what = "a group without a fabric has neither `fabric_devices` nor `fabric_speed`"
        log.error(
            "CLU107", what, document.places.key(*path), "write `fabric: infiniband` or `fabric: roce`, or remove them"
        )
    return NodeGroup(
        name=str(path[-1]),
        hosts=ranges.names((*path, "hosts"), group.hosts, log),
        gpu=model,
        gpus=group.gpu.count,
        fabric=group.fabric,
        devices=ranges.names((*path, "fabric_devices"), group.fabric_devices, log),
        port_speed=speed,
        origin=document.places.key(*path),
        sharing=group.gpu.sharing,
        shares=group.gpu.shares or 1,
    )


def _job(
    ranges: _Ranges, path: Path, job: written.Job, tenants: dict[str, Tenant], taken: tuple[str, ...], log: Log
) -> Job:
    document, name = ranges.document, str(path[-1])
    if name in taken:
        hint = f"choose another name: {', '.join(taken[:-1])} and {taken[-1]} are jobs that are there already"
        log.error("CLU105", f"a job cannot be called '{name}'", document.places.key(*path), hint)
    if job.tenant and job.tenant not in tenants and not document.is_broken("tenants", job.tenant):
        known = document.places.names("tenants")
        close = near(job.tenant, known)
        hint = f"did you mean '{close}'?" if close else f"known tenants: {', '.join(known[:12]) or 'none'}"
        log.error("TEN101", f"no tenant is called '{job.tenant}'", document.places.value(*path, "tenant"), hint)
    interval = getattr(document.spec.collection.intervals, job.workload)
    hosts = ranges.names((*path, "hosts"), job.hosts, log)
    return Job(name, job.workload, hosts, job.port or 0, job.tenant or "", interval, document.places.key(*path))


class _Ranges:
    """The ranges of a spec, which stand for MAX_NAMES hosts at most, all of them together."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.left = hostlist.MAX_NAMES

    def names(self, path: Path, ranges: tuple[str, ...], log: Log) -> tuple[str, ...]:
        """The names of some ranges, sorted; a bad range and a name that is listed twice are told."""
        names: list[str] = []
        for index, text in enumerate(ranges):
            try:
                names += hostlist.expand(text, self.left - len(names))
            except ValueError as error:
                at = self.document.places.value(*path, index)
                log.error("CLU101", str(error), at, "write a range as gpu-node-[01-64], or list the names")
        self.left -= len(names)
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        if twice:
            more = f" (and {len(twice) - 1} more)" if len(twice) > 1 else ""
            what = f"'{twice[0]}'{more} is listed twice"
            log.error("CLU102", what, self.document.places.key(*path), "shorten one of the ranges that overlap")
        return tuple(sorted(set(names)))

"""The exporters beside dcgm and node: their jobs, their targets, and what is kept of their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.catalog import EXPORTERS
from tocsin.lower import pods
from tocsin.lower.enforcement import enforced
from tocsin.plan.servers import Relabel, ScrapeJob, Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.catalog.kinds import ExporterKind, Metric
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, Exporter

_PARTS = ("_bucket", "_sum", "_count")


def exporter_jobs(factory: Factory, cluster: Cluster, *, on_nodes: bool) -> Iterator[ScrapeJob]:
    """A job for each exporter that a cluster has beside those of every node: those on its nodes, or all others."""
    for exporter in cluster.exporters:
        if exporter.kind.id in EXPORTERS or (exporter.kind.stands == "node") is not on_nodes:
            continue
        kind = exporter.kind
        metrics = [metric for metric in factory.metrics.values() if metric.exporter == kind.job]
        yield ScrapeJob(
            name=kind.job,
            interval=exporter.interval,
            targets=tuple(_targets(cluster, exporter, metrics)),
            targets_file=f"targets/{cluster.name}-{kind.job}.json" if cluster.discovery == "file" else "",
            relabel=(*_relabel(kind, metrics), *_tenants(factory, cluster, metrics), *enforced(factory, kind.job)),
            origin=exporter.origin,
            timeout=kind.timeout,
        )


def _targets(cluster: Cluster, exporter: Exporter, metrics: list[Metric]) -> Iterator[Target]:
    place = ("cluster", cluster.name)
    for group in cluster.groups if exporter.kind.stands == "node" else ():
        for host in group.hosts:
            yield Target(f"{host}:{exporter.port}", (place, ("node", host)))
    pages = sorted({metric.page for metric in metrics if metric.page})
    for address in exporter.addresses:
        for host in exporter.hosts:
            # A proxy is asked for one host after the other; each is an instance of its own.
            yield Target(address, (place, ("instance", host), ("__param_target", host)))
        for page in pages:
            # Pages of one address would be one instance, whose `up` they would all claim.
            yield Target(address, (place, ("instance", f"{address}{page}"), ("__metrics_path__", page)))
        if not exporter.hosts and not pages:
            yield Target(address, (place,))


def _relabel(kind: ExporterKind, metrics: list[Metric]) -> Iterator[Relabel]:
    """Keep what the factory knows, give its labels their names in the schema, and drop the other spellings."""
    yield Relabel("keep", ("__name__",), "|".join(name for metric in metrics for name in _series(metric)))
    for old, new in kind.renames:
        yield Relabel(source=(old,), regex="(.+)", target=new)
    yield Relabel("labeldrop", regex="|".join((*(old for old, _ in kind.renames), "exported_.*")))


def _tenants(factory: Factory, cluster: Cluster, metrics: list[Metric]) -> list[Relabel]:
    """Whose the pods are that an exporter of a cluster of Kubernetes tells of."""
    if not cluster.on_pods or not any("namespace" in metric.labels for metric in metrics):
        return []
    return pods.in_namespaces(("namespace",), tuple(factory.tenants.values()))


def _series(metric: Metric) -> list[str]:
    return [metric.name + part for part in (_PARTS if metric.type == "histogram" else ("",))]

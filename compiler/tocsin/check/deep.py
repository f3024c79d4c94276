"""Cadence: no job looks more often than its exporter does, and the second exporter of a node has a port of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.catalog import DEEP_JOB
from tocsin.diagnostics import Related

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.signals import Deep
    from tocsin.units import Duration


def check_deep(factory: Factory, document: Document, log: Log) -> None:
    """The intervals of both exporters, and the name and the port of the second."""
    if not document.is_broken("collection", "intervals"):
        _check_pace("dcgm", factory.interval, factory.refresh, ("collection", "refresh"), document, log)
    if factory.deep is None:
        return
    if not document.is_broken("collection"):
        path = ("collection", "deep", "refresh")
        _check_pace(DEEP_JOB, factory.deep.interval, factory.deep.refresh, path, document, log)
    for cluster in factory.clusters.values():
        _check_cluster(factory.deep, cluster, document, log)


def _check_pace(job: str, interval: Duration, refresh: Duration, path: Path, document: Document, log: Log) -> None:
    if interval < refresh:
        what = f"the job {job} would be scraped every {interval}, and its exporter has news only every {refresh}"
        hint = f"write `refresh: {interval}`, which becomes its --collect-interval, or scrape it every {refresh}"
        log.error("DEP101", what, document.places.value(*path), hint)


def _check_cluster(deep: Deep, cluster: Cluster, document: Document, log: Log) -> None:
    for job in cluster.jobs:
        if job.name == DEEP_JOB:
            hint = "choose another name: it is the job of the deep signals"
            log.error("CLU105", f"a job cannot be called '{DEEP_JOB}'", job.origin, hint)
    nodes = {host for group in cluster.groups for host in group.hosts}
    jobs = [(f"the job '{job.name}'", job.port, job.origin) for job in cluster.jobs if not nodes.isdisjoint(job.hosts)]
    others = [(name, port) for name, port in cluster.ports.items() if name != DEEP_JOB]
    exporters = [(f"the {name} exporter", port, cluster.origin) for name, port in others]
    for name, port, origin in (*exporters, *jobs):
        if port == deep.port:
            what = f"the exporter of the deep signals cannot listen on {port}, where {name} of '{cluster.name}' does"
            place = document.places.value("collection", "deep", "port")
            log.error("DEP104", what, place, "write another `port`", [Related(origin, "the other one")])

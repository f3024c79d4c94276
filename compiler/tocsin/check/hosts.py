"""Hosts and clusters against the label schema: the names that targets will carry must be lawful values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.catalog import DEEP_JOB
from tocsin.diagnostics import Related

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, Job, NodeGroup
    from tocsin.source import Span


def check_hosts(factory: Factory, document: Document, log: Log) -> None:
    """Every cluster and host is a value of its label, no port of a host is listed twice, no job has an odd host."""
    cluster_label = factory.labels.get("cluster")
    for cluster in factory.clusters.values():
        if cluster_label and not cluster_label.allows(cluster.name):
            hint = "add it to `labels.cluster`"
            there = [Related(cluster_label.origin, "the schema of the label")]
            log.error("LBL107", f"'{cluster.name}' is not a value of the label `cluster`", cluster.origin, hint, there)
        _check_node_names(factory, cluster, log)
        _check_endpoints(cluster, log)
        if not log.failed:  # a range that could not be read would make doubts of its own
            _doubt_jobs(cluster, document, log)


def _check_node_names(factory: Factory, cluster: Cluster, log: Log) -> None:
    label = factory.labels.get("node")
    parts: tuple[NodeGroup | Job, ...] = (*cluster.groups, *cluster.jobs)
    for part in parts:
        wrong = [host for host in part.hosts if label and not label.allows(host)]
        if label and wrong:
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            there = [Related(label.origin, "the schema of the label")]
            hint = "correct the range, or widen `labels.node`"
            log.error(
                "LBL106", f"the host '{wrong[0]}'{more} is not a value of the label `node`", part.origin, hint, there
            )


def _doubt_jobs(cluster: Cluster, document: Document, log: Log) -> None:
    """A job may run beside the GPU nodes; one that does so with a few of its hosts has a slip in its range."""
    nodes = {host for group in cluster.groups for host in group.hosts}
    for job in cluster.jobs:
        odd = [host for host in job.hosts if host not in nodes]
        if 0 < len(odd) < len(job.hosts):
            more = f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
            what = f"the host '{odd[0]}'{more} of the job '{job.name}' is in no node group, unlike its others"
            place = document.places.value("clusters", cluster.name, "jobs", job.name, "hosts")
            log.warning("CLU108", what, place, f"correct the range, or add the host to a group of `{cluster.name}`")


def _check_endpoints(cluster: Cluster, log: Log) -> None:
    seen: dict[tuple[str, int], tuple[str, Span]] = {}
    told: set[tuple[Span, Span]] = set()
    ports = [port for job, port in cluster.ports.items() if job != DEEP_JOB]  # whose port has a check of its own
    uses = [(g.name, host, port, g.origin) for g in cluster.groups for host in g.hosts for port in ports]
    uses += [(j.name, host, j.port, j.origin) for j in cluster.jobs for host in j.hosts]
    for exporter in cluster.exporters:
        at = dict.fromkeys(address.rpartition(":")[::2] for address in exporter.addresses)
        uses += [(exporter.kind.id, host, int(port), exporter.origin) for host, port in at]
    for name, host, port, origin in uses:
        first, place = seen.setdefault((host, port), (name, origin))
        if place != origin and (place, origin) not in told:
            told.add((place, origin))
            what = f"{host}:{port} is listed twice, in '{first}' and in '{name}'"
            hint = "a target has one job: change the hosts or the port"
            log.error("CLU102", what, origin, hint, [Related(place, "the other one")])

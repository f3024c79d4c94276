"""Hosts and clusters against the label schema: the names that targets will carry must be lawful values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.diagnostics import Related
from tocsin.pattern import matches

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Cluster, Factory, Job, NodeGroup
    from tocsin.source import Span


def check_hosts(factory: Factory, _document: Document, log: Log) -> None:
    """Every cluster and host is a value of its label; no GPU host, and no port of a host, is listed twice."""
    cluster_label = factory.labels.get("cluster")
    for cluster in factory.clusters.values():
        if cluster_label and not allows(factory, "cluster", cluster.name):
            hint = "add it to `labels.cluster`"
            there = [Related(cluster_label.origin, "the schema of the label")]
            log.error("LBL107", f"'{cluster.name}' is not a value of the label `cluster`", cluster.origin, hint, there)
        _check_node_names(factory, cluster, log)
        _check_endpoints(cluster, log)


def allows(factory: Factory, label: str, value: str) -> bool:
    """Whether a value lies in a label's domain; a label without one allows all."""
    rule = factory.labels.get(label)
    if rule is None or (rule.values is None and rule.pattern is None):
        return True
    return value in rule.values if rule.values is not None else matches(rule.pattern or "", value)


def _check_node_names(factory: Factory, cluster: Cluster, log: Log) -> None:
    label = factory.labels.get("node")
    parts: tuple[NodeGroup | Job, ...] = (*cluster.groups, *cluster.jobs)
    for part in parts:
        wrong = [host for host in part.hosts if not allows(factory, "node", host)]
        if label and wrong:
            more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
            there = [Related(label.origin, "the schema of the label")]
            hint = "correct the range, or widen `labels.node`"
            log.error(
                "LBL106", f"the host '{wrong[0]}'{more} is not a value of the label `node`", part.origin, hint, there
            )


def _check_endpoints(cluster: Cluster, log: Log) -> None:
    seen: dict[tuple[str, int], tuple[str, Span]] = {}
    told: set[tuple[Span, Span]] = set()
    ports = cluster.ports.values()
    uses = [(g.name, host, port, g.origin) for g in cluster.groups for host in g.hosts for port in ports]
    uses += [(j.name, host, j.port, j.origin) for j in cluster.jobs for host in j.hosts]
    for name, host, port, origin in uses:
        first, place = seen.setdefault((host, port), (name, origin))
        if place != origin and (place, origin) not in told:
            told.add((place, origin))
            what = f"{host}:{port} is listed twice, in '{first}' and in '{name}'"
            hint = "a target has one job: change the hosts or the port"
            log.error("CLU102", what, origin, hint, [Related(place, "the other one")])

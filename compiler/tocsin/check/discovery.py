"""Discovery: a place for every job, no key that its source leaves without effect, nodes by the names of the spec."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.diagnostics import near
from tocsin.discovery import Dns, Kubernetes, own_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster

# The key below each kind that says where the targets of a job are, and how an entry of it looks.
_WHERE = {
    "kubernetes": ("pods", "{app: NAME}"),
    "consul": ("services", "NAME"),
    "dns": ("names", "_NAME._tcp.example.com"),
    "http": ("urls", "https://inventory.example.com/NAME"),
}
_NEEDED = {"hosts": '`hosts: "gpu-node-[01-08]"`', "port": "`port: 8000`, where the application answers `/metrics`"}
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")


def check_discovery(factory: Factory, document: Document, log: Log) -> None:
    """Every cluster's discovery fits its jobs, its nodes and the tenants."""
    for cluster in factory.clusters.values():
        if document.is_broken("clusters", cluster.name, "discovery"):
            continue
        _check_jobs(cluster, document, log)
        if cluster.source is not None:
            _check_places(cluster, document, log)
        if isinstance(cluster.source, Kubernetes):
            path = ("clusters", cluster.name, "discovery", "kubernetes")
            _check_selectors(cluster.source, document, path, log)
            _check_access(cluster.source, document, path, log)
        if isinstance(cluster.source, Dns):
            _check_addresses(cluster, cluster.source, document, log)
    _check_tenants(factory, document, log)


def _check_places(cluster: Cluster, document: Document, log: Log) -> None:
    """Every exporter and job has an entry, and every entry is one of theirs."""
    key, example = _WHERE[cluster.discovery]
    path = ("clusters", cluster.name, "discovery", cluster.discovery, key)
    named = document.places.names(*path)
    jobs = (*cluster.ports, *document.places.names("clusters", cluster.name, "jobs"))
    for job in jobs:
        if job not in named and not document.is_broken(*path, job):
            what = f"nothing says where the targets of '{job}' are"
            log.error("DSC101", what, document.places.key(*path), f"add `{job}: {example.replace('NAME', job)}`")
    for name in named:
        if name not in jobs:
            close = near(name, jobs)
            hint = f"did you mean '{close}'?" if close else f"the exporters and jobs here are {', '.join(jobs)}"
            what = f"'{name}' is no exporter and no job of `{cluster.name}`"
            log.error("DSC101", what, document.places.key(*path, name), hint)


def _check_jobs(cluster: Cluster, document: Document, log: Log) -> None:
    """Hosts and ports are written where they have an effect, and only there."""
    needed = {"hosts": cluster.source is None, "port": own_port(cluster.source)}
    for path, must in _keys(cluster, document):
        key = str(path[-1])
        is_written = document.places.node(*path) is not None
        if is_written and not needed[key]:
            what = f"`{key}` has no effect: `discovery.{cluster.discovery}` tells it"
            log.error("DSC102", what, document.places.key(*path), "remove it")
        elif must and needed[key] and not is_written and not document.is_broken(*path):
            what = f"`{key}` is missing in `{'.'.join(map(str, path[:-1]))}`"
            hint = f"add {_NEEDED[key]}: `discovery.{cluster.discovery}` does not tell it"
            log.error("DSC102", what, document.places.key(*path[:-1]), hint)


def _keys(cluster: Cluster, document: Document) -> Iterator[tuple[Path, bool]]:
    """The paths of every key about hosts and ports, and whether it has no default."""
    for job in cluster.jobs:
        yield ("clusters", cluster.name, "jobs", job.name, "hosts"), True
        yield ("clusters", cluster.name, "jobs", job.name, "port"), True
    for exporter in cluster.ports:
        if document.places.node("clusters", cluster.name, "exporters", exporter) is not None:
            yield ("clusters", cluster.name, "exporters", exporter, "port"), False


def _check_selectors(source: Kubernetes, document: Document, path: Path, log: Log) -> None:
    """Every job's pods are told from others."""
    for job, labels in source.pods.items():
        if not labels and not document.is_broken(*path, "pods", job):
            what = f"`pods.{job}` names no label: every pod of the cluster would be one of '{job}'"
            log.error(
                "DSC101", what, document.places.key(*path, "pods", job), f"add a label, as in `{job}: {{app: {job}}}`"
            )


def _check_access(source: Kubernetes, document: Document, path: Path, log: Log) -> None:
    """A kubeconfig has all of it, and without the address of an API server nothing else is asked for."""
    if source.kubeconfig_file:
        idle = [key for key in ("api_server", "token_file", "ca_file") if document.places.node(*path, key)]
        hint = "keep `kubeconfig_file` alone, or `api_server` and the files that it needs"
        what = f"`{idle[0]}` stands beside `kubeconfig_file`, which says it as well" if idle else ""
    else:
        idle = [key for key in ("token_file", "ca_file") if document.places.node(*path, key) and not source.api_server]
        hint = "add `api_server: https://...`; without it Prometheus asks as the service account of its own pod"
        what = f"`{idle[0]}` has no effect without `api_server`" if idle else ""
    if idle and not document.is_broken(*path):
        log.error("DSC103", what, document.places.key(*path, idle[0]), hint)


def _check_addresses(cluster: Cluster, source: Dns, document: Document, log: Log) -> None:
    """Records of type A know no names: they only fit nodes that are called by their addresses."""
    named = [host for group in cluster.groups for host in group.hosts if not _ADDRESS.fullmatch(host)]
    if source.type == "A" and named:
        what = f"the DNS answers A with addresses, the nodes of `{cluster.name}` have names such as '{named[0]}'"
        hint = "ask for SRV records, whose answers are names: no board would be found on the node that it is on"
        log.error("DSC104", what, document.places.key("clusters", cluster.name, "discovery", "dns", "type"), hint)
    if source.type == "A" and source.domain:
        what = "`domain` has no effect: an address has none"
        log.error(
            "DSC104", what, document.places.key("clusters", cluster.name, "discovery", "dns", "domain"), "remove it"
        )


def _check_tenants(factory: Factory, document: Document, log: Log) -> None:
    """Namespaces need a cluster that has some, a label that names tenants needs tenants."""
    pods = {c.name: c.source for c in factory.clusters.values() if isinstance(c.source, Kubernetes)}
    asked = {namespace for source in pods.values() for namespace in source.namespaces}
    asks_all = any(not source.namespaces for source in pods.values()) or factory.on_pods
    for tenant in factory.tenants.values():
        for index, namespace in enumerate(tenant.namespaces):
            if not asks_all and not document.is_broken("clusters") and namespace not in asked:
                place = document.places.value("tenants", tenant.name, "namespaces", index)
                hint = "add it to the `namespaces` of the cluster that has it"
                if not pods:
                    hint = "only Kubernetes knows namespaces, be it `scheduler` or `discovery`: name the `accounts`"
                what = f"no cluster of this factory looks for targets in the namespace '{namespace}'"
                log.error("DSC105", what, place, hint)
    for name, source in pods.items():
        if source.tenant_label and not factory.tenants and not document.is_broken("tenants"):
            place = document.places.key("clusters", name, "discovery", "kubernetes", "tenant_label")
            log.error(
                "DSC105", "`tenant_label` can name no tenant: there are none", place, "add `tenants:`, or remove it"
            )

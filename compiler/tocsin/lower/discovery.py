"""Discovered targets: where each job's come from, and the steps that give them the labels that ours would have.

A source is believed where a target is and on which node it runs, and nothing else: what it says beyond that is taken
only where it is one of the values that the spec allows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tocsin import pattern
from tocsin.discovery import Consul, Dns, Http, Kubernetes, jobs, own_port
from tocsin.lower.pace import slower
from tocsin.lower.pods import in_namespaces, of_targets
from tocsin.plan.servers import Discovery, Relabel

if TYPE_CHECKING:
    from tocsin.discovery import Access
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.owners import Tenant
    from tocsin.plan.servers import ScrapeJob

_POD = "__meta_kubernetes_pod_"
_ANNOTATION = f"{_POD}annotation_prometheus_io_"
_PORTS = "[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]"


class _Wanted(NamedTuple):
    """What the spec says of a job whose targets are discovered; `tenants` where its tenant is discovered as well."""

    job: ScrapeJob
    is_application: bool
    port: int
    tenants: tuple[Tenant, ...]


def discovered(factory: Factory, cluster: Cluster, job: ScrapeJob) -> ScrapeJob:
    """The job as its cluster's source serves it; unchanged where the source has no place for it."""
    source = cluster.source
    if source is None or job.name not in jobs(source):
        return job
    own = next((one for one in cluster.jobs if one.name == job.name), None)
    port = (own.port if own else cluster.ports[job.name]) if own_port(source) else 0
    tenant = own.tenant if own else ""
    tenants = tuple(factory.tenants.values()) if own and not tenant else ()
    wanted = _Wanted(job, own is not None, port, tenants)
    match source:
        case Kubernetes():
            told, steps = _kubernetes(source, wanted)
            steps += of_targets(cluster) if own and cluster.on_pods else []
        case Consul():
            told, steps = _consul(source, wanted)
        case Dns():
            told, steps = _dns(source, wanted)
        case Http():
            told, steps = _http(source, wanted)
    fixed = {"cluster": cluster.name, **({"tenant": tenant} if tenant else {})}
    steps += [Relabel(target=label, replacement=value) for label, value in fixed.items()]
    return job._replace(discovery=told, target_relabel=tuple(steps))


def _access(access: Access) -> dict[str, object]:
    settings: dict[str, object] = {}
    if access.token_file:
        settings["authorization"] = {"credentials_file": access.token_file}
    if access.ca_file:
        settings["tls_config"] = {"ca_file": access.ca_file}
    return settings


# --- Kubernetes -------------------------------------------------------------------------------------------------------


def _kubernetes(source: Kubernetes, wanted: _Wanted) -> tuple[Discovery, list[Relabel]]:
    labels = source.pods[wanted.job.name]
    settings: dict[str, object] = {"role": "pod"}
    if source.api_server:
        settings["api_server"] = source.api_server
    if source.kubeconfig_file:
        settings["kubeconfig_file"] = source.kubeconfig_file
    settings |= _access(source.access)
    if source.namespaces:
        settings["namespaces"] = {"names": source.namespaces}
    if labels:
        selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
        settings["selectors"] = ({"role": "pod", "label": selector},)
    # A pod that has ended keeps its last address, which may be another pod's by now.
    steps = [Relabel("keep", (f"{_POD}phase",), "Running")]
    if wanted.is_application:
        steps.append(Relabel("keep", (f"{_ANNOTATION}scrape",), "true"))
    # A pod with several ports is as many targets: with one address they are one again.
    steps += _address((f"{_POD}ip",), "", str(wanted.port))
    if wanted.is_application:
        steps += _address((f"{_POD}ip", f"{_ANNOTATION}port"), f";({_PORTS})", "$2")
        steps += _interval(wanted.job)
    steps.append(Relabel(source=(f"{_POD}node_name",), regex="(.+)", target="node"))
    return Discovery("kubernetes", settings), steps + _tenants(source, wanted.tenants)


def _address(source: tuple[str, ...], behind: str, port: str) -> list[Relabel]:
    """Steps that make host and port of a pod's IP address, which stands in brackets where it is one of version 6."""
    return [
        Relabel(source=source, regex=f"([0-9.]+){behind}", target="__address__", replacement=f"$1:{port}"),
        Relabel(
            source=source, regex=f"([0-9a-f:.]*:[0-9a-f:.]*){behind}", target="__address__", replacement=f"[$1]:{port}"
        ),
    ]


def _interval(job: ScrapeJob) -> list[Relabel]:
    """The pod's own pace, where it is a lawful one. The timeout is the job's, and so never above it."""
    lawful = slower(job.interval)
    source = (f"{_ANNOTATION}scrape_interval",)
    return [Relabel(source=source, regex=f"({lawful})", target="__scrape_interval__")] if lawful else []


def _tenants(source: Kubernetes, tenants: tuple[Tenant, ...]) -> list[Relabel]:
    """By the pod's label, and then by its namespace: whoever may label a pod may not leave its namespace."""
    steps = []
    if source.tenant_label and tenants:
        label = f"{_POD}label_{re.sub('[^A-Za-z0-9_]', '_', source.tenant_label)}"
        names = "|".join(pattern.literal(tenant.name) for tenant in tenants)
        steps.append(Relabel(source=(label,), regex=f"({names})", target="tenant"))
    return steps + in_namespaces(("__meta_kubernetes_namespace",), tenants)


# --- Consul, DNS, HTTP ------------------------------------------------------------------------------------------------


def _consul(source: Consul, wanted: _Wanted) -> tuple[Discovery, list[Relabel]]:
    settings: dict[str, object] = {"server": source.server}
    if source.scheme != "http":
        settings["scheme"] = source.scheme
    if source.datacenter:
        settings["datacenter"] = source.datacenter
    settings |= {**_access(source.access), "services": (source.services[wanted.job.name],)}
    return Discovery("consul", settings), [Relabel(source=("__meta_consul_node",), regex="(.+)", target="node")]


def _dns(source: Dns, wanted: _Wanted) -> tuple[Discovery, list[Relabel]]:
    settings: dict[str, object] = {"names": (source.names[wanted.job.name],), "type": source.type}
    if wanted.port:
        settings["port"] = wanted.port
    domain = f"(?:\\.{pattern.literal(source.domain)})?" if source.domain else ""
    return Discovery("dns", settings), [Relabel(source=("__address__",), regex=f"(.+?){domain}:[0-9]+", target="node")]


def _http(source: Http, wanted: _Wanted) -> tuple[Discovery, list[Relabel]]:
    """Every label of an answer would be a label of its series, and some would steer Prometheus: two are kept."""
    job = wanted.job
    settings = {"url": source.urls[job.name], **_access(source.access)}
    said = {
        "job": job.name,
        "__scheme__": "http",
        "__metrics_path__": "/metrics",
        "__scrape_interval__": str(job.interval),
        "__scrape_timeout__": str(job.scrape_timeout),
    }
    return Discovery("http", settings), [
        Relabel("labelkeep", regex="__address__|node"),
        Relabel(source=("node", "__address__"), regex=";(.+):[0-9]+", target="node"),
        *(Relabel(target=label, replacement=value) for label, value in said.items()),
    ]

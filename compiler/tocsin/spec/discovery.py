"""`clusters.<name>.discovery`: who tells Prometheus what there is to scrape, one way a cluster.

Where the targets are not the spec's own hosts, one mapping says for every exporter and every job where they are found.
"""

from typing import Literal

from tocsin.spec.scalars import (
    Address,
    DomainName,
    Name,
    Namespaces,
    PodLabel,
    PodLabelValue,
    ScrapeFile,
    Section,
    ServiceName,
    Url,
)


class Empty(Section):
    """A choice without settings: `{}`."""


class Kubernetes(Section):
    """Pods by their labels. Those of an application must say `prometheus.io/scrape: "true"` in their annotations.

    They may say `prometheus.io/port`, else it is the job's `port`, and `prometheus.io/scrape-interval`: whole seconds
    or minutes, from the interval of the job's workload to 2m. What is neither is not taken.
    Without `api_server` and `kubeconfig_file` Prometheus runs in the cluster and asks as its own service account.
    `tenant_label` is the pod label whose value names a tenant.
    """

    pods: dict[Name, dict[PodLabel, PodLabelValue]]
    namespaces: Namespaces = ()
    api_server: Url | None = None
    kubeconfig_file: ScrapeFile | None = None
    token_file: ScrapeFile | None = None
    ca_file: ScrapeFile | None = None
    tenant_label: PodLabel | None = None


class Consul(Section):
    """Services of a Consul catalogue. Without `datacenter` it is the agent's own."""

    server: Address
    services: dict[Name, ServiceName]
    datacenter: ServiceName | None = None
    scheme: Literal["http", "https"] = "http"
    token_file: ScrapeFile | None = None
    ca_file: ScrapeFile | None = None


class Dns(Section):
    """Names that the DNS answers with hosts and ports (SRV), or with addresses (A). `domain` is no part of a node."""

    names: dict[Name, DomainName]
    type: Literal["SRV", "A"] = "SRV"
    domain: DomainName | None = None


class Http(Section):
    """Lists of targets, as an inventory answers them in Prometheus' JSON; the label `node` of each names its host."""

    urls: dict[Name, Url]
    token_file: ScrapeFile | None = None
    ca_file: ScrapeFile | None = None


class Discovery(Section):
    """How Prometheus finds the targets: hosts of the spec, in its configuration or beside it, or others tell."""

    static: Empty | None = None
    file: Empty | None = None
    kubernetes: Kubernetes | None = None
    consul: Consul | None = None
    dns: Dns | None = None
    http: Http | None = None

"""Sources of targets: who tells Prometheus what there is to scrape, where that is not the spec's own list of hosts.

The first field of each kind says, for every exporter and job by name, where its targets are found.
"""

from collections.abc import Collection
from typing import NamedTuple


class Access(NamedTuple):
    """How a source is asked: files of its token and of the authority behind its certificate; empty where not needed."""

    token_file: str
    ca_file: str


class Kubernetes(NamedTuple):
    """Pods by their labels, in some namespaces or all; `tenant_label` is the pod label that names a tenant, if any.

    Neither `api_server` nor `kubeconfig_file` means that Prometheus runs inside of the cluster.
    """

    pods: dict[str, dict[str, str]]
    namespaces: tuple[str, ...]
    api_server: str
    kubeconfig_file: str
    access: Access
    tenant_label: str


class Consul(NamedTuple):
    """Services of Consul; an empty `datacenter` is the agent's own."""

    services: dict[str, str]
    server: str
    scheme: str
    datacenter: str
    access: Access


class Dns(NamedTuple):
    """Names to ask; `type` is SRV or A; `domain` is cut from the end of a host's name."""

    names: dict[str, str]
    type: str
    domain: str


class Http(NamedTuple):
    """Lists of targets to fetch."""

    urls: dict[str, str]
    access: Access


Source = Kubernetes | Consul | Dns | Http


def jobs(source: Source) -> Collection[str]:
    """The exporters and jobs that a source tells the targets of."""
    return source[0]


def own_port(source: Source | None) -> bool:
    """Whether the port of a target is the spec's to say, rather than the source's."""
    return source is None or isinstance(source, Kubernetes) or (isinstance(source, Dns) and source.type == "A")

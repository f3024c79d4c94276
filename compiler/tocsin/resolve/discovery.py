"""Discovery: what is written becomes a source of targets, with every default filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.discovery import Access, Consul, Dns, Http, Kubernetes
from tocsin.spec import discovery as written

if TYPE_CHECKING:
    from tocsin.discovery import Source

WAYS = ("file", "static", "kubernetes", "consul", "dns", "http")


def source(discovery: written.Discovery, way: str) -> Source | None:
    """The source of a cluster's targets; None where they are the spec's own hosts."""
    match getattr(discovery, way):
        case written.Kubernetes() as said:
            return Kubernetes(
                pods=said.pods,
                namespaces=tuple(sorted(said.namespaces)),
                api_server=said.api_server or "",
                kubeconfig_file=said.kubeconfig_file or "",
                access=_access(said),
                tenant_label=said.tenant_label or "",
            )
        case written.Consul() as said:
            return Consul(said.services, said.server, said.scheme, said.datacenter or "", _access(said))
        case written.Dns() as said:
            return Dns(said.names, said.type, said.domain or "")
        case written.Http() as said:
            return Http(said.urls, _access(said))
    return None


def _access(said: written.Kubernetes | written.Consul | written.Http) -> Access:
    return Access(said.token_file or "", said.ca_file or "")

"""Tenants that want to be told: something must be told that names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory

LABEL = "tenant"


def check_tenants(factory: Factory, document: Document, log: Log) -> None:
    """An alert has a tenant where its objective tells tenants apart; faults of nodes and boards belong to nobody's."""
    if any(LABEL in slo.by for slo in factory.slos.values()) or document.is_broken("slos"):
        return
    for tenant in factory.tenants.values():
        for path in ("page", "ticket"):
            if getattr(tenant, path) and not document.is_broken("tenants", tenant.name):
                what = f"no alert names a tenant: the `{path}` of '{tenant.name}' would never be used"
                hint = f"tell tenants apart in an SLO, as in `by: [cluster, {LABEL}]`, or remove `{path}`"
                log.error("TEN120", what, document.places.key("tenants", tenant.name, path), hint)

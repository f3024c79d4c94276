"""Factory in, diagnostics out: whether what was written makes sense. One module a concern."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.check.availability import check_availability
from tocsin.check.brought import check_brought
from tocsin.check.capacity import check_capacity
from tocsin.check.cooling import check_cooling
from tocsin.check.deep import check_deep
from tocsin.check.discovery import check_discovery
from tocsin.check.hosts import check_hosts
from tocsin.check.latency import check_latency
from tocsin.check.objectives import check_objectives
from tocsin.check.queries import check_queries
from tocsin.check.retention import check_retention
from tocsin.check.rules import check_rules
from tocsin.check.samples import check_samples
from tocsin.check.scheduler import check_scheduler
from tocsin.check.servers import check_servers
from tocsin.check.sharing import check_sharing
from tocsin.check.slices import check_slices
from tocsin.check.storms import check_storms
from tocsin.check.tenants import check_tenants
from tocsin.check.values import check_values

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory

CHECKS = (
    check_discovery,
    check_scheduler,
    check_sharing,
    check_deep,
    check_hosts,
    check_cooling,
    check_objectives,
    check_slices,
    check_queries,
    check_rules,
    check_brought,
    check_latency,
    check_availability,
    check_servers,
    check_capacity,
    check_samples,
    check_retention,
    check_storms,
    check_tenants,
    check_values,
)


def check(factory: Factory, document: Document, log: Log) -> None:
    """Run every check; each is independent of the others."""
    for run in CHECKS:
        run(factory, document, log)

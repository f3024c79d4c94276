"""Who must be told of what, whatever the routes say: the receiver of its owner and severity, and who else there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.plan.notifications import RouteTest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.factory import Factory
    from tocsin.plan.notifications import Sample
    from tocsin.source import Span

HEARTBEAT, DASHBOARDS = "heartbeat", "dashboards-only"


def of_owner(owner: str, severity: str) -> str:
    """The receiver of an owner's pages, or tickets."""
    return f"{owner}-{severity}"


def of_tenant(tenant: str, severity: str) -> str:
    """The receiver of a tenant's pages, or tickets; no owner has a stroke in its name."""
    return f"tenant/{tenant}-{severity}"


def escalated(owner: str) -> str:
    """The receiver of what others' pages have become; the templates know it by this name."""
    return f"{owner}-escalation"


def route_tests(factory: Factory, samples: Sequence[Sample]) -> tuple[RouteTest, ...]:
    """One for each owner and severity; for each of these, layer and tenant among the alerts; and what is not ours."""
    alerting = factory.alerting
    heartbeat = (("alertname", naming.WATCHDOG), ("severity", "info"))
    foreign = (("alertname", "Foreign"),)
    return (
        RouteTest(heartbeat, (HEARTBEAT,), alerting.origin),
        RouteTest(foreign, (of_owner(alerting.fallback, "ticket"),), alerting.origin),
        *(_test(factory, labels, origin) for labels, origin in (*_pairs(factory), *_kinds(factory, samples))),
    )


def _pairs(factory: Factory) -> Iterator[tuple[dict[str, str], Span]]:
    """Every owner and severity, whether we have such alerts or somebody else may write one."""
    for owner in factory.owners.values():
        for severity in ("page", "ticket", "info"):
            yield {"owner": owner.name, "severity": severity}, owner.origin


def _kinds(factory: Factory, samples: Sequence[Sample]) -> Iterator[tuple[dict[str, str], Span]]:
    """What routes may look at, of every alert but the heartbeat: of each tenant where it has one."""
    ours = (sample for sample in samples if sample.labels["alertname"] != naming.WATCHDOG)
    kinds: dict[tuple[str, ...], Sample] = {}
    for sample in ours:
        tenant = "tenant" if "tenant" in sample.labels else ""
        kinds.setdefault((*(sample.labels[label] for label in ("owner", "severity", "layer")), tenant), sample)
    for (owner, severity, layer, tenant), sample in sorted(kinds.items()):
        labels = {"owner": owner, "severity": severity, "layer": layer}
        yield labels, sample.origin
        for name in factory.tenants if tenant else ():
            yield {**labels, "tenant": name}, sample.origin


def _test(factory: Factory, labels: dict[str, str], origin: Span) -> RouteTest:
    owner, severity = factory.owners[labels["owner"]], labels["severity"]
    if severity == "info":
        return RouteTest(tuple(labels.items()), (DASHBOARDS,), origin)
    tenant = factory.tenants.get(labels.get("tenant", ""))
    first = (of_tenant(tenant.name, severity),) if tenant and getattr(tenant, severity) else ()
    steps = tuple(escalated(step.to) for step in owner.escalation) if severity == "page" else ()
    theirs = () if tenant and first and tenant.instead else (of_owner(owner.name, severity), *steps)
    return RouteTest(tuple(labels.items()), (*first, *theirs), origin)

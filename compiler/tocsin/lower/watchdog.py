"""The alert that always fires: whoever stops hearing it knows that alerting is dead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.proofs import fires, proof
from tocsin.plan.rules import Alert, RuleFile, RuleGroup
from tocsin.units import NO_TIME

if TYPE_CHECKING:
    from tocsin.factory import Factory


def watchdog(factory: Factory) -> RuleFile:
    """A file of its own, so that no other rule's trouble silences it."""
    owner = factory.alerting.fallback
    alert = Alert(
        name=naming.WATCHDOG,
        expr="vector(1)",
        hold=NO_TIME,
        labels={"severity": "info", "owner": owner, "layer": "runtime", "signal": naming.HEARTBEAT},
        annotations={
            "summary": "Alerting is alive",
            "description": "This alert always fires. Its absence is the alarm, raised by the heartbeat's receiver.",
            "runbook_url": f"{factory.owners[owner].runbooks}{naming.WATCHDOG}",
        },
        origin=factory.alerting.origin,
    )
    test = proof(alert, "it always fires", [], fires(alert, 1, {}))
    return RuleFile("watchdog", (RuleGroup("watchdog", (alert,), (test,)),))

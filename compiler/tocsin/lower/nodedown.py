"""A node of which nothing answers. It is one ticket: what is missing from it is its consequence, which is not told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import STRANGER, example_node, fires, proof, series, silent
from tocsin.plan.rules import RuleGroup
from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.plan.rules import Alert, RuleTest

ALERT = naming.NODE_DOWN
# What is told of a silent exporter looks back five minutes: so long after its end it is still its consequence.
_KEPT = Duration.of(minutes=5)
# Not what answers for a node from beside it, as its management controller does.
_EXPORTERS = 'up{job=~"dcgm|node"}'


def node_down(factory: Factory) -> RuleGroup:
    """Neither the GPU's exporter nor the node's own answers; a single answer within two minutes will do."""
    alert = signal_alert(
        factory,
        ALERT,
        factory.signals["gpu_temp"],
        "ticket",
        expr=f"max by ({naming.by(naming.NODE)}) (max_over_time({_EXPORTERS}[2m])) == 0",
        hold=Duration.of(minutes=3),
        summary="{{ $labels.node }} does not answer",
        description="No exporter of {{ $labels.node }} has answered for five minutes: the node, or its network, is "
        "down. Nothing is known of its GPUs.",
    )
    alert = alert._replace(keep=_KEPT)
    return RuleGroup("nodes", (alert,), (_test(factory, alert),))


def _test(factory: Factory, alert: Alert) -> RuleTest:
    """One exporter dies at minute 10, the other at minute 20; it is back at minute 40. On another, one dies."""
    node = example_node(factory)
    other = {**node, "node": STRANGER}
    inputs = [
        series("up", {**at, "job": job, "instance": job}, values)
        for at, job, values in (
            (node, "dcgm", "1x9 0x29 1x20"),
            (node, "node", "1x19 0x19 1x20"),
            (node, "bmc", "1x60"),
            (other, "dcgm", "1x9 0x50"),
            (other, "node", "1x60"),
        )
    ]
    checks = [
        *(silent(alert, minute) for minute in (15, 20, 23)),
        *(fires(alert, minute, node) for minute in (25, 39, 44)),
        silent(alert, 45),
    ]
    return proof(alert, "its exporters die, and it comes back", inputs, *checks)

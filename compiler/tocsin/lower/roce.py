"""RoCE: what its adapters count of packets that were sent again, by how often each counter was seen to rise.

A packet that no acknowledgement came for within its time was lost, and its connection stood still until then: it pages.
Gaps that the receiver told of at once are closed at once: they are ticketed where they go on. A port that is down is
told like one of InfiniBand. Where packets go over several paths, or wait to slow down, is congestion and no error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.catalog import PORT_ERRORS
from tocsin.lower.alerts import signal_alert
from tocsin.lower.fabric import PLACE, cabled, either, examples, matchers, strangers
from tocsin.lower.proofs import fires, series, shared, silent
from tocsin.lower.rises import counted, error_of, risen
from tocsin.plan.rules import Record, RuleGroup
from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.lower.fabric import Groups
    from tocsin.plan.rules import Alert, RuleTest

RISES = 2  # a burst, as when a switch reboots, rises once or twice; what rises more often goes on happening
_PORT = naming.by(naming.PORT)
_NAMES = {"uncorrected": naming.ROCE_UNCORRECTED, "corrected": naming.ROCE_CORRECTED}


def roce(factory: Factory) -> RuleGroup | None:
    """Timeouts, and gaps that repeat, on the ports of groups whose fabric is RoCE."""
    signal, groups = factory.signals.get(PORT_ERRORS["roce"]), cabled(factory, "roce")
    if signal is None or not groups:
        return None
    rises = [
        Record(
            _NAMES[metric.errors],
            either(f"max by ({_PORT}) ({risen(f'{metric.name}{{{matchers(c, g)}}}')})" for c, g in groups),
            {"error": error_of(metric.name)},
            signal.origin,
        )
        for metric in signal.metrics
    ]
    lost = signal_alert(
        factory,
        "RocePacketsLost",
        signal,
        "page",
        expr=f"{naming.ROCE_UNCORRECTED} > {RISES}",
        hold=Duration.of(minutes=5),
        summary="A RoCE port of {{ $labels.node }} waits for acknowledgements in vain",
        description=f"{PLACE} counts {{{{ $labels.error }}}}: packets are lost, collectives over it stall, and "
        "connections end once their retries are used up.",
    )
    corrected = signal_alert(
        factory,
        "RoceErrorsCorrected",
        signal,
        "ticket",
        expr=f"{naming.ROCE_CORRECTED} > {RISES}",
        hold=Duration.of(minutes=15),
        summary="A RoCE port of {{ $labels.node }} sends packets again",
        description=f"{PLACE} has counted {{{{ $labels.error }}}} for half an hour: nothing is lost, but the fabric "
        "drops or reorders packets. Look at its flow control.",
    )
    return RuleGroup("fabric-roce", (*rises, lost, corrected), (_test(factory, groups, lost, corrected),))


def _test(factory: Factory, groups: Groups, lost: Alert, corrected: Alert) -> RuleTest:
    """Counters that rise all the time, twice only, and every seven minutes."""
    ports = examples(groups)
    steady, burst, rarely = ({**ports[0], "port": port} for port in ("1", "2", "3"))
    metrics = factory.signals[PORT_ERRORS["roce"]].metrics
    inputs: list[tuple[str, str]] = []
    told: dict[str, list[dict[str, str]]] = {}
    for metric in metrics:
        inputs.append(series(metric.name, {**steady, "job": "node"}, "9x19 9+1x60"))
        inputs.append(series(metric.name, {**burst, "job": "node"}, "9x19 10x3 11x60"))
        inputs.append(series(metric.name, {**rarely, "job": "node"}, "9x19 10x6 11x6 12x6 13x6 14x6 15x60"))
        told.setdefault(metric.errors, []).append({**steady, "error": error_of(metric.name)})
    checks = (
        *(silent(lost, minute) for minute in (20, 26)),
        *(fires(lost, minute, *told["uncorrected"]) for minute in (28, 33, 60)),
        *(silent(corrected, minute) for minute in (28, 36)),
        *(fires(corrected, minute, *told["corrected"]) for minute in (38, 60)),
    )
    test = shared("fabric-roce", "packets that are sent again", lost.origin, inputs, *checks)
    return counted(test, {metric.name: _NAMES[metric.errors] for metric in metrics}, ports, strangers(groups))

"""The state of the fabric's ports, of InfiniBand and of RoCE: ports that are down, slow or gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.fabric import PLACE, cabled, either, matchers, others
from tocsin.lower.proofs import example_port, fires, series, shared, silent
from tocsin.plan import RuleGroup
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.lower.fabric import Groups
    from tocsin.plan import Alert, RuleTest

STATE, SPEED = "node_infiniband_state_id", "node_infiniband_rate_bytes_per_second"
ACTIVE = 4  # PortState, InfiniBand Architecture Specification
_PORT, _NODE = naming.by(naming.PORT), naming.by(naming.NODE)


class Ports(NamedTuple):
    """The alerts on the state of ports; `slow` where a speed is stated."""

    down: Alert
    gone: Alert
    slow: Alert | None


def ports(factory: Factory) -> RuleGroup | None:
    """Ports that are not active, that are gone, and that are slower than the spec says."""
    groups = cabled(factory, "infiniband", "roce")
    if "fabric_errors" not in factory.signals or not groups:
        return None
    alerts = Ports(*_alerts(factory, groups), _slow(factory, groups))
    rules = tuple(alert for alert in alerts if alert is not None)
    return RuleGroup("fabric-ports", rules, (_test(factory, groups, alerts),))


def _alerts(factory: Factory, groups: Groups) -> tuple[Alert, Alert]:
    signal = factory.signals["fabric_link"]
    known = either(f"group by ({_PORT}) (last_over_time({STATE}{{{matchers(c, g)}}}[1h]))" for c, g in groups)
    return (
        signal_alert(
            factory,
            "FabricPortDown",
            signal,
            "page",
            expr=either(f"max by ({_PORT}) ({STATE}{{{matchers(c, g)}}}) != {ACTIVE}" for c, g in groups),
            hold=Duration.of(minutes=1),
            summary="A fabric port of {{ $labels.node }} is down",
            description=f"{PLACE} is not active (state {{{{ $value }}}}). If nothing is plugged in there, leave it "
            "out of `fabric_devices`.",
        ),
        signal_alert(
            factory,
            "FabricPortGone",
            signal,
            "page",
            expr=f"(({known}) unless group by ({_PORT}) ({STATE}))\n"
            f'and on ({_NODE}) (max by ({_NODE}) (up{{job="node"}}) == 1)',
            hold=Duration.of(minutes=5),
            summary="A fabric port of {{ $labels.node }} is gone",
            description=f"{PLACE} was there within the last hour and is not any more, while the node's exporter "
            "answers: look at the adapter.",
        ),
    )


def _slow(factory: Factory, groups: Groups) -> Alert | None:
    speeds = [(cluster, group, group.port_speed) for cluster, group in groups if group.port_speed is not None]
    if not speeds:
        return None
    return signal_alert(
        factory,
        "FabricPortSlow",
        factory.signals["fabric_link"],
        "ticket",
        expr=either(f"max by ({_PORT}) ({SPEED}{{{matchers(c, g)}}}) < {number(s)}" for c, g, s in speeds),
        hold=Duration.of(minutes=5),
        summary="A fabric port of {{ $labels.node }} is slow",
        description=f"{PLACE} negotiated {{{{ $value }}}} bytes per second, less than its `fabric_speed`.",
    )


def _test(factory: Factory, groups: Groups, alerts: Ports) -> RuleTest:
    """Ports go down, slow down and go; for ten minutes the node exporter is silent. Another cluster is not asked."""
    here = example_port(factory)
    first, second, third = ({**here, "port": str(number)} for number in range(1, 4))
    raw = [{**at, "job": "node"} for at in (first, second, third)]
    elsewhere = [{**raw[0], **other} for other in others(factory)]
    node = {label: here[label] for label in naming.NODE}
    exporters = (
        (node, "node", "1x29 0x9 1x50"),
        (node, "dcgm", "1x90"),
        ({**node, "cluster": "another"}, "node", "1x90"),
    )
    inputs = [
        *(series("up", {**at, "job": job, "instance": job}, values) for at, job, values in exporters),
        series(STATE, raw[0], f"{ACTIVE}x19 1x9 stale _x8 {ACTIVE}x50"),
        series(STATE, raw[1], f"{ACTIVE}x19 2 {ACTIVE}x8 stale _x8 {ACTIVE}x50"),
        series(STATE, raw[2], f"{ACTIVE}x19 stale"),
        *(series(STATE, at, "1x19 stale") for at in elsewhere),
    ]
    checks = [
        *(silent(alerts.down, minute) for minute in (15, 20, 40)),
        fires(alerts.down, 21, first, value=1),
        *(silent(alerts.gone, minute) for minute in (24, 30, 38, 44, 82)),
        *(fires(alerts.gone, minute, third) for minute in (25, 29, 45, 78)),
    ]
    speed = next((int(group.port_speed) for _, group in groups if group.port_speed is not None), 0)
    if alerts.slow is not None:
        inputs += [series(SPEED, at, f"{speed}x19 {speed // 2}x9") for at in (raw[0], *elsewhere)]
        inputs.append(series(SPEED, raw[1], f"{speed}x60"))
        checks += [silent(alerts.slow, 24), fires(alerts.slow, 25, first, value=speed // 2)]
    return shared("fabric-ports", "ports that are down, slow or gone", alerts.down.origin, inputs, *checks)

"""The state of the fabric's ports, of InfiniBand and of RoCE: ports that are down, slow or gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.fabric import PLACE, cabled, either, examples, matchers, strangers
from tocsin.lower.nodes import distinct
from tocsin.lower.proofs import fires, firing, series, shared, silent
from tocsin.plan.rules import Expectation, RuleGroup
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.factory import Factory
    from tocsin.lower.fabric import Groups
    from tocsin.plan.rules import Alert, RuleTest

    Places = Sequence[dict[str, str]]

STATE, SPEED = "node_infiniband_state_id", "node_infiniband_rate_bytes_per_second"
GIGA = 10**9
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
    return RuleGroup("fabric-ports", rules, (_test(groups, alerts),))


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
        expr=either(f"{_gigabits(matchers(c, g))} < {number(s * 8 / GIGA)}" for c, g, s in speeds),
        hold=Duration.of(minutes=5),
        summary="A fabric port of {{ $labels.node }} is slow",
        description=f"{PLACE} negotiated {{{{ $value }}}} Gb/s, less than its `fabric_speed`.",
    )


def _gigabits(matched: str) -> str:
    """The speed of ports as people say it; of the speeds that there are the division loses nothing."""
    return f"max by ({_PORT}) ({SPEED}{{{matched}}}) * 8 / 1e9"


def _test(groups: Groups, alerts: Ports) -> RuleTest:
    """Ports of each group go down, slow down and go; for ten minutes their node exporters are silent."""
    places, outside = examples(groups), strangers(groups)
    first, second, third = ([{**at, "port": number} for at in places] for number in ("1", "2", "3"))
    inputs = [
        *_exporters(places, outside),
        *_each(STATE, first, f"{ACTIVE}x19 1x9 stale _x8 {ACTIVE}x50"),
        *_each(STATE, second, f"{ACTIVE}x19 2 {ACTIVE}x8 stale _x8 {ACTIVE}x50"),
        *_each(STATE, third, f"{ACTIVE}x19 stale"),
        *_each(STATE, outside, "1x19 stale"),
    ]
    checks = [
        *(silent(alerts.down, minute) for minute in (15, 20, 40)),
        fires(alerts.down, 21, *first, value=1),
        *(silent(alerts.gone, minute) for minute in (24, 30, 38, 44, 82)),
        *(fires(alerts.gone, minute, *third) for minute in (25, 29, 45, 78)),
    ]
    if alerts.slow is not None:
        speeds = [int(group.port_speed or 0) for _, group in groups]
        inputs += _each(SPEED, outside, "1x28")
        for at, beside, speed in zip(first, second, speeds, strict=True):
            inputs.append(series(SPEED, {**at, "job": "node"}, f"{speed}x19 {speed // 2}x9"))
            inputs.append(series(SPEED, {**beside, "job": "node"}, f"{speed}x60"))
        slow = [
            firing(alerts.slow, at, speed // 2 * 8 / GIGA) for at, speed in zip(first, speeds, strict=True) if speed
        ]
        checks += [silent(alerts.slow, 24), Expectation(Duration.of(minutes=25), alerts.slow.name, tuple(slow))]
    return shared("fabric-ports", "ports that are down, slow or gone", alerts.down.origin, inputs, *checks)


def _exporters(ports: Places, outside: Places) -> list[tuple[str, str]]:
    """Whether exporters answer: of nodes with such ports the node exporter pauses, the other one does not."""
    here, elsewhere = ([{label: at[label] for label in naming.NODE} for at in some] for some in (ports, outside))
    always = [at for at in distinct(elsewhere) if at not in here]
    up = [("node", at, "1x29 0x9 1x50") for at in here]
    up += [("dcgm", at, "1x90") for at in here] + [("node", at, "1x90") for at in always]
    return [series("up", {**at, "job": job, "instance": job}, values) for job, at, values in up]


def _each(metric: str, ports: Places, values: str) -> list[tuple[str, str]]:
    return [series(metric, {**at, "job": "node"}, values) for at in ports]

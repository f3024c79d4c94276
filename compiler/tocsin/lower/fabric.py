"""The fabric's InfiniBand ports. Uncorrected errors page, corrected ones are ticketed once they repeat.

Errors are counted by how often their counter was seen to rise, whatever the amount: one burst is one event, and a
counter that was reset, or that begins anew above zero, did not rise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower import nodes
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import example_port, fires, series, shared, silent
from tocsin.plan import Record, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.factory import Cluster, Factory, NodeGroup
    from tocsin.plan import Alert, RuleTest

_PORT, _NODE = naming.by(naming.PORT), naming.by(naming.NODE)
_PLACE = "Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.node }}"
DOWNED = "node_infiniband_link_downed_total"
STATE, SPEED = "node_infiniband_state_id", "node_infiniband_rate_bytes_per_second"
ACTIVE = 4  # PortState, InfiniBand Architecture Specification
# Where counters of 8, 16 and 32 bits stop (PortCounters, InfiniBand Architecture Specification): they do not wrap.
ENDS = (255, 65535, 4294967295)

Groups = list[tuple["Cluster", "NodeGroup"]]


class PortAlerts(NamedTuple):
    """The alerts of InfiniBand ports; `slow` where a speed is stated."""

    lost: Alert
    packets: Alert
    corrected: Alert
    full: Alert
    down: Alert
    gone: Alert
    unseen: Alert
    slow: Alert | None


def ports(factory: Factory) -> RuleGroup | None:
    """InfiniBand ports: lost links, lost packets, corrected errors, ports that are down, slow, gone or not measured."""
    groups = [(cluster, group) for cluster, group in nodes.groups(factory) if group.fabric == "infiniband"]
    if "fabric_errors" not in factory.signals or not groups:
        return None
    lost, packets, corrected = _error_alerts(factory)
    down, gone = _state_alerts(factory, groups)
    full, unseen = _counters_full(factory, groups), _unseen(factory, groups)
    alerts = PortAlerts(lost, packets, corrected, full, down, gone, unseen, _slow(factory, groups))
    tests = (_error_test(factory, alerts), _state_test(factory, groups, alerts))
    return RuleGroup("fabric-ports", (*_rises(factory, groups), *(a for a in alerts if a is not None)), tests)


def _counters(factory: Factory) -> dict[str, str]:
    """The error counters of a port, and whether what they count was corrected."""
    metrics = factory.signals["fabric_errors"].metrics
    return {metric.name: metric.errors for metric in metrics if metric.exporter == "node"}


def _matchers(cluster: Cluster, group: NodeGroup) -> str:
    devices = f", device=~{quote(nodes.one_of(group.devices))}" if group.devices else ""
    return nodes.matchers(cluster, group) + devices


def _error(metric: str) -> str:
    return metric.removeprefix("node_infiniband_").removesuffix("_total")


def risen(series_: str) -> str:
    """How often a counter rose within a quarter of an hour: every change but those that took it down."""
    return f"changes({series_}[15m]) - resets({series_}[15m])"


def _rises(factory: Factory, groups: Groups) -> list[Record]:
    return [
        Record(
            naming.PORT_CORRECTED if errors == "corrected" else naming.PORT_UNCORRECTED,
            f"max by ({_PORT}) ({risen(f'{metric}{{{_matchers(cluster, group)}}}')})",
            {"error": _error(metric)},
            factory.signals["fabric_errors"].origin,
        )
        for cluster, group in groups
        for metric, errors in _counters(factory).items()
    ]


def _error_alerts(factory: Factory) -> tuple[Alert, Alert, Alert]:
    signal = factory.signals["fabric_errors"]
    return (
        signal_alert(
            factory,
            "FabricLinkLost",
            signal,
            "page",
            expr=f'{naming.PORT_UNCORRECTED}{{error="link_downed"}} > 0',
            summary="A fabric link of {{ $labels.node }} went down",
            description=f"{_PLACE} lost its link within the last quarter of an hour: collectives over it fail.",
        ),
        signal_alert(
            factory,
            "FabricPacketsLost",
            signal,
            "page",
            # A burst, as when a neighbour reboots, rises once or twice; what rises more often goes on happening.
            expr=f'{naming.PORT_UNCORRECTED}{{error!="link_downed"}} > 2',
            hold=Duration.of(minutes=5),
            summary="A fabric port of {{ $labels.node }} loses packets",
            description=f"{_PLACE} counts {{{{ $labels.error }}}}: packets are lost and no retry saved them.",
        ),
        signal_alert(
            factory,
            "FabricErrorsCorrected",
            signal,
            "ticket",
            expr=f"{naming.PORT_CORRECTED} > 1",
            summary="A fabric port of {{ $labels.node }} corrects errors",
            description=f"{_PLACE} counts {{{{ $labels.error }}}} again and again: nothing is lost yet.",
        ),
    )


def _counters_full(factory: Factory, groups: Groups) -> Alert:
    names = "|".join(_counters(factory))
    at_end = (
        f'{{__name__=~"{names}", {_matchers(cluster, group)}}} == {end}' for cluster, group in groups for end in ENDS
    )
    return signal_alert(
        factory,
        "FabricCounterFull",
        factory.signals["fabric_errors"],
        "ticket",
        expr=f"group by ({_PORT}) (\n  {f'{chr(10)}  or '.join(at_end)}\n)",
        hold=Duration.of(minutes=15),
        summary="An error counter of a fabric port of {{ $labels.node }} counts no more",
        description=f"A counter of port {_PLACE.removeprefix('Port ')} has reached its largest value and hides every "
        "further error: read it, then clear it.",
    )


def _state_alerts(factory: Factory, groups: Groups) -> tuple[Alert, Alert]:
    signal = factory.signals["fabric_link"]
    known = _or(f"group by ({_PORT}) (last_over_time({STATE}{{{_matchers(c, g)}}}[1h]))" for c, g in groups)
    return (
        signal_alert(
            factory,
            "FabricPortDown",
            signal,
            "page",
            expr=_or(f"max by ({_PORT}) ({STATE}{{{_matchers(c, g)}}}) != {ACTIVE}" for c, g in groups),
            hold=Duration.of(minutes=1),
            summary="A fabric port of {{ $labels.node }} is down",
            description=f"{_PLACE} is not active (state {{{{ $value }}}}). If nothing is plugged in there, leave it "
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
            description=f"{_PLACE} was there within the last hour and is not any more, while the node's exporter "
            "answers: look at the adapter.",
        ),
    )


def _unseen(factory: Factory, groups: Groups) -> Alert:
    measured = " and ".join(f"group by ({_NODE}) ({metric})" for metric in _counters(factory))
    up = _or(f'group by ({_NODE}) (up{{job="node", {nodes.matchers(c, g)}}} == 1)' for c, g in groups)
    return signal_alert(
        factory,
        "FabricPortsNotMeasured",
        factory.signals["fabric_errors"],
        "ticket",
        expr=f"({up})\nunless ({measured})",
        hold=Duration.of(minutes=15),
        summary="Nobody measures the fabric ports of {{ $labels.node }}",
        description="The node exporter of {{ $labels.node }} answers, but not with every error counter of its "
        "InfiniBand ports: look at its infiniband collector.",
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
        expr=_or(f"max by ({_PORT}) ({SPEED}{{{_matchers(c, g)}}}) < {number(s)}" for c, g, s in speeds),
        hold=Duration.of(minutes=5),
        summary="A fabric port of {{ $labels.node }} is slow",
        description=f"{_PLACE} negotiated {{{{ $value }}}} bytes per second, less than its `fabric_speed`.",
    )


def _or(parts: Iterable[str]) -> str:
    return "\nor\n".join(parts)


def _counter(*rises: int, cleared: int = 0) -> str:
    """An hour of a counter that stands at nine, is cleared at one minute, and rises by one at others."""
    out, start, value = "", 0, 9
    for minute in sorted({*rises, cleared} - {0}):
        out += f"{value}x{minute - start - 1} "
        start, value = minute, 0 if minute == cleared else value + 1
    return f"{out}{value}x{60 - start}"


def _error_test(factory: Factory, alerts: PortAlerts) -> RuleTest:
    """Every counter of a port has the same story: the events that count, and on other ports those that do not."""
    here = example_port(factory)
    ports_ = [{**here, "port": str(number)} for number in range(1, 7)]
    stories = {
        "downed": (_counter(20, cleared=2), _counter(cleared=20), "255x60"),
        "uncorrected": (
            _counter(*range(20, 60), cleared=2),
            _counter(*range(20, 60, 3)),
            _counter(*range(20, 60, 7)),
            _counter(22, 25, cleared=20),  # two bursts
            _counter(20, 26, 32),
            "65535x60",
        ),
        "corrected": (
            _counter(20, 23, cleared=2),
            _counter(20, 30),
            _counter(20, 38),
            _counter(23, cleared=20),
            "65535x12 65536x60",  # 64 bits wide
            "4294967295x60",
        ),
    }
    inputs: list[tuple[str, str]] = []
    told: dict[str, list[str]] = {}
    for metric, errors in _counters(factory).items():
        kind = "downed" if metric == DOWNED else errors
        told.setdefault(kind, []).append(_error(metric))
        inputs += [
            series(metric, {**at, "job": "node"}, values) for at, values in zip(ports_, stories[kind], strict=False)
        ]

    def at(kind: str, *numbers: int) -> list[dict[str, str]]:
        return [{**ports_[number], "error": error} for error in told[kind] for number in numbers]

    lost, packets, corrected, full = alerts[:4]
    checks = (
        *(silent(lost, minute) for minute in (19, 35)),
        *(fires(lost, minute, *at("downed", 0)) for minute in (20, 30, 33)),
        silent(packets, 26),
        fires(packets, 27, *at("uncorrected", 0)),
        *(fires(packets, minute, *at("uncorrected", 0, 1)) for minute in (31, 33, 50)),
        silent(corrected, 22),
        *(fires(corrected, minute, *at("corrected", 0)) for minute in (23, 29)),
        fires(corrected, 30, *at("corrected", 0, 1)),
        silent(corrected, 38),
        silent(full, 14),
        fires(full, 15, ports_[2], ports_[5]),
    )
    return shared("fabric-ports", "errors that are counted", lost.origin, inputs, *checks)


def _state_test(factory: Factory, groups: Groups, alerts: PortAlerts) -> RuleTest:
    """Ports go down, slow down and go. At minute 30 the node exporter is silent for ten, then without a counter."""
    here = example_port(factory)
    first, second, third = ({**here, "port": str(number)} for number in range(1, 4))
    raw = [{**at, "job": "node"} for at in (first, second, third)]
    node = {label: here[label] for label in naming.NODE}
    inputs = [
        series("up", {**node, "job": "node", "instance": "a"}, "1x29 0x9 1x50"),
        series(STATE, raw[0], f"{ACTIVE}x19 1x9 stale _x8 {ACTIVE}x50"),
        series(STATE, raw[1], f"{ACTIVE}x19 2 {ACTIVE}x8 stale _x8 {ACTIVE}x50"),
        series(STATE, raw[2], f"{ACTIVE}x19 stale"),
        *(series(metric, raw[0], "0x29 stale _x8 0x9 stale") for metric in _counters(factory)),
    ]
    checks = [
        silent(alerts.down, 20),
        fires(alerts.down, 21, first, value=1),
        silent(alerts.down, 40),
        *(silent(alerts.gone, minute) for minute in (24, 30, 38, 44, 82)),
        *(fires(alerts.gone, minute, third) for minute in (25, 29, 45, 78)),
        silent(alerts.unseen, 63),
        fires(alerts.unseen, 65, node),
    ]
    speed = next((group.port_speed for _, group in groups if group.port_speed is not None), None)
    if alerts.slow is not None and speed is not None:
        inputs += [
            series(SPEED, raw[0], f"{int(speed)}x19 {int(speed) // 2}x9"),
            series(SPEED, raw[1], f"{int(speed)}x60"),
        ]
        checks += [silent(alerts.slow, 24), fires(alerts.slow, 25, first, value=int(speed) // 2)]
    return shared(
        "fabric-ports", "ports that are down, slow, gone or not measured", alerts.down.origin, inputs, *checks
    )

"""Errors of the fabric's InfiniBand ports. Uncorrected errors page, corrected ones are ticketed once they repeat."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower import nodes
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import STRANGER, fires, series, shared, silent
from tocsin.lower.rises import counted, error_of, risen
from tocsin.plan.rules import Record, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, NodeGroup
    from tocsin.plan.rules import Alert, Expectation, RuleTest

_PORT = naming.by(naming.PORT)
_RISES = {"corrected": naming.PORT_CORRECTED, "uncorrected": naming.PORT_UNCORRECTED}
PLACE = "Port {{ $labels.port }} of {{ $labels.device }} on {{ $labels.node }}"
DOWNED = "node_infiniband_link_downed_total"
# Rises within a quarter of an hour above which something is wrong. A burst, as when a neighbour reboots, rises once or
# twice; what rises more often goes on happening. What was corrected is told once it repeats.
PACKETS, REPEATED = 2, 1
# Where counters of 8, 16 and 32 bits stop (PortCounters, InfiniBand Architecture Specification): they do not wrap.
ENDS = (255, 65535, 4294967295)

Groups = list[tuple["Cluster", "NodeGroup"]]


class Errors(NamedTuple):
    """The alerts on the error counters of InfiniBand ports."""

    lost: Alert
    packets: Alert
    corrected: Alert
    full: Alert


def errors(factory: Factory) -> RuleGroup | None:
    """What the error counters of InfiniBand ports tell: lost links, lost packets, corrected errors."""
    groups = cabled(factory, "infiniband")
    if "fabric_errors" not in factory.signals or not groups:
        return None
    alerts = Errors(*_error_alerts(factory), _counters_full(factory, groups))
    return RuleGroup("fabric-errors", (*_rises(factory, groups), *alerts), (_test(factory, groups, alerts),))


def cabled(factory: Factory, *fabrics: str) -> Groups:
    """The node groups that have one of some fabrics."""
    return [(cluster, group) for cluster, group in nodes.groups(factory) if group.fabric in fabrics]


def counters(factory: Factory) -> dict[str, str]:
    """The error counters of a port, and whether what they count was corrected."""
    metrics = factory.signals["fabric_errors"].metrics
    return {metric.name: metric.errors for metric in metrics if metric.exporter == "node"}


def matchers(cluster: Cluster, group: NodeGroup) -> str:
    devices = f", device=~{quote(nodes.one_of(group.devices))}" if group.devices else ""
    return nodes.matchers(cluster, group) + devices


def examples(groups: Groups) -> list[dict[str, str]]:
    """The labels of one fabric port of each group."""
    return [_at(node, group) for node, (_, group) in zip(nodes.examples(groups), groups, strict=True)]


def strangers(groups: Groups) -> list[dict[str, str]]:
    """The labels of ports that a single matcher keeps out of a group: for each of its matchers one."""
    outside = [_at(node, group) for cluster, group in groups for node in nodes.strangers([(cluster, group)])]
    named = [port for port, (_, group) in zip(examples(groups), groups, strict=True) if group.devices]
    return nodes.distinct([*outside, *({**port, "device": STRANGER} for port in named)])


def _at(node: dict[str, str], group: NodeGroup) -> dict[str, str]:
    return {**node, "device": group.devices[0] if group.devices else "mlx5_0", "port": "1"}


def either(parts: Iterable[str]) -> str:
    """The expressions of several node groups as one: promtool's lint refuses two rules of one name and labels."""
    return "\nor\n".join(parts)


def _rises(factory: Factory, groups: Groups) -> list[Record]:
    return [
        Record(
            _RISES[errors],
            either(f"max by ({_PORT}) ({risen(f'{metric}{{{matchers(c, g)}}}')})" for c, g in groups),
            {"error": error_of(metric)},
            factory.signals["fabric_errors"].origin,
        )
        for metric, errors in counters(factory).items()
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
            description=f"{PLACE} lost its link within the last quarter of an hour: collectives over it fail.",
        ),
        signal_alert(
            factory,
            "FabricPacketsLost",
            signal,
            "page",
            expr=f'{naming.PORT_UNCORRECTED}{{error!="link_downed"}} > {PACKETS}',
            hold=Duration.of(minutes=5),
            summary="A fabric port of {{ $labels.node }} loses packets",
            description=f"{PLACE} counts {{{{ $labels.error }}}}: packets are lost and no retry saved them.",
        ),
        signal_alert(
            factory,
            "FabricErrorsCorrected",
            signal,
            "ticket",
            expr=f"{naming.PORT_CORRECTED} > {REPEATED}",
            summary="A fabric port of {{ $labels.node }} corrects errors",
            description=f"{PLACE} counts {{{{ $labels.error }}}} again and again: nothing is lost yet.",
        ),
    )


def _counters_full(factory: Factory, groups: Groups) -> Alert:
    names = "|".join(counters(factory))
    at_end = (
        f'{{__name__=~"{names}", {matchers(cluster, group)}}} == {end}' for cluster, group in groups for end in ENDS
    )
    return signal_alert(
        factory,
        "FabricCounterFull",
        factory.signals["fabric_errors"],
        "ticket",
        expr=f"group by ({_PORT}) (\n  {f'{chr(10)}  or '.join(at_end)}\n)",
        hold=Duration.of(minutes=15),
        summary="An error counter of a fabric port of {{ $labels.node }} counts no more",
        description=f"A counter of port {PLACE.removeprefix('Port ')} has reached its largest value and hides every "
        "further error: read it, then clear it.",
    )


def _counter(*rises: int, cleared: int = 0) -> str:
    """An hour of a counter that stands at nine, is cleared at one minute, and rises by one at others."""
    out, start, value = "", 0, 9
    for minute in sorted({*rises, cleared} - {0}):
        out += f"{value}x{minute - start - 1} "
        start, value = minute, 0 if minute == cleared else value + 1
    return f"{out}{value}x{60 - start}"


# What the counters of a kind do on one port after the other: the events that count, then those that do not.
_STORIES = {
    "downed": (_counter(20, cleared=2), _counter(cleared=20), "255x60", _counter(*range(40, 60, 3))),
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
        "9x60",
        "4294967295x60",
    ),
}


def _kind(metric: str, errors: str) -> str:
    return "downed" if metric == DOWNED else errors


def _test(factory: Factory, groups: Groups, alerts: Errors) -> RuleTest:
    """Seven ports of one node live through the stories of their counters; of each other group one port is full."""
    here, *beside = examples(groups)
    ports_ = [{**here, "port": str(number)} for number in range(1, 8)]
    full = {end: [{**port, "port": str(end)} for port in beside] for end in ENDS}
    outside = strangers(groups)
    # Traffic may stand at such a number, and so may a counter of a port that is none of the spec's.
    inputs = [series("node_infiniband_port_data_received_bytes_total", {**ports_[3], "job": "node"}, "255x60")]
    for metric, errors in counters(factory).items():
        for port, values in zip(ports_, _STORIES[_kind(metric, errors)], strict=False):
            inputs.append(series(metric, {**port, "job": "node"}, values))
    inputs += [series(DOWNED, {**at, "job": "node"}, f"{end}x60") for end, places in full.items() for at in places]
    inputs += [series(DOWNED, {**at, "job": "node"}, f"{ENDS[0]}x60") for at in outside]
    checks = _checks(factory, alerts, ports_, chain(*full.values()))
    test = shared("fabric-errors", "errors that are counted", alerts.lost.origin, inputs, *checks)
    records = {metric: _RISES[errors] for metric, errors in counters(factory).items()}
    return counted(test, records, [here, *beside], outside)


def _checks(
    factory: Factory, alerts: Errors, ports: list[dict[str, str]], full_beside: Iterable[dict[str, str]]
) -> tuple[Expectation, ...]:
    """What the stories let fire: a port told by each counter of the kind, and counters that are full."""

    def at(kind: str, *numbers: int) -> list[dict[str, str]]:
        told = [error_of(metric) for metric, errors in counters(factory).items() if _kind(metric, errors) == kind]
        return [{**ports[number], "error": error} for error in told for number in numbers]

    lost, packets, corrected, full = alerts
    return (
        *(silent(lost, minute) for minute in (19, 35)),
        *(fires(lost, minute, *at("downed", 0)) for minute in (20, 30, 33)),
        silent(packets, 26),
        fires(packets, 27, *at("uncorrected", 0)),
        *(fires(packets, minute, *at("uncorrected", 0, 1)) for minute in (31, 33, 55)),
        silent(corrected, 22),
        *(fires(corrected, minute, *at("corrected", 0)) for minute in (23, 29)),
        fires(corrected, 30, *at("corrected", 0, 1)),
        silent(corrected, 38),
        silent(full, 14),
        fires(full, 15, ports[2], ports[5], ports[6], *full_beside),
    )

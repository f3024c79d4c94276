"""The coolant: leaks, and flow, temperature and pressure beyond what the site says that they may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.cases import Case, group
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.factory.signals import Signal
    from tocsin.plan.rules import RuleGroup

# Of each limit its signal, its alert, the side on which it is a fault, and what is told.
_LIMITS = (
    ("coolant_flow_min", "coolant_flow", "CoolantFlowLow", "<", "flows too slowly", "flow"),
    ("coolant_supply_max", "coolant_supply_temp", "CoolantSupplyHot", ">", "is too warm", "supply temperature"),
    ("coolant_pressure_min", "coolant_pressure", "CoolantPressureLow", "<", "has too little pressure", "pressure"),
    ("coolant_pressure_max", "coolant_pressure", "CoolantPressureHigh", ">", "has too much pressure", "pressure"),
)


def cooling(factory: Factory) -> RuleGroup | None:
    """An alert for each limit that the spec sets, and for leaks wherever something measures them."""
    return group("cooling", "a coolant that is lost, and one that is not", list(_cases(factory)))


def _cases(factory: Factory) -> Iterator[Case]:
    leak = factory.signals.get("coolant_leak")
    if leak is not None and leak.metrics:
        yield _leak(factory, leak)
    for limit, signal, name, sign, text, quantity in _LIMITS:
        if limit in factory.limits:
            yield _beyond(factory, factory.signals[signal], (limit, name, sign, text, quantity))


def _by(signal: Signal) -> tuple[str, ...]:
    return tuple(dict.fromkeys(("cluster", *signal.metrics[0].labels, "instance")))


def _at(factory: Factory, signal: Signal, host: str) -> dict[str, str]:
    own = dict.fromkeys(signal.metrics[0].labels, "a")
    return {**own, "cluster": next(iter(factory.clusters)), "instance": f"{host}:9100"}


def _leak(factory: Factory, signal: Signal) -> Case:
    metric = signal.metrics[0]
    alert = signal_alert(
        factory,
        "CoolantLeak",
        signal,
        "page",
        expr=f"max by ({naming.by(_by(signal))}) ({metric.name}) > 0",
        summary="Coolant leaks at {{ $labels.instance }}",
        description="{{ $labels.instance }} tells of a leak ({{ $value }}): shut off the rack, and then its power.",
        where=("cluster",),
    )
    wet, dry = _at(factory, signal, "cdu-1"), _at(factory, signal, "cdu-2")
    job = {"job": metric.exporter}
    inputs = [(metric.name, {**wet, **job}, "0x9 1x30"), (metric.name, {**dry, **job}, "0x40")]
    return Case(alert, 9, 10, wet, inputs, 1)


def _beyond(factory: Factory, signal: Signal, kind: tuple[str, str, str, str, str]) -> Case:
    limit, name, sign, text, quantity = kind
    value, metric = factory.limits[limit], signal.metrics[0]
    alert = signal_alert(
        factory,
        name,
        signal,
        "page",
        expr=f"{'min' if sign == '<' else 'max'} by ({naming.by(_by(signal))}) ({metric.name}) {sign} {number(value)}",
        hold=Duration.of(minutes=1),
        summary=f"The coolant of {{{{ $labels.instance }}}} {text}",
        description=f"The {quantity} of the coolant at {{{{ $labels.instance }}}} is {{{{ $value }}}}, its limit is "
        f"{number(value)}: boards will slow down, and then stop.",
        where=("cluster",),
    )
    bad, fine = (_at(factory, signal, f"cdu-{number_}") for number_ in (11, 12))
    job, wrong = {"job": metric.exporter}, value / 2 if sign == "<" else value * 2
    if "pressure" in limit:  # one world has both limits of it
        bad, fine = ({**one, "instance": f"{sign == '<'}-{one['instance']}".lower()} for one in (bad, fine))
    inputs = [
        (metric.name, {**bad, **job}, f"{number(value)}x9 {number(wrong)}x30"),
        (metric.name, {**fine, **job}, f"{number(value)}x40"),
    ]
    return Case(alert, 10, 11, bad, inputs, float(wrong))

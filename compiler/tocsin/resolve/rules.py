"""Alerts and records of the spec: parsed, with their owner and their layer."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.catalog import DEEP_JOB, exporter_kinds, recorded_metrics
from tocsin.factory.owners import LAYERS
from tocsin.factory.rules import OwnAlert, OwnFiring, OwnRecord, OwnTest
from tocsin.promql import metric_names, selectors
from tocsin.resolve.owners import known_owner
from tocsin.resolve.signals import tell_unknown
from tocsin.units import NO_TIME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory.signals import Signal
    from tocsin.promql import Expr
    from tocsin.resolve.signals import Known
    from tocsin.source import Span
    from tocsin.spec import rules as written

_PARTS = ("", "_bucket", "_sum", "_count")
_FROM_ABOVE = ("job:", "node:", "slo:")  # what the server above the shards reads of them
_OF_NODES = ("gpu:", "port:")  # recorded on the shards, and read by no server above


class _Where(NamedTuple):
    """Whether something of an expression is known where the nodes are scraped only, and something only elsewhere."""

    on_nodes: bool
    elsewhere: bool


class _Filed(NamedTuple):
    """Under what an alert is filed."""

    layer: str
    signal: str
    where: _Where


def resolve_records(document: Document, known: Known, signals: Mapping[str, Signal], log: Log) -> dict[str, OwnRecord]:
    """The records by name, each behind those that it reads; one that cannot be read is left out."""
    found: dict[str, OwnRecord] = {}
    shown = layers(signals)
    taken = {*(metric.name for metric in recorded_metrics()), *shown} if document.spec.records else set()
    for name, rule in document.spec.records.items():
        path = ("records", name)
        if name in taken or name.startswith(("slo:", "tocsin:")):
            what = f"{name} is {'shown by an exporter' if name in shown else 'recorded by tocsin itself'}"
            log.error("ALR101", what, document.places.key(*path), "use that series, or choose another name")
            continue
        expr = _expr(document, path, rule.expr, log)
        layer = rule.layer or _layer(expr, shown)
        owner = rule.owner or known.layers.get(layer, "")
        if rule.owner:
            known_owner(document, known.owners, rule.owner, (*path, "owner"), log)
        if expr is not None:
            layer = layer or _read_layer(expr, found) or _layer_of(owner, known)
            found[name] = OwnRecord(
                name, owner, layer, rule.expr, expr, *where(expr, signals, found), document.places.key(*path), {}
            )
            check_layer(layer, document, path, log)
    return _in_order(found)


def resolve_alerts(
    document: Document, known: Known, signals: Mapping[str, Signal], records: dict[str, OwnRecord], log: Log
) -> dict[str, OwnAlert]:
    """The alerts by name; one that cannot be read is left out."""
    found = {}
    shown = layers(signals)
    for name, rule in document.spec.alerts.items():
        path = ("alerts", name)
        known_owner(document, known.owners, rule.owner, (*path, "owner"), log)
        if name == naming.WATCHDOG:
            what = f"{name} is the alert that always fires, and goes to the heartbeat"
            log.error("ALR101", what, document.places.key(*path), "choose another name")
        elif name in (naming.NODE_DOWN, naming.FAULT_STORM):
            what = f"{name} is an alert of tocsin's own, which holds back others: yours would hold them back as well"
            log.error("ALR101", what, document.places.key(*path), "choose another name")
        expr = _expr(document, path, rule.expr, log)
        if rule.signal and rule.signal not in signals and not document.is_broken("signals"):
            tell_unknown(rule.signal, signals, document.places.value(*path, "signal"), log)
        if expr is None:
            continue
        of_signal = signals[rule.signal].layer if rule.signal and rule.signal in signals else ""
        layer = rule.layer or of_signal or layer_of(expr, rule.owner, shown, records, known)
        check_layer(layer, document, path, log)
        signal = rule.signal or signal_of(expr, signals)
        filed = _Filed(layer, signal, where(expr, signals, records))
        found[name] = _alert(name, rule, expr, filed, document.places.key(*path))
    return dict(sorted(found.items()))


def signal_of(expr: Expr, signals: Mapping[str, Signal]) -> str:
    """The signal of the first metric that has one."""
    ids = {metric.name + part: signal.id for signal in signals.values() for metric in signal.metrics for part in _PARTS}
    return next((ids[name] for name in metric_names(expr) if name in ids), "")


def _alert(name: str, rule: written.AlertRule, expr: Expr, filed: _Filed, origin: Span) -> OwnAlert:
    return OwnAlert(
        name=name,
        owner=rule.owner,
        layer=filed.layer,
        signal=filed.signal,
        severity=rule.severity,
        text=rule.expr,
        expr=expr,
        hold=rule.hold or NO_TIME,
        summary=rule.summary,
        description=rule.description,
        tests=tuple(map(_test, rule.tests)),
        on_nodes=filed.where.on_nodes,
        elsewhere=filed.where.elsewhere,
        origin=origin,
        keep=NO_TIME,
        labels={},
        annotations={},
    )


def _test(test: written.RuleTest) -> OwnTest:
    expectations = tuple(
        (expect.at, tuple(OwnFiring(dict(one.labels), one.value or Fraction(0)) for one in expect.firing))
        for expect in sorted(test.expect, key=lambda expect: expect.at)
    )
    return OwnTest(test.story, test.interval, tuple(test.series.items()), expectations)


def _expr(document: Document, path: Path, text: str, log: Log) -> Expr | None:
    from tocsin.promtypes import parsed  # a spec without rules of its own does without

    return parsed(text, log, lambda start, end: document.places.inside((*path, "expr"), start, end))


def layer_of(expr: Expr, owner: str, shown: Mapping[str, str], records: Mapping[str, OwnRecord], known: Known) -> str:
    """The layer of what an expression reads, else that of an owner who has one only; empty where nothing tells."""
    return _layer(expr, shown) or _read_layer(expr, records) or _layer_of(owner, known)


def layers(signals: Mapping[str, Signal]) -> dict[str, str]:
    """The layer of every series that can be queried."""
    metrics = ((metric.name, signal.layer) for signal in signals.values() for metric in signal.metrics)
    return {name + part: layer for name, layer in metrics for part in _PARTS}


def _layer(expr: Expr | None, shown: Mapping[str, str]) -> str:
    """The layer of the first metric that has one; tocsin's own records are of boards and ports."""
    for name in metric_names(expr) if expr is not None else ():
        if name in shown:
            return shown[name]
        if name.startswith(("gpu:", "node:")):
            return "silicon"
        if name.startswith("port:"):
            return "fabric"
    return ""


def _read_layer(expr: Expr, records: Mapping[str, OwnRecord]) -> str:
    return next((records[name].layer for name in metric_names(expr) if name in records), "")


def _layer_of(owner: str, known: Known) -> str:
    """The layer of an owner who has one only."""
    owned = [layer for layer in LAYERS if known.layers.get(layer) == owner]
    return owned[0] if len(owned) == 1 else ""


def check_layer(layer: str, document: Document, path: Path, log: Log) -> None:
    """A layer that nothing tells is told."""
    if not layer:
        what = "nothing that this reads belongs to a layer, and its owner has not one only"
        log.error(
            "ALR102", what, document.places.key(*path), f"add `layer: application`, or one of {', '.join(LAYERS)}"
        )


def where(expr: Expr, signals: Mapping[str, Signal], records: Mapping[str, OwnRecord]) -> _Where:
    """Where what an expression reads is known, by its names; of a name that nobody knows, by the job that it asks."""
    jobs = {kind.job for kind in exporter_kinds().values() if kind.stands == "node"} | {DEEP_JOB}
    exporters = {metric.name: metric.exporter for signal in signals.values() for metric in signal.metrics}
    exporters = {name + part: job for name, job in exporters.items() for part in _PARTS}
    asked = ((one.metric, matcher) for one in selectors(expr) for matcher in one.matchers)
    told = {name: matcher.value for name, matcher in asked if (matcher.label, matcher.op) == ("job", "=")}
    on_nodes = elsewhere = False
    for name in metric_names(expr):
        record = records.get(name)
        read_above = name.startswith(_FROM_ABOVE)
        job = exporters.get(name) or told.get(name, "")
        on_nodes |= name.startswith(_OF_NODES) or job in jobs
        on_nodes |= record is not None and record.on_nodes and not read_above
        elsewhere |= (bool(job) and job not in jobs) or name.startswith("slo:")
        elsewhere |= record is not None and record.elsewhere
    return _Where(on_nodes, elsewhere)


def _in_order(records: dict[str, OwnRecord]) -> dict[str, OwnRecord]:
    """Each record behind those that it reads, else by name; of a circle the first that is come upon comes last."""
    reads = {name: sorted({*metric_names(one.expr)} & records.keys()) for name, one in records.items()}
    found: dict[str, OwnRecord] = {}
    begun: set[str] = set()
    for first in sorted(records):
        waiting = [first]
        while waiting:
            name = waiting[-1]
            begun.add(name)
            before = [one for one in reads[name] if one not in begun]
            if before:
                waiting.append(before[0])
            else:
                found.setdefault(waiting.pop(), records[name])
    return found

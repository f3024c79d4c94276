"""Alerts and records of the spec: in files of their layer, with the labels and links that every alert has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import OF_LAYER, links
from tocsin.lower.proofs import firing
from tocsin.plan.rules import Alert, Expectation, Record, RuleFile, RuleGroup, RuleTest
from tocsin.promql import metric_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.factory.rules import OwnAlert, OwnRecord, OwnTest
    from tocsin.promtypes import World

_NODES = "-nodes"  # ends the name of a file that holds node by node


def own_rules(factory: Factory) -> Iterator[RuleFile]:
    """One file a layer of what holds node by node, and one of what looks further."""
    if not (factory.records or factory.alerts):
        return
    from tocsin.promtypes import of_factory  # a spec without rules of its own does without

    world = of_factory(factory)
    files = _files(factory, world)
    for name, (records, alerts) in sorted(files.items()):
        made = [own_alert(factory, alert, world) for alert in alerts]
        tests = [_test(alert, rule, test) for alert, rule in zip(alerts, made, strict=True) for test in alert.tests]
        recorded = [Record(one.name, one.text.strip(), one.labels, one.origin) for one in records]
        group = RuleGroup(name, (*recorded, *made), tuple(tests))
        yield RuleFile(name, (group,), per_node=name.endswith(_NODES), beside=_beside(name, files))


def _files(factory: Factory, world: World) -> dict[str, tuple[list[OwnRecord], list[OwnAlert]]]:
    """The rules by the names of their files, in their order."""
    files: dict[str, tuple[list[OwnRecord], list[OwnAlert]]] = {}
    per_node: dict[str, bool] = {}
    for record in factory.records.values():
        per_node[record.name] = is_per_node(record, per_node, world)
        files.setdefault(_file(record.layer, per_node[record.name]), ([], []))[0].append(record)
    for alert in factory.alerts.values():
        files.setdefault(_file(alert.layer, is_per_node(alert, per_node, world)), ([], []))[1].append(alert)
    return files


def _file(layer: str, per_node: bool) -> str:
    return f"own-{layer}{_NODES if per_node else ''}"


def is_per_node(rule: OwnRecord | OwnAlert, per_node: dict[str, bool], world: World) -> bool:
    """Whether a rule looks at one node at a time, and reads what is known there."""
    from tocsin.promtypes import check

    read = [per_node[name] for name in metric_names(rule.expr) if name in per_node]
    if rule.elsewhere or not all(read) or not (rule.on_nodes or read):
        return False
    return check(rule.text, rule.expr, world)[0].labels.can_be("node")


def _beside(name: str, files: dict[str, tuple[list[OwnRecord], list[OwnAlert]]]) -> tuple[str, ...]:
    """The files whose records the rules of a file read, and those that these read, first things first."""
    homes = {record.name: file for file, (records, _) in files.items() for record in records}
    found: dict[str, None] = {}
    waiting = [name]
    while waiting:
        records, alerts = files[waiting.pop()]
        rules: list[OwnRecord | OwnAlert] = [*records, *alerts]
        read = {homes[metric] for rule in rules for metric in metric_names(rule.expr) if metric in homes}
        new = sorted(read - {name, *found})
        found |= dict.fromkeys(new)
        waiting += new
    return tuple(reversed(found))


def own_alert(factory: Factory, alert: OwnAlert, world: World) -> Alert:
    """An alert of the spec or of a mixin, with the labels and links that every alert has."""
    from tocsin.promtypes import check

    labels = check(alert.text, alert.expr, world)[0].labels
    where = tuple(label for label in naming.GPU if label in labels.certain)
    about = {"signal": alert.signal} if alert.signal else {}
    return Alert(
        name=alert.name,
        expr=alert.text.strip(),
        hold=alert.hold,
        labels={**alert.labels, "severity": alert.severity, "owner": alert.owner, "layer": alert.layer, **about},
        annotations={
            "summary": alert.summary.strip(),
            "description": alert.description.strip(),
            **alert.annotations,
            **links(factory, alert.owner, alert.name, where, OF_LAYER.get(alert.layer, "operations")),
        },
        origin=alert.origin,
        keep=alert.keep,
    )


def _test(alert: OwnAlert, rule: Alert, test: OwnTest) -> RuleTest:
    expectations = tuple(
        Expectation(at, alert.name, tuple(firing(rule, one.labels, float(one.value)) for one in told))
        for at, told in test.expectations
    )
    return RuleTest(f"{alert.name}: {test.story}", test.interval, test.series, expectations, alert.origin)

"""Alerts and records of the spec: in files of their layer, with the labels and links that every alert has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.factory import LAYERS
from tocsin.lower.alerts import links
from tocsin.lower.proofs import firing
from tocsin.plan import Alert, Expectation, Record, RuleFile, RuleGroup, RuleTest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory, OwnAlert, OwnTest
    from tocsin.promtypes import World


def own_rules(factory: Factory) -> Iterator[RuleFile]:
    """One file a layer of what holds node by node, and one of what looks further."""
    if not (factory.records or factory.alerts):
        return
    from tocsin.promtypes import of_factory  # a spec without rules of its own does without

    world = of_factory(factory)
    for layer in LAYERS:
        for on_nodes in (True, False):
            records = [one for one in factory.records.values() if (one.layer, one.on_nodes) == (layer, on_nodes)]
            alerts = [one for one in factory.alerts.values() if (one.layer, one.on_nodes) == (layer, on_nodes)]
            if not records and not alerts:
                continue
            name = f"own-{layer}-nodes" if on_nodes else f"own-{layer}"
            made = [_alert(factory, alert, world) for alert in alerts]
            tests = [_test(alert, rule, test) for alert, rule in zip(alerts, made, strict=True) for test in alert.tests]
            recorded = [Record(one.name, one.text.strip(), {}, one.origin) for one in records]
            yield RuleFile(name, (RuleGroup(name, (*recorded, *made), tuple(tests)),), per_node=on_nodes)


def _alert(factory: Factory, alert: OwnAlert, world: World) -> Alert:
    from tocsin.promtypes import check

    labels = check(alert.text, alert.expr, world)[0].labels
    where = tuple(label for label in naming.NODE if label in labels.certain)
    about = {"signal": alert.signal} if alert.signal else {}
    return Alert(
        name=alert.name,
        expr=alert.text.strip(),
        hold=alert.hold,
        labels={"severity": alert.severity, "owner": alert.owner, "layer": alert.layer, **about},
        annotations={
            "summary": alert.summary.strip(),
            "description": alert.description.strip(),
            **links(factory, alert.owner, alert.name, where),
        },
        origin=alert.origin,
    )


def _test(alert: OwnAlert, rule: Alert, test: OwnTest) -> RuleTest:
    expectations = tuple(
        Expectation(at, alert.name, tuple(firing(rule, one.labels, float(one.value)) for one in told))
        for at, told in test.expectations
    )
    return RuleTest(f"{alert.name}: {test.story}", test.interval, test.series, expectations, alert.origin)

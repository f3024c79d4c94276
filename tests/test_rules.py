"""What holds for every generated rule, whatever the spec: read from the plan, expression by expression."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import pytest

from conftest import ROOT
from rule_files import rule_files
from series_labels import labels_of, names_of, of_metrics, of_records
from tocsin import naming
from tocsin.diagnostics import Log
from tocsin.factory.owners import LAYERS
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Alert
from tocsin.promql import Aggregation, Selector, parse, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.plan.rules import Record, RuleGroup

EVERY_EXPORTER = ROOT / "tests" / "cases" / "golden" / "every-exporter" / "spec.yaml"
SPECS = [*sorted((ROOT / "specs").glob("*.yaml")), EVERY_EXPORTER]
SEVERITIES = ("page", "ticket", "info")
TEXTS = {"summary", "description", "runbook_url", "dashboard_url"}
SAID = re.compile(r"\$labels\.(\w+)")
DUST = re.compile(r"\d\.\d*(0000000|9999999)")


class Place(NamedTuple):
    """A rule, its group, and how a failure names it."""

    group: RuleGroup
    rule: Record | Alert
    name: str


@pytest.fixture(scope="module", params=SPECS, ids=lambda spec: f"{spec.parent.name}-{spec.stem}")
def compiled(request: pytest.FixtureRequest) -> Compiled:
    log = Log()
    result = compile_spec(str(request.param), log, {})
    assert result is not None, log.sorted()
    return result


def places(compiled: Compiled) -> Iterator[Place]:
    for file in rule_files(compiled.plan):
        for group in file.groups:
            for rule in group.rules:
                yield Place(group, rule, f"{group.name}, {rule.name} {rule.labels}")


def alerts(compiled: Compiled) -> Iterator[tuple[RuleGroup, Alert, str]]:
    return ((group, rule, name) for group, rule, name in places(compiled) if isinstance(rule, Alert))


def stored(compiled: Compiled, group: RuleGroup) -> dict[str, frozenset[str]]:
    """What a group finds that others record: a long-term store all of the servers, long windows their own."""
    if group.name.endswith("-long"):
        unit = next(place for place, _, _ in places(compiled) if place.name == group.name.removesuffix("-long"))
        return of_records(unit.rules, of_metrics(compiled.factory.metrics))
    if not group.name.endswith("-period"):
        return {}
    servers = [rule for place, rule, _ in places(compiled) if not place.name.endswith("-period")]
    return of_records(servers, of_metrics(compiled.factory.metrics))


def test_every_expression_is_portable(compiled: Compiled) -> None:
    """`parse` takes only what every Prometheus from 2.42 to 3.x does; a place is named where it refuses one."""
    for _, rule, name in places(compiled):
        assert parse(rule.expr).type == "vector", name


def test_every_series_that_is_read_is_collected_or_recorded_before(compiled: Compiled) -> None:
    """A record of another group may be older than the rule that reads it, and one of another file may not be there."""
    raw = {*of_metrics(compiled.factory.metrics)}
    for group in (group for file in rule_files(compiled.plan) for group in file.groups):
        recorded = set(stored(compiled, group))
        for rule in group.rules:
            read = {n for node in walk(parse(rule.expr)) if isinstance(node, Selector) for n in names_of(node)}
            if not isinstance(rule, Alert):
                recorded.add(rule.name)  # one that remembers reads what it said itself the last time
            assert read <= raw | recorded, f"{group.name}, {rule.name} reads {read - raw - recorded}"


def test_every_alert_says_whose_it_is_and_where_to_look(compiled: Compiled) -> None:
    factory = compiled.factory
    for _, alert, name in alerts(compiled):
        labels = alert.labels
        assert labels["severity"] in SEVERITIES, name
        assert labels["owner"] in factory.owners, name
        assert labels["layer"] in LAYERS, name
        about = {"signal": factory.signals, "slo": factory.slos}
        kinds = labels.keys() & about.keys()
        assert len(kinds) == 1, name
        if alert.name == naming.WATCHDOG:
            assert alert.annotations.keys() == TEXTS - {"dashboard_url"}
            continue
        kind = kinds.pop()
        assert (labels[kind] == naming.SEVERAL) is (alert.name == naming.FAULT_STORM), name
        assert labels[kind] in about[kind] or labels[kind] in (naming.HEARTBEAT, naming.SEVERAL), name
        assert alert.annotations.keys() == TEXTS, name
        assert all(alert.annotations.values()), name
        assert alert.annotations["runbook_url"].endswith(f"/{alert.name}"), name


def test_every_label_that_is_told_is_one_that_the_expression_has(compiled: Compiled) -> None:
    """An annotation sees the labels of the expression only; of others it makes an empty word."""
    raw = of_metrics(compiled.factory.metrics)
    for group, alert, name in alerts(compiled):
        has = labels_of(parse(alert.expr), of_records(group.rules, raw | stored(compiled, group)))
        said = {label for text in alert.annotations.values() for label in SAID.findall(text)}
        assert said <= has, f"{name} speaks of {said - has}"


def test_every_alert_is_proven_to_fire_and_to_be_silent(compiled: Compiled) -> None:
    for file in rule_files(compiled.plan):
        tests = [test for group in file.groups for test in group.tests]
        for alert in (rule for group in file.groups for rule in group.rules if isinstance(rule, Alert)):
            asked = [one for test in tests for one in test.expectations if one.alert == alert.name]
            fires = [any(alert.labels.items() <= firing.labels.items() for firing in one.firing) for one in asked]
            calm = [one for test in tests for one in test.readings if f'ALERTS{{alertname="{alert.name}"' in one.expr]
            assert True in fires, f"{alert.name} {alert.labels} is never seen to fire"
            silent = False in fires or () in [one.samples for one in calm] or alert.name == naming.WATCHDOG
            assert silent, f"{alert.name} {alert.labels} is never seen to be silent"


def test_every_annotation_that_is_proven_is_a_whole_sentence(compiled: Compiled) -> None:
    """Nothing is left of a template, and no label of it was empty."""
    for file in rule_files(compiled.plan):
        told = [
            one for group in file.groups for test in group.tests for each in test.expectations for one in each.firing
        ]
        for firing in told:
            for text in firing.annotations.values():
                assert not re.search(r"\{\{|\}\}|  | \.| ,|^ | $|var-\w+=(&|$)", text), text


def test_no_two_groups_and_no_two_alerts_are_called_the_same(compiled: Compiled) -> None:
    groups = Counter(group.name for file in rule_files(compiled.plan) for group in file.groups)
    assert [name for name, count in groups.items() if count > 1] == []
    named = Counter((rule.name, *sorted(rule.labels.items())) for _, rule, _ in alerts(compiled))
    assert [alert for alert, count in named.items() if count > 1] == []


def test_no_number_carries_the_dust_of_a_float(compiled: Compiled) -> None:
    for artifact in compiled.artifacts:
        if artifact.path.startswith(("rules/", "tests/")):
            assert [line for line in artifact.text.splitlines() if DUST.search(line)] == [], artifact.path


def test_nothing_is_averaged_over_boards(compiled: Compiled) -> None:
    """Three boards at 100 % and one at 0 % are not a fleet at 75 %; over time one board may be averaged."""
    for _, rule, name in places(compiled):
        assert not [node for node in walk(parse(rule.expr)) if isinstance(node, Aggregation) and node.op == "avg"], name


def test_every_sum_of_boards_counts_each_board_once(compiled: Compiled) -> None:
    """dcgm-exporter copies a board's series for each MIG instance and job: only what is one a board may be summed."""
    board = set(naming.GPU)
    raw = of_metrics(compiled.factory.metrics)
    for group, rule, name in places(compiled):
        known = of_records(group.rules, raw | stored(compiled, group))
        for node in walk(parse(rule.expr)):
            if isinstance(node, Aggregation) and node.op in ("sum", "count"):
                inside = labels_of(node.expr, known)
                copied = "gpu_i_id" in inside and not isinstance(node.expr, Aggregation)
                by = {label.name for label in node.grouping.labels} if node.grouping else set()
                # Samples of all copies may be added up where they are compared with those of another field.
                assert not copied or board <= by, f"{name}: {rule.expr[node.start : node.end]}"

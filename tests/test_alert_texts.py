"""What people read at night: a text says what is ill, and numbers in the words and units of people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from rule_files import rule_files
from tocsin.diagnostics import Log
from tocsin.indicators import SLICED
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Alert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.plan.rules import Firing

SPECS = [*sorted((ROOT / "specs").glob("*.yaml")), *sorted((ROOT / "tests/cases/golden").glob("*/spec.yaml"))]
TEXTS = ("summary", "description")


@pytest.fixture(scope="module", params=SPECS, ids=lambda spec: f"{spec.parent.name}-{spec.stem}")
def compiled(request: pytest.FixtureRequest) -> Compiled:
    log = Log()
    result = compile_spec(str(request.param), log, {})
    assert result is not None, log.sorted()
    return result


def alerts(compiled: Compiled) -> Iterator[Alert]:
    rules = (rule for file in rule_files(compiled.plan) for group in file.groups for rule in group.rules)
    return (rule for rule in rules if isinstance(rule, Alert))


def told(compiled: Compiled) -> Iterator[tuple[Alert, Firing]]:
    """Every alert as its own tests make it fire, with all labels that it has then."""
    rules: dict[str, list[Alert]] = {}
    for alert in alerts(compiled):
        rules.setdefault(alert.name, []).append(alert)
    tests = (test for file in rule_files(compiled.plan) for group in file.groups for test in group.tests)
    for expected in (one for test in tests for one in test.expectations):
        for firing in expected.firing:
            yield next(one for one in rules[expected.alert] if one.labels.items() <= firing.labels.items()), firing


def test_a_summary_names_what_is_ill(compiled: Compiled) -> None:
    """By a label that tells one from another; the cluster is enough where the alert is about all of it."""
    for alert, firing in told(compiled):
        place = {name: value for name, value in firing.labels.items() if name not in alert.labels}
        telling = {name: value for name, value in place.items() if name not in ("cluster", "job")} or place
        summary = firing.annotations["summary"]
        assert not telling or any(value in summary for value in telling.values()), f"{alert.name}, {place}: {summary}"


def test_an_objective_over_time_speaks_of_time_and_no_other_does(compiled: Compiled) -> None:
    for alert in (one for one in alerts(compiled) if "slo" in one.labels):
        text = " ".join(alert.annotations[key] for key in TEXTS)
        is_sliced = compiled.factory.slos[alert.labels["slo"]].kind in SLICED
        assert bool(re.search(r"\btime\b", text)) is is_sliced, text
        assert bool(re.search(r"\bevents?\b", text)) is not is_sliced, text


def test_no_number_is_told_with_an_exponent(compiled: Compiled) -> None:
    """As the alerts are rendered in their own tests, with the speeds and the limits of the spec."""
    for alert, firing in told(compiled):
        for text in (firing.annotations[key] for key in TEXTS):
            assert not re.search(r"\de[+-]\d", text), f"{alert.name}: {text}"


def test_what_is_extrapolated_is_told_in_four_digits(compiled: Compiled) -> None:
    """`increase` says 2.0689655172413794 where a counter rose by two."""
    for alert in alerts(compiled):
        if "increase(" in alert.expr:
            assert not [text for text in (alert.annotations[key] for key in TEXTS) if "{{ $value }}" in text], alert

"""What people read at night: a text says what is ill, and numbers in the words and units of people."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from rule_files import rule_files
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan import Alert

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def test_no_number_is_told_with_an_exponent(compiled: Compiled) -> None:
    """As the alerts are rendered in their own tests, with the speeds and the limits of the spec."""
    for file in rule_files(compiled.plan):
        for test in (test for group in file.groups for test in group.tests):
            for one in (firing for expected in test.expectations for firing in expected.firing):
                for text in (one.annotations[key] for key in TEXTS):
                    assert not re.search(r"\de[+-]\d", text), f"{test.name}: {text}"


def test_what_is_extrapolated_is_told_in_four_digits(compiled: Compiled) -> None:
    """`increase` says 2.0689655172413794 where a counter rose by two."""
    for alert in alerts(compiled):
        if "increase(" in alert.expr:
            assert not [text for text in (alert.annotations[key] for key in TEXTS) if "{{ $value }}" in text], alert

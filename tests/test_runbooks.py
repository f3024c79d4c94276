"""Runbooks: every alert leads to a page that says whose it is, what it means, and when it fires."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT
from rule_files import rule_files
from tocsin.catalog import limit_kinds
from tocsin.diagnostics import Log
from tocsin.emit.runbooks import FOLDER, plain
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Alert

EVERY_EXPORTER = ROOT / "tests" / "cases" / "golden" / "every-exporter" / "spec.yaml"
SPECS = [*sorted((ROOT / "specs").glob("*.yaml")), EVERY_EXPORTER]


@pytest.fixture(scope="module", params=SPECS, ids=lambda spec: f"{spec.parent.name}-{spec.stem}")
def compiled(request: pytest.FixtureRequest) -> Compiled:
    log = Log()
    result = compile_spec(str(request.param), log, {})
    assert result is not None, log.sorted()
    return result


def pages(compiled: Compiled) -> dict[str, str]:
    found = (artifact for artifact in compiled.artifacts if artifact.path.startswith(f"{FOLDER}/"))
    return {artifact.path.rpartition("/")[2].removesuffix(".md"): artifact.text for artifact in found}


def test_every_alert_has_its_page_and_no_page_is_of_none(compiled: Compiled) -> None:
    rules = (rule for file in rule_files(compiled.plan) for group in file.groups for rule in group.rules)
    alerts = [rule for rule in rules if isinstance(rule, Alert)]
    written = pages(compiled)
    assert sorted(written) == sorted({alert.name for alert in alerts})
    links = {alert.annotations["runbook_url"].rpartition("/")[2] for alert in alerts}
    assert links == written.keys()


def test_a_page_says_whose_it_is_and_when_it_fires(compiled: Compiled) -> None:
    rules = (rule for file in rule_files(compiled.plan) for group in file.groups for rule in group.rules)
    written, seen = pages(compiled), set()
    for alert in (rule for rule in rules if isinstance(rule, Alert)):
        if alert.name in seen:
            continue
        seen.add(alert.name)
        text = written[alert.name]
        assert text.startswith(f"# {alert.name}\n"), alert.name
        assert re.search(rf"^- Severity: .*{alert.labels['severity']}", text, re.MULTILINE), alert.name
        assert re.search(rf"^- Owner: .*{alert.labels['owner']}", text, re.MULTILINE), alert.name
        assert f"```promql\n{alert.expr}\n```" in text, alert.name
        assert not re.search(r"\{\{|\}\}|\$labels|\$value", text), alert.name


def test_a_page_tells_the_limit_and_its_source(compiled: Compiled) -> None:
    written = pages(compiled)
    for kind in limit_kinds().values():
        if kind.alert in written:
            assert f"`limits.{kind.id}`" in written[kind.alert]
            assert kind.source in written[kind.alert]


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{{ $labels.node }} is hot", "`node` is hot"),
        ("{{ $value | humanizePercentage }} of it", "`value` of it"),
        ("gone.{{ if $labels.job_id }} It ran {{ $labels.job_id }}.{{ end }} End", "gone. It ran `job_id`. End"),
    ],
)
def test_the_names_of_labels_stand_for_their_values(template: str, shown: str) -> None:
    assert plain(template) == shown

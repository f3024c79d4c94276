"""Runbooks: every alert leads to a page that says whose it is, what it means, and when it fires."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest

from conftest import ROOT
from rule_files import rule_files
from tocsin.catalog import first_steps, limit_kinds
from tocsin.diagnostics import Log
from tocsin.emit.runbooks import FOLDER, plain
from tocsin.emit.texts import Text, apart, common, merged
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Alert

SPECS = [*sorted((ROOT / "specs").glob("*.yaml")), *sorted((ROOT / "tests/cases/golden").glob("*/spec.yaml"))]
SPECS += [ROOT / "tests/cases/mixins/spec.yaml", ROOT / "tests/cases/ok/own_rules.yaml"]


@pytest.fixture(scope="module", params=SPECS, ids=lambda spec: f"{spec.parent.name}-{spec.stem}")
def compiled(request: pytest.FixtureRequest) -> Compiled:
    log = Log()
    result = compile_spec(str(request.param), log, {})
    assert result is not None, log.sorted()
    return result


def pages(compiled: Compiled) -> dict[str, str]:
    found = (artifact for artifact in compiled.artifacts if artifact.path.startswith(f"{FOLDER}/"))
    return {artifact.path.rpartition("/")[2].removesuffix(".md"): artifact.text for artifact in found}


def alerts_of(compiled: Compiled | None) -> list[Alert]:
    assert compiled is not None
    rules = (rule for file in rule_files(compiled.plan) for group in file.groups for rule in group.rules)
    return [rule for rule in rules if isinstance(rule, Alert)]


def test_every_alert_has_its_page_and_no_page_is_of_none(compiled: Compiled) -> None:
    rules = (rule for file in rule_files(compiled.plan) for group in file.groups for rule in group.rules)
    alerts = [rule for rule in rules if isinstance(rule, Alert)]
    written = pages(compiled)
    assert sorted(written) == sorted({alert.name for alert in alerts})
    links = {alert.annotations["runbook_url"].rpartition("/")[2] for alert in alerts}
    assert links == written.keys()


def test_only_what_the_profiling_module_measures_is_sought_there(compiled: Compiled) -> None:
    for alert in alerts_of(compiled):
        if fnmatchcase(alert.name, "Signal*Missing"):
            sought = "profiling module" in alert.annotations["description"]
            assert sought == ("DCGM_FI_PROF_" in alert.expr), alert.name


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


def test_a_page_says_of_every_alert_of_its_name_what_that_one_says(compiled: Compiled) -> None:
    """In its own words, or in those of all with the names of labels for their values."""
    written = pages(compiled)
    for file in rule_files(compiled.plan):
        for alert in (rule for group in file.groups for rule in group.rules if isinstance(rule, Alert)):
            meaning = written[alert.name].partition("## What it means\n")[2].partition("\n## ")[0]
            said, told = (valued(text, alert) for text in (plain(alert.annotations["description"]), meaning))
            assert said in told, alert


def valued(text: str, alert: Alert) -> str:
    """A text with the values of the labels that the rule puts on the alert."""
    return re.sub(r"`(\w+)`", lambda found: alert.labels.get(found[1], found[0]), text)


def test_a_page_says_how_long_an_alert_goes_on(compiled: Compiled) -> None:
    written = pages(compiled)
    kept = [alert for alert in alerts_of(compiled) if alert.keep]
    assert "NodeDown" in {alert.name for alert in kept}
    for alert in kept:
        assert f"until {alert.keep} after it holds no more" in written[alert.name]


def test_a_page_says_what_to_do_about_every_alert_that_tocsin_makes(compiled: Compiled) -> None:
    factory = compiled.factory
    brought = {rule.name for mixin in factory.mixins.values() for group in mixin.groups for rule in group.rules}
    for name, text in pages(compiled).items():
        is_ours = name not in brought and name not in factory.alerts
        assert bool(re.search(r"^## What to do\n\n1\. \S", text, re.MULTILINE)) is is_ours, name
        assert not re.search(r"<\w+>", re.sub(r"`[^`]*`", "", text.partition("## When it fires")[0])), name


def test_every_step_is_about_an_alert_that_there_is() -> None:
    names = {alert.name for spec in SPECS for alert in alerts_of(compile_spec(str(spec), Log(), {}))}
    for row in first_steps():
        for pattern in row.alerts:
            assert [name for name in names if fnmatchcase(name, pattern)], pattern


def test_what_several_texts_say_is_told_from_what_each_says() -> None:
    texts = [
        Text("3 of 64 nodes are down for gpu", ({"owner": "gpu", "cluster": "east"},)),
        Text("3 of 64 nodes are down for network", ({"owner": "network", "cluster": "east"},)),
        Text("3 of 8 nodes are down for gpu", ({"owner": "gpu", "cluster": "west"},)),
    ]
    found = merged(texts)
    assert [one.text for one in found] == ["3 of 64 nodes are down for `owner`", "3 of 8 nodes are down for gpu"]
    assert apart(found) == [("cluster", ["east"]), ("cluster", ["west"])]
    assert common(found) == "3 of … nodes are down for `owner`"
    assert common(merged(texts[:1])) == texts[0].text
    # A word that is the value of a label by chance stays.
    chance = [Text(f"the network of {owner}", ({"owner": owner},)) for owner in ("gpu", "network")]
    assert [one.text for one in merged(chance)] == ["the network of gpu", "the network of network"]
    assert common(merged([Text("a b c d", ()), Text("e f g h", ())])) == ""


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

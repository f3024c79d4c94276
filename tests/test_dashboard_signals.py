"""What a change of the spec does to the dashboards: a signal less, a limit that differs, and nothing else."""

from __future__ import annotations

import difflib
import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from conftest import ROOT
from dashboard_lint import without_variables
from tocsin.catalog import signal_kinds
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Record
from tocsin.promql import metric_names, parse

if TYPE_CHECKING:
    from pathlib import Path

SPECS = ("ai-factory", "incident-world")
OF_PROMETHEUS = {"up", "ALERTS"}


def said(spec: str) -> dict[str, Any]:
    """An example spec as it is written."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "specs" / f"{spec}.yaml").read_text("utf-8"))
    return found


def kept(spec: str) -> list[str]:
    """Every signal that a spec asks for."""
    signals = said(spec)["signals"]
    return [*signals["mandatory"], *signals["collect"], *signals["define"]]


def without(spec: str, signal: str) -> dict[str, Any]:
    """The spec, not asking for a signal any more."""
    found = said(spec)
    signals = found["signals"]
    signals["define"].pop(signal, None)
    for key in ("mandatory", "collect"):
        signals[key] = [one for one in signals[key] if one != signal]
    return found


def compiled(text: str, folder: Path) -> tuple[Compiled | None, Log]:
    """A spec beside the parts that it includes."""
    shutil.copytree(ROOT / "specs" / "slos", folder / "slos", dirs_exist_ok=True)
    path, log = folder / "spec.yaml", Log()
    path.write_text(text, "utf-8")
    return compile_spec(str(path), log, {}), log


def pages(made: Compiled) -> dict[str, str]:
    """The texts of the dashboards."""
    return {one.path: one.text for one in made.artifacts if one.path.startswith("grafana/dashboards/")}


def there(made: Compiled) -> set[str]:
    """Every series that there is: what is scraped, what is recorded, and Prometheus' own."""
    scraped = {metric.name for signal in made.factory.signals.values() for metric in signal.metrics}
    parts = {name + part for name in scraped for part in ("_bucket", "_sum", "_count")}
    rules = (rule for file in made.plan.rules for group in file.groups for rule in group.rules)
    return OF_PROMETHEUS | scraped | parts | {rule.name for rule in rules if isinstance(rule, Record)}


@pytest.mark.parametrize(("spec", "signal"), [(spec, signal) for spec in SPECS for signal in kept(spec)])
def test_a_signal_that_is_gone_takes_its_panels_along_or_is_missed_at_its_line(
    spec: str, signal: str, tmp_path: Path
) -> None:
    """No panel asks for a series that is not there, and no link leads to a page that is gone."""
    made, log = compiled(yaml.safe_dump(without(spec, signal), sort_keys=False), tmp_path)
    if made is None:
        names = {signal, said(spec)["signals"]["define"].get(signal, {}).get("metric", signal)}
        assert any(name in found.message for found in log.sorted() for name in names), log.sorted()
        return
    is_there = there(made)
    uids = {json.loads(text)["uid"] for text in pages(made).values()}
    for path, text in pages(made).items():
        page = json.loads(text)
        asked = [(panel["title"], target["expr"]) for panel in page["panels"] for target in panel["targets"]]
        asked += [(one["name"], found[1]) for one in page["templating"]["list"] if (found := filled_by(one))]
        for title, expr in asked:
            assert {*metric_names(parse(without_variables(expr)))} <= is_there, (path, title)
        assert set(re.findall(r'"url": "/d/(.+?)\?', text)) <= uids, path
    described = {panel["description"] for text in pages(made).values() for panel in json.loads(text)["panels"]}
    if signal in signal_kinds() and signal not in made.factory.signals:
        meaning = signal_kinds()[signal].meaning
        assert not any(meaning[1:] in text for text in described)


def filled_by(variable: dict[str, Any]) -> re.Match[str] | None:
    """What a variable asks for in order to be filled."""
    return re.fullmatch(r"label_values\((.*), \w+\)", str(variable.get("query")))


@pytest.mark.parametrize(
    ("spec", "old", "new", "line"),
    [
        ("ai-factory", "filesystem_full_in: 6h", "filesystem_full_in: 5h", ("21600.0", "18000.0")),
        ("incident-world", "train_input_bound: 20%", "train_input_bound: 25%", ("0.2", "0.25")),
        ("incident-world", "limits: {", "limits: {train_loss_spike: 4, ", ("3.0", "4.0")),
        ("incident-world", "limits: {", "limits: {gpu_clock_share: 70%, ", ("0.8", "0.7")),
    ],
)
def test_a_changed_limit_changes_the_line_of_its_alert_and_nothing_else(
    spec: str, old: str, new: str, line: tuple[str, str], tmp_path: Path
) -> None:
    """On every page that shows what the alert reads."""
    text = (ROOT / "specs" / f"{spec}.yaml").read_text("utf-8")
    assert text.count(old) == 1
    before, after = (compiled(one, tmp_path)[0] for one in (text, text.replace(old, new)))
    assert before is not None
    assert after is not None
    assert pages(before).keys() == pages(after).keys()
    changed = [
        " ".join(told.split())
        for path, was in pages(before).items()
        for told in difflib.ndiff(was.splitlines(), pages(after)[path].splitlines())
        if told[0] in "+-"
    ]
    assert set(changed) == {f'- "value": {line[0]},', f'+ "value": {line[1]},'}
    assert len(changed) <= 6


def test_a_limit_of_a_boards_own_threshold_changes_the_query_of_its_line_only(tmp_path: Path) -> None:
    text = (ROOT / "specs" / "incident-world.yaml").read_text("utf-8")
    changed_text = text.replace("limits: {", "limits: {gpu_near_slowdown: 8, ")
    before, after = (compiled(one, tmp_path)[0] for one in (text, changed_text))
    assert before is not None
    assert after is not None
    for path, was in pages(before).items():
        diff = [line for line in difflib.ndiff(was.splitlines(), pages(after)[path].splitlines()) if line[0] in "+-"]
        assert all(re.match(r'[+-] +"expr": "min\(DCGM_FI_DEV_SLOWDOWN_TEMP\{', line) for line in diff), path

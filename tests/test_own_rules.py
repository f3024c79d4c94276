"""Alerts and records of a spec: filed by layer, with owner and links, proven by the tests that the spec gives."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from tocsin.cli import run
from tocsin.diagnostics import Log
from tocsin.pipeline import compile_spec, understand
from tocsin.plan.rules import Alert, Record

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.pipeline import Compiled
    from toolbox import Tool

SPEC = ROOT / "tests" / "cases" / "ok" / "own_rules.yaml"
GOLDEN = ROOT / "tests" / "cases" / "own_rules"
TEXT = SPEC.read_text("utf-8")
RESERVED = {"NodeDown", "Watchdog"}  # refused before anything is planned, and then nothing is
OTHER = "{owner: gpu, severity: page, layer: silicon, expr: up == 0, summary: It is down, description: Look at it.}"


def compiled(text: str, folder: Path) -> tuple[Compiled | None, Log]:
    (folder / "spec.yaml").write_text(text, "utf-8")
    log = Log()
    return compile_spec(str(folder / "spec.yaml"), log, {}), log


def files(text: str, folder: Path) -> dict[str, str]:
    """The files of the rules that the spec gives, and of their tests."""
    made, log = compiled(text, folder)
    assert made is not None, log.sorted()
    return {artifact.path: artifact.text for artifact in made.artifacts if "/own-" in artifact.path}


def test_they_are_filed_in_these_words(tmp_path: Path, update: bool) -> None:
    made = files(TEXT, tmp_path)
    assert sorted(made) == [
        "rules/own-application.yml",
        "rules/own-runtime-nodes.yml",
        "rules/own-silicon-nodes.yml",
        "rules/own-silicon.yml",
        "tests/own-silicon-nodes.yml",
        "tests/own-silicon.yml",
    ]
    for path, text in made.items():
        golden = GOLDEN / path.replace("/", "_")
        if update:
            golden.write_text(text, "utf-8")
        assert text == golden.read_text("utf-8")


def test_their_tests_pass(promtool: Tool, tmp_path: Path) -> None:
    made, _ = compiled(TEXT, tmp_path)
    assert made is not None
    for artifact in made.artifacts:
        if artifact.path.startswith(("rules/", "tests/")):
            (tmp_path / artifact.path).parent.mkdir(exist_ok=True)
            (tmp_path / artifact.path).write_text(artifact.text, "utf-8")
    for words in (["check", "rules", "--lint-fatal", *map(str, tmp_path.glob("rules/own-*.yml"))],):
        done = subprocess.run([promtool.path, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    tests = sorted(map(str, tmp_path.glob("tests/own-*.yml")))
    done = subprocess.run([promtool.path, "test", "rules", *tests], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_test_that_fails_is_told_at_its_alert(
    tmp_path: Path, newest: dict[str, Tool], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.yaml").write_text(TEXT.replace("value: 5400", "value: 5000"), "utf-8")
    assert run(["test", str(tmp_path / "spec.yaml")]) == 1
    out = capsys.readouterr().out
    assert "error[VFY102]" in out
    line = TEXT[: TEXT.index("  NodeDrawsTooMuch:")].count("\n") + 1
    assert f"spec.yaml:{line}:3" in out


def test_what_they_read_is_collected(tmp_path: Path) -> None:
    alert = """\
alerts:
  MemoryFull:
    owner: gpu
    severity: ticket
    expr: DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE) > 0.95
    summary: The memory of a GPU of {{ $labels.node }} is full
    description: What runs there may end.
"""
    made, _ = compiled(TEXT.replace("alerts:\n", alert, 1), tmp_path)
    assert made is not None
    (counters,) = (a.text for a in made.artifacts if a.path.endswith(".csv"))
    assert "DCGM_FI_DEV_FB_USED" in counters
    (before,) = (a.text for a in compiled(TEXT, tmp_path)[0].artifacts if a.path.endswith(".csv"))  # type: ignore[union-attr]
    assert "DCGM_FI_DEV_FB_USED" not in before


def servers(text: str, folder: Path) -> dict[str, tuple[str, ...]]:
    """The rule files of the spec's own on each server."""
    made, log = compiled(text, folder)
    assert made is not None, log.sorted()
    return {
        server.path: tuple(file for file in server.rule_files if file.startswith("rules/own-"))
        for server in made.plan.servers
    }


def test_on_shards_what_is_of_a_node_stays_there_and_the_rest_is_above(tmp_path: Path) -> None:
    address = 'address: "prometheus-{server}.{cluster}.example.com:9090"'
    text = TEXT.replace("signals:\n", f"collection: {{servers: {{shards: 2, {address}}}}}\n\nsignals:\n", 1)
    found = servers(text, tmp_path)
    of_nodes = ("rules/own-runtime-nodes.yml", "rules/own-silicon-nodes.yml")
    above = ("rules/own-application.yml", "rules/own-silicon.yml")
    assert set(found.values()) == {of_nodes, above}
    assert servers(TEXT, tmp_path) == {"prometheus/east/prometheus.yml": (above[0], *of_nodes, above[1])}


def test_an_included_file_may_hold_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head, rules = TEXT.split("\nrecords:", 1)
    own, tail = rules.split("\nalerting:", 1)
    (tmp_path / "team.yaml").write_text("records:" + own.replace("> 5000", "> 0.5 + node:gpu_power:max"), "utf-8")
    spec = head.replace("factory: lab", "factory: lab\ninclude: [team.yaml]") + "\nalerting:" + tail
    (tmp_path / "spec.yaml").write_text(spec, "utf-8")
    assert run(["check", str(tmp_path / "spec.yaml")]) == 0
    (tmp_path / "team.yaml").write_text(
        "records:" + own.replace("max by (cluster, node, gpu_uuid)", "max by (cluster, node, UUID)"), "utf-8"
    )
    assert run(["check", str(tmp_path / "spec.yaml")]) == 1
    assert "team.yaml:5:32" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("rate(requests_total[5m])", "rate(requests_total[30s])", "PQL211"),
        ("service:failures:ratio > 0.05", "service:failures:ratio > 5", "PQL203"),
        ("service:failures:ratio > 0.05", "rate(node:gpu_power:sum[5m]) > 5", "PQL201"),
        ("node:gpu_power:sum > 5000", "node:gpu_power:sum > 5000 and node:gpus_present:count", "PQL210"),
        ("{{ $labels.service }} fails", "{{ $labels.node }} fails", "ALR103"),
        ('{job="dcgm"} > 8', '{job="dcgm"} > 8 and on (gpu_uuid) DCGM_FI_DEV_GPU_UTIL', "PQL103"),
        ('{job="dcgm"} > 8', '{job="dcgm"} > 8 and on (cluster) DCGM_FI_DEV_GPU_UTIL', "PQL218"),
        ("owner: serving\n    severity", "owner: nobody\n    severity", "OWN101"),
        ("signal: power_draw", "signal: power_drawn", "SIG101"),
        ("for: 5m", "for: soon", "SPC104"),
    ],
)
def test_they_build_on_each_other_and_are_checked_together(old: str, new: str, code: str, tmp_path: Path) -> None:
    assert old in TEXT
    _, log = compiled(TEXT.replace(old, new, 1), tmp_path)
    codes = {diagnostic.code for diagnostic in log.sorted()}
    assert code in codes or (code in ("PQL210", "PQL218") and not codes), codes


def test_records_stand_behind_those_that_they_read_and_a_circle_ends(tmp_path: Path) -> None:
    chain = "".join(f"  team:step:a{n}: {{expr: team:step:a{n + 1} + 1, layer: runtime}}\n" for n in range(300))
    circle = "  team:step:a300: {expr: team:step:a0 + 1, layer: runtime}\n"
    made, log = compiled(TEXT.replace("records:\n", f"records:\n{chain}{circle}", 1), tmp_path)
    assert made is not None, log.sorted()
    (records,) = (file.groups[0].rules for file in made.plan.rules if file.name == "own-runtime")
    names = [rule.name for rule in records if rule.name.startswith("team:")]
    assert names == [f"team:step:a{n}" for n in range(300, -1, -1)]


def test_their_series_are_predicted(tmp_path: Path) -> None:
    head, rules = TEXT.split("\nrecords:", 1)
    bare, _ = compiled(f"{head}\nalerting:{rules.split(chr(10) + 'alerting:', 1)[1]}", tmp_path)
    own, _ = compiled(TEXT, tmp_path)
    assert bare is not None
    assert own is not None
    # One of each of four nodes, one of the cluster, one of each service, whose names are not listed.
    assert own.plan.sizes.total.size.series - bare.plan.sizes.total.size.series == 4 + 1 + 1


def test_every_name_of_an_alert_that_is_generated_is_refused_at_once(tmp_path: Path) -> None:
    made, log = compiled(TEXT, tmp_path)
    assert made is not None, log.sorted()
    rules = [rule for file in made.plan.rules for group in file.groups for rule in group.rules]
    names = sorted({rule.name for rule in rules if isinstance(rule, Alert)} - set(made.factory.alerts) - RESERVED)
    assert len(names) > 20
    text = TEXT.replace("\nalerts:\n", "\nalerts:\n" + "".join(f"  {name}: {OTHER}\n" for name in names))
    (tmp_path / "spec.yaml").write_text(text, "utf-8")
    log = Log()
    assert understand(str(tmp_path / "spec.yaml"), log, {}) is None
    told = [
        (one.code, one.message.split()[0], text.splitlines()[one.span.line - 1].split(":")[0]) for one in log.sorted()
    ]
    assert told == [("ALR101", name, f"  {name}") for name in names]


@pytest.mark.parametrize("case", ["every-exporter", "shards", "time-slices"])
def test_every_name_of_a_series_that_is_recorded_is_refused(case: str, tmp_path: Path) -> None:
    """Those of the catalogue are told before anything is planned, the others after."""
    text = (ROOT / "tests" / "cases" / "golden" / case / "spec.yaml").read_text("utf-8")
    made, log = compiled(text, tmp_path)
    assert made is not None, log.sorted()
    rules = [rule for file in made.plan.rules for group in file.groups for rule in group.rules]
    names = {rule.name for rule in rules if isinstance(rule, Record)}
    owner = next(iter(made.factory.owners))
    told: set[str] = set()
    while rest := sorted(names - told):
        records = "".join(
            f"  {name}: {{owner: {owner}, layer: silicon, expr: sum by (cluster) (up)}}\n" for name in rest
        )
        log = compiled(f"{text}\nrecords:\n{records}", tmp_path)[1]
        assert {one.code for one in log.sorted()} == {"ALR101"}, rest
        told |= {one.message.split()[0] for one in log.sorted()}
    assert told == names


@pytest.mark.parametrize(
    "called",
    [
        {"NodeDrawsTooMuch": "ErrorBudgetBurn"},
        {"NodeDrawsTooMuch": "PrometheusReplicaDown", "ClusterDrawsTooMuch": "PrometheusDown"},
    ],
)
def test_what_an_alert_is_called_makes_it_no_cause_of_others(called: dict[str, str], tmp_path: Path) -> None:
    """Nothing generated has these names here, so nothing is known of what they mean."""
    text = TEXT
    for own, name in called.items():
        assert own in text
        text = text.replace(own, name)
    made, log = compiled(text, tmp_path)
    assert made is not None, log.sorted()
    notified = made.plan.notifications
    assert {*called.values()} <= {sample.labels["alertname"] for sample in notified.samples}
    plain = compiled(TEXT, tmp_path)[0]
    assert plain is not None
    causes, usual = (
        [one for one in made.inhibitions if one.name != "node-down"] for made in (notified, plain.plan.notifications)
    )
    assert causes == usual

"""What a judge says about a line of a generated file is told at the line of the spec that it came from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from tocsin.diagnostics import Diagnostic, Log
from tocsin.pipeline import compile_spec
from tocsin.toolerror import ToolError
from tocsin.verify import Tool as Judge
from tocsin.verify import run_tests, verify
from tocsin.verify.run import call, find

if TYPE_CHECKING:
    from tocsin.artifact import Artifact
    from toolbox import Tool

SPEC = ROOT / "specs" / "ai-factory.yaml"


@pytest.fixture(scope="module")
def artifacts() -> tuple[Artifact, ...]:
    return outcome(SPEC)


def outcome(spec: Path) -> tuple[Artifact, ...]:
    compiled = compile_spec(str(spec), Log(), {})
    assert compiled is not None
    return compiled.artifacts


def broken(artifacts: tuple[Artifact, ...], path: str, old: str, new: str) -> list[Artifact]:
    """The artifacts with one text replaced once, as a mistaken emitter would write it."""
    chosen = next(a for a in artifacts if a.path == path)
    assert old in chosen.text
    return [a._replace(text=a.text.replace(old, new, 1)) if a is chosen else a for a in artifacts]


def judge(tool: Tool) -> Judge:
    return Judge(tool.name, str(tool.path), ".".join(map(str, tool.version)))


def told(artifacts: list[Artifact], promtool: Judge, amtool: Judge, code: str, tests: str = "") -> Diagnostic:
    """The first diagnostic of a code; of the unit tests, which take longest, only those of one file are run."""
    log = Log()
    verify([a for a in artifacts if not a.path.startswith("tests/") or a.path == tests], promtool, amtool, log)
    found = [d for d in log.sorted() if d.code == code]
    assert found, log.sorted()
    return found[0]


def spec_line(diagnostic: Diagnostic) -> str:
    """The line of the spec that the diagnostic points at."""
    lines = (SPEC.parent / diagnostic.span.path).read_text("utf-8").splitlines()
    return lines[diagnostic.span.line - 1].strip()


def test_a_broken_expression_is_told_at_its_slo(
    artifacts: tuple[Artifact, ...], promtool: Tool, newest: dict[str, Tool]
) -> None:
    files = broken(artifacts, "rules/slo-embed-availability.yml", "sum_over_time(", "sum_over_time((")
    diagnostic = told(files, judge(promtool), judge(newest["amtool"]), "VFY101")
    assert diagnostic.span.path == "slos/serving.yaml"
    assert spec_line(diagnostic) == "embed-availability:"
    assert "rules/slo-embed-availability.yml" in diagnostic.message


def test_a_broken_template_is_told_at_its_signal(
    artifacts: tuple[Artifact, ...], promtool: Tool, newest: dict[str, Tool]
) -> None:
    """Templates are refused by group and number of the rule, without a line."""
    files = broken(artifacts, "rules/runtime.yml", "{{ $labels.node }}", "{{ $labels.node ")
    diagnostic = told(files, judge(promtool), judge(newest["amtool"]), "VFY101")
    assert "job_metadata" in spec_line(diagnostic)


def test_a_duplicate_rule_is_no_success(
    artifacts: tuple[Artifact, ...], promtool: Tool, newest: dict[str, Tool]
) -> None:
    files = broken(
        artifacts, "rules/slo-chat-availability.yml", "record: slo:total:rate30m", "record: slo:total:rate5m"
    )
    diagnostic = told(files, judge(promtool), judge(newest["amtool"]), "VFY101")
    assert "duplicate" in diagnostic.message


def test_a_test_that_fails_is_told_at_its_signal(
    artifacts: tuple[Artifact, ...], promtool: Tool, newest: dict[str, Tool]
) -> None:
    files = broken(artifacts, "rules/runtime.yml", "> 50", "> 99.5")
    diagnostic = told(files, judge(promtool), judge(newest["amtool"]), "VFY102", "tests/runtime.yml")
    assert "GpuWithoutJob" in diagnostic.message
    assert "job_metadata" in spec_line(diagnostic)


def test_a_broken_configuration_is_told_at_its_job(
    artifacts: tuple[Artifact, ...], promtool: Tool, newest: dict[str, Tool]
) -> None:
    files = broken(artifacts, "prometheus/east/replica-a.yml", "job_name: serving", "job_nam: serving")
    diagnostic = told(files, judge(promtool), judge(newest["amtool"]), "VFY103")
    assert spec_line(diagnostic).startswith("serving:")


def test_a_broken_route_is_told(amtool: Tool, newest: dict[str, Tool]) -> None:
    artifacts = outcome(ROOT / "specs" / "incident-world.yaml")  # its target is the oldest Alertmanager
    files = broken(artifacts, "alertmanager/alertmanager.yml", "receiver: network-page", "receiver: netwrok-page")
    diagnostic = told(files, judge(newest["promtool"]), judge(amtool), "VFY104")
    assert "netwrok-page" in diagnostic.message


def test_a_wrong_receiver_is_told_at_its_owner(artifacts: tuple[Artifact, ...], newest: dict[str, Tool]) -> None:
    files = broken(artifacts, "alertmanager/alertmanager.yml", "receiver: network-page", "receiver: facility-page")
    diagnostic = told(files, judge(newest["promtool"]), judge(newest["amtool"]), "VFY105")
    assert diagnostic.message.endswith(
        "an alert with owner=network, severity=page reaches facility-page, not network-page"
    )
    assert spec_line(diagnostic) == "network:"


def test_a_dashboard_that_grafana_would_refuse_is_told(
    artifacts: tuple[Artifact, ...], newest: dict[str, Tool]
) -> None:
    files = broken(
        artifacts, "grafana/dashboards/operations/operations.json", '"schemaVersion": 39', '"schemaVersion": "39"'
    )
    diagnostic = told(files, judge(newest["promtool"]), judge(newest["amtool"]), "VFY106")
    assert "schemaVersion" in diagnostic.message


@pytest.mark.parametrize("new", ["gauge,gauge", "gage", '"gauge"x'])
def test_a_counters_file_that_would_stop_the_exporter_is_told(
    artifacts: tuple[Artifact, ...], newest: dict[str, Tool], new: str
) -> None:
    files = broken(artifacts, "exporters/dcgm/east-h100.csv", ",gauge,", f",{new},")
    diagnostic = told(files, judge(newest["promtool"]), judge(newest["amtool"]), "VFY107")
    assert spec_line(diagnostic) == "h100:"


def test_the_tests_alone_can_be_run(artifacts: tuple[Artifact, ...], newest: dict[str, Tool]) -> None:
    log = Log()
    artifacts = tuple(one for one in artifacts if not one.path.startswith("tests/") or "fabric" in one.path)
    run_tests(artifacts, judge(newest["promtool"]), judge(newest["amtool"]), log)
    assert log.sorted() == []


def test_a_missing_tool_is_named_with_the_way_to_have_it(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"promtool was not found .*install it .*--no-verify"):
        find("promtool", {"PATH": str(tmp_path)})
    with pytest.raises(ToolError, match=r"PROMTOOL=/nowhere/promtool"):
        find("promtool", {"PATH": str(tmp_path), "PROMTOOL": "/nowhere/promtool"})


def test_a_tool_that_is_named_relative_to_here_is_found_from_elsewhere(
    newest: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = newest["promtool"].path
    monkeypatch.chdir(path.parent)
    tool = find("promtool", {"PROMTOOL": f"./{path.name}"})
    assert call([tool.path, "--version"], tmp_path).status == 0


def test_a_program_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    program = Path(tmp_path, "promtool")
    program.write_text("not a program", "utf-8")
    program.chmod(0o755)
    with pytest.raises(ToolError, match=r"cannot be used"):
        call([str(program)], None)

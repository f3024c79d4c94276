"""One directory a case: a spec, the plan that it becomes, every file of its output, all judged by the real tools."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT
from tocsin import versions
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec
from tocsin.source import Span
from tocsin.units import Duration, number
from tocsin.verify import Tool as Judge
from tocsin.verify import verify
from toolbox import dotted, found

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tocsin.artifact import Artifact
    from toolbox import Tool

CASES = sorted(path.parent for path in (ROOT / "tests" / "cases" / "golden").glob("*/spec.yaml"))
EXAMPLES = [ROOT / "specs" / "ai-factory.yaml", ROOT / "specs" / "incident-world.yaml"]
SPECS = [pytest.param(case / "spec.yaml", id=case.name) for case in CASES]
SPECS += [pytest.param(spec, id=spec.stem) for spec in EXAMPLES]
OLDER = found("promtool")[:-1]


def compiled(spec: Path) -> Compiled:
    log = Log()
    result = compile_spec(str(spec), log, {})
    assert result is not None, log.sorted()
    assert not log.sorted()
    return result


def plain(value: Any) -> Any:
    """A plan as JSON: records by their fields, places as in the manifest, numbers as they are printed."""
    match value:
        case Span():
            return f"{value.path}: {value.route}"
        case Duration():
            return str(value)
        case Fraction():
            return number(value)
        case date():
            return value.isoformat()
        case tuple() if hasattr(value, "_asdict"):
            return {name: plain(field) for name, field in value._asdict().items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
    return value


def expected_files(case: Path) -> dict[str, str]:
    """What a case's directory must hold beside the spec."""
    result = compiled(case / "spec.yaml")
    files = {f"out/{artifact.path}": artifact.text for artifact in result.artifacts}
    return {**files, "plan.json": json.dumps(plain(result.plan), indent=1, ensure_ascii=False) + "\n"}


def present_files(case: Path) -> dict[str, str]:
    paths = [path for path in case.rglob("*") if path.is_file() and path.name != "spec.yaml"]
    return {str(path.relative_to(case)): path.read_text("utf-8") for path in paths}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_output_is_the_golden_one(case: Path, update: bool) -> None:
    wanted, present = expected_files(case), present_files(case)
    if update:
        for path in present.keys() - wanted.keys():
            (case / path).unlink()
        for path, text in wanted.items():
            (case / path).parent.mkdir(parents=True, exist_ok=True)
            (case / path).write_text(text, "utf-8")
        present = present_files(case)
    assert sorted(present.keys() - wanted.keys()) == [], "nobody writes these goldens any more"
    assert sorted(wanted.keys() - present.keys()) == [], "these goldens are missing: make golden"
    for path, text in wanted.items():
        assert present[path] == text, f"{path} differs: make golden, then read the difference"


@pytest.mark.parametrize("spec", SPECS)
def test_every_promtool_agrees(spec: Path, promtool: Tool, newest: dict[str, Tool]) -> None:
    """The portable subset is what 2.42 to 3.x accept alike, so the target's version does not matter here.

    Every release reads every file. The proofs of all alerts are played by the newest; by the others in the long run,
    and here those of the examples.
    """
    artifacts = readable(compiled(spec), promtool)
    if spec not in EXAMPLES and promtool in OLDER:
        artifacts = tuple(artifact for artifact in artifacts if not artifact.path.startswith("tests/"))
    agrees(artifacts, promtool, newest)


@pytest.mark.slow
@pytest.mark.parametrize("older", OLDER, ids=lambda tool: dotted(tool.version))
@pytest.mark.parametrize("spec", SPECS)
def test_older_promtools_agree_on_every_proof(spec: Path, older: Tool, newest: dict[str, Tool]) -> None:
    agrees(readable(compiled(spec), older), older, newest)


def readable(result: Compiled, promtool: Tool) -> tuple[Artifact, ...]:
    """What a release can read: native histograms are asked for, and told in tests, as older ones do not know."""
    has_native = any(metric.native for metric in result.factory.metrics.values())
    if not has_native or promtool.version >= result.factory.targets.prometheus:
        return tuple(result.artifacts)
    newer = ("prometheus/",) if versions.has("native_histograms", promtool.version) else ("prometheus/", "tests/")
    return tuple(artifact for artifact in result.artifacts if not artifact.path.startswith(newer))


def agrees(artifacts: Sequence[Artifact], promtool: Tool, newest: dict[str, Tool]) -> None:
    log = Log()
    verify(artifacts, judge(promtool), judge(newest["amtool"]), log)
    assert {told.code for told in log.sorted()} <= {"VFY108"}  # a distribution's promtool lacks kinds of discovery


@pytest.mark.parametrize("spec", SPECS)
def test_every_amtool_from_the_target_on_agrees(spec: Path, amtool: Tool, newest: dict[str, Tool]) -> None:
    result = compiled(spec)
    if amtool.version < result.factory.targets.alertmanager:
        return  # the file may say what an older release does not know
    log = Log()
    routing = [artifact for artifact in result.artifacts if artifact.path.startswith("alertmanager/")]
    verify(routing, judge(newest["promtool"]), judge(amtool), log)
    assert log.sorted() == []


def judge(tool: Tool) -> Judge:
    return Judge(tool.name, str(tool.path), dotted(tool.version))

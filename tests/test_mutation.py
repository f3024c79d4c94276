"""Mistakes in generated rules are found by the generated tests: otherwise these tests prove little."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from mutants import Mutant, mutants
from tocsin.diagnostics import Log
from tocsin.emit.rules import rules
from tocsin.emit.ruletests import ruletests
from tocsin.pipeline import compile_spec
from tocsin.plan import RuleFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tocsin.plan import Plan
    from toolbox import Tool

SPEC = ROOT / "specs" / "incident-world.yaml"
SAMPLE = 17  # of so many mutants the normal run takes one


@pytest.fixture(scope="module")
def plan() -> Plan:
    compiled = compile_spec(str(SPEC), Log(), {})
    assert compiled is not None
    return compiled.plan


def is_found(plan: Plan, tool: Tool, folder: Path, numbered: tuple[int, Mutant]) -> bool:
    """Whether promtool fails on the mutant's group with the group's own tests, and with them alone."""
    number, mutant = numbered
    here = folder / str(number)
    alone = plan._replace(rules=(RuleFile("alone", (mutant.group,)),))
    for artifact in (*rules(alone), *ruletests(alone)):
        (here / artifact.path).parent.mkdir(parents=True, exist_ok=True)
        (here / artifact.path).write_text(artifact.text, "utf-8")
    said = subprocess.run([tool.path, "test", "rules", here / "tests" / "alone.yml"], capture_output=True, check=False)
    return said.returncode != 0


def survivors(plan: Plan, found: Sequence[Mutant], tool: Tool, folder: Path) -> list[Mutant]:
    with ThreadPoolExecutor(max_workers=2) as pool:
        killed = list(pool.map(partial(is_found, plan, tool, folder), enumerate(found)))
    alive = [mutant for mutant, dead in zip(found, killed, strict=True) if not dead]
    print(f"{len(found) - len(alive)} of {len(found)} mutants were found; these were not:")
    print(*(f"  {mutant.story}" for mutant in alive), sep="\n")
    return alive


def test_the_rules_themselves_pass(plan: Plan, newest: dict[str, Tool], tmp_path: Path) -> None:
    """What is found below is found for its mistake."""
    for number, group in enumerate(group for file in plan.rules for group in file.groups):
        assert not is_found(plan, newest["promtool"], tmp_path, (number, Mutant(group, "")))


def test_a_sample_of_mutants(plan: Plan, newest: dict[str, Tool], tmp_path: Path) -> None:
    sample = list(mutants(plan))[::SAMPLE]
    assert len(survivors(plan, sample, newest["promtool"], tmp_path)) <= len(sample) // 5


@pytest.mark.slow
def test_nine_of_ten_mutants(plan: Plan, newest: dict[str, Tool], tmp_path: Path) -> None:
    every = list(mutants(plan))
    assert len(survivors(plan, every, newest["promtool"], tmp_path)) <= len(every) // 10

"""Mistakes in generated rules are found by the generated tests: otherwise these tests prove little."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pytest

from conftest import ROOT
from mutants import Mutant, mutants
from slo_worlds import worlds
from tocsin.diagnostics import Log
from tocsin.emit.rules import rules
from tocsin.emit.ruletests import ruletests
from tocsin.lower.objectives import ALERT
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan import Alert, RuleFile, RuleGroup

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tocsin.plan import RuleTest
    from toolbox import Tool

SPEC = ROOT / "specs" / "incident-world.yaml"
SAMPLE = 29  # of so many mutants the normal run takes one


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    result = compile_spec(str(SPEC), Log(), {})
    assert result is not None
    return result


class Court(NamedTuple):
    """Where mutants are judged: by their group's own tests, and with `thorough` by those of this folder as well."""

    compiled: Compiled
    tool: Tool
    folder: Path

    def fails(self, group: RuleGroup, name: str, *, thorough: bool = False) -> bool:
        """Whether promtool finds something wrong with a group."""
        tested = group._replace(tests=self.further(group.name)) if thorough else group
        alone = self.compiled.plan._replace(rules=(RuleFile("alone", (tested,)),))
        here = self.folder / name
        for artifact in (*rules(alone), *ruletests(alone)):
            (here / artifact.path).parent.mkdir(parents=True, exist_ok=True)
            (here / artifact.path).write_text(artifact.text, "utf-8")
        command = [self.tool.path, "test", "rules", here / "tests" / "alone.yml"]
        return subprocess.run(command, capture_output=True, check=False).returncode != 0

    def further(self, name: str) -> tuple[RuleTest, ...]:
        """What this folder asks of a group of rules beyond its own tests: something of SLOs only."""
        groups = (group for file in self.compiled.plan.rules for group in file.groups)
        told = next(group.rules for group in groups if group.name == name)
        burns = tuple(rule for rule in told if isinstance(rule, Alert) and rule.name == ALERT)
        factory = self.compiled.factory
        return worlds(factory, factory.slos[burns[0].labels["slo"]], burns) if burns else ()

    def verdict(self, numbered: tuple[int, Mutant]) -> str:
        """Who finds the mutant: "generated" tests, those of this "folder", or nobody: ""."""
        number, mutant = numbered
        if self.fails(mutant.group, f"{number}"):
            return "generated"
        further = self.further(mutant.group.name) and self.fails(mutant.group, f"{number}-further", thorough=True)
        return "folder" if further else ""


def survivors(court: Court, found: Sequence[Mutant]) -> list[Mutant]:
    """The mutants that nobody finds; all figures are printed."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        verdicts = list(pool.map(court.verdict, enumerate(found)))
    alive = [mutant for mutant, verdict in zip(found, verdicts, strict=True) if not verdict]
    count = partial(map, verdicts.count)
    generated, folder = count(("generated", "folder"))
    print(f"of {len(found)} mutants the generated tests find {generated}, the worlds of SLOs {folder} more; not found:")
    print(*(f"  {mutant.story}" for mutant in alive), sep="\n")
    return alive


@pytest.fixture
def court(compiled: Compiled, newest: dict[str, Tool], tmp_path: Path) -> Court:
    return Court(compiled, newest["promtool"], tmp_path)


def test_the_rules_themselves_pass(court: Court) -> None:
    """What is found below is found for its mistake."""
    groups = [group for file in court.compiled.plan.rules for group in file.groups]
    for number, group in enumerate(groups):
        assert not court.fails(group, f"{number}"), group.name
        assert not court.further(group.name) or not court.fails(group, f"{number}-further", thorough=True), group.name


def test_a_sample_of_mutants(court: Court) -> None:
    sample = list(mutants(court.compiled.plan))[::SAMPLE]
    assert len(survivors(court, sample)) <= len(sample) // 5


@pytest.mark.slow
def test_nine_of_ten_mutants(court: Court) -> None:
    every = list(mutants(court.compiled.plan))
    assert len(survivors(court, every)) <= len(every) // 10

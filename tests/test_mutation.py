"""Mistakes in generated rules are found by the generated tests: otherwise these tests prove little."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import pytest

from conftest import ROOT
from mutants import Mutant, mutants
from tocsin.diagnostics import Log
from tocsin.emit.rules import rules
from tocsin.emit.ruletests import ruletests
from tocsin.pipeline import Compiled, compile_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tocsin.plan import Plan, RuleFile
    from toolbox import Tool

SPEC = ROOT / "specs" / "incident-world.yaml"
SAMPLE = 29  # of so many mutants the normal run takes one


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    result = compile_spec(str(SPEC), Log(), {})
    assert result is not None
    return result


class Court(NamedTuple):
    """Where mutants are judged: by the generated tests of their file."""

    tool: Tool
    folder: Path

    def fails(self, file: RuleFile, name: str) -> bool:
        """Whether promtool finds something wrong with a file."""
        here = self.folder / name
        alone = Alone((file._replace(name="alone"),))
        tests = []
        for artifact in (*rules(alone), *ruletests(alone)):
            (here / artifact.path).parent.mkdir(parents=True, exist_ok=True)
            (here / artifact.path).write_text(artifact.text, "utf-8")
            tests += [here / artifact.path] if artifact.path.startswith("tests/") else []
        command = [self.tool.path, "test", "rules", *tests]
        return subprocess.run(command, capture_output=True, check=False).returncode != 0

    def finds(self, numbered: tuple[int, Mutant]) -> bool:
        """Whether the generated tests find the mutant."""
        number, mutant = numbered
        return self.fails(mutant.file, f"{number}")


class Alone(NamedTuple):
    """What the emitters of rules and tests want of a plan."""

    rules: tuple[RuleFile, ...]


def survivors(court: Court, found: Sequence[Mutant]) -> list[Mutant]:
    """The mutants that nobody finds; all figures are printed."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        verdicts = list(pool.map(court.finds, enumerate(found)))
    alive = [mutant for mutant, is_found in zip(found, verdicts, strict=True) if not is_found]
    print(f"of {len(found)} mutants the generated tests find {len(found) - len(alive)}; not found:")
    print(*(f"  {mutant.story}" for mutant in alive), sep="\n")
    return alive


@pytest.fixture
def court(newest: dict[str, Tool], tmp_path: Path) -> Court:
    return Court(newest["promtool"], tmp_path)


def test_the_rules_themselves_pass(compiled: Compiled, court: Court) -> None:
    """What is found below is found for its mistake."""
    for number, file in enumerate(compiled.plan.rules):
        assert not court.fails(file, f"{number}"), file.name


def of_slos(plan: Plan) -> list[Mutant]:
    return [mutant for mutant in mutants(plan) if mutant.file.name.startswith("slo-")]


def others(plan: Plan) -> list[Mutant]:
    return [mutant for mutant in mutants(plan) if not mutant.file.name.startswith("slo-")]


@pytest.mark.parametrize(("which", "share"), [(of_slos, 20), (others, 10)], ids=["slos", "others"])
def test_a_sample_of_mutants(
    compiled: Compiled, court: Court, which: Callable[[Plan], list[Mutant]], share: int
) -> None:
    sample = which(compiled.plan)[::SAMPLE]
    assert len(survivors(court, sample)) <= -(-len(sample) // share)


@pytest.mark.slow
@pytest.mark.parametrize(("which", "share"), [(of_slos, 20), (others, 10)], ids=["slos", "others"])
def test_nearly_every_mutant(
    compiled: Compiled, court: Court, which: Callable[[Plan], list[Mutant]], share: int
) -> None:
    """Of SLOs' rules 95 of 100 mistakes are noticed, of the others 9 of 10."""
    every = which(compiled.plan)
    assert len(survivors(court, every)) <= len(every) // share

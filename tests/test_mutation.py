"""Mistakes in generated rules are found by the generated tests: otherwise these tests prove little.

A survivor is listed with its reason in `survivors.yaml`, which holds in both directions: whoever is found there in vain
is taken off.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pytest
import yaml

from conftest import ROOT
from mutants import Mutant, judged, mutants, told
from mutation_court import Court
from rule_slice import sliced
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from toolbox import Tool

EXAMPLES = [ROOT / "specs" / name for name in ("ai-factory.yaml", "incident-world.yaml")]
# What the examples lack: exporters and limits of sites, indicators, RoCE, shards, discovery, native histograms.
GOLDEN = sorted((ROOT / "tests" / "cases" / "golden").glob("*/spec.yaml"))
LEAST = 95  # of a hundred mutants
EACH = 2  # mutants of a kind that the normal run takes
DEAR = ("slo time_slice", "slo throughput", "slo slowdown", "slo utilisation", "slo composite")
SEED = "mutants"
SURVIVORS: dict[str, dict[str, list[str]]] = yaml.safe_load((ROOT / "tests" / "survivors.yaml").read_text("utf-8"))


class Verdicts(NamedTuple):
    """Who was judged, and who of them was not found."""

    judged: Sequence[Mutant]
    alive: Sequence[Mutant]

    def told(self) -> str:
        """All figures: of each kind, of how many mutants how many were found."""
        every, alive = (Counter(mutant.kind for mutant in some) for some in (self.judged, self.alive))
        lines = [f"{kind}: {count - alive[kind]} of {count}" for kind, count in sorted(every.items())]
        return "\n".join([*lines, f"all: {len(self.judged) - len(self.alive)} of {len(self.judged)}"])


@pytest.fixture
def court(newest: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Court:
    monkeypatch.setenv("GOMAXPROCS", "1")  # two workers are two processors
    return Court(newest["promtool"], tmp_path)


def compiled(spec: Path) -> Compiled:
    result = compile_spec(str(spec), Log(), {})
    assert result is not None
    return result


def everything(specs: Iterable[Path]) -> list[Mutant]:
    """The mutants of some specs, each once however many of them have it."""
    found = (mutant for spec in specs for mutant in mutants(compiled(spec)))
    return list({hash(repr(mutant.file.groups)): mutant for mutant in found}.values())


def verdicts(court: Court, some: Sequence[Mutant]) -> Verdicts:
    passing = court.passing([mutant.file for mutant in some])
    return Verdicts(some, [mutant for mutant, passes in zip(some, passing, strict=True) if passes])


def listed(mutant: Mutant) -> bool:
    """Whether somebody has said why this mutant survives."""
    return any(mutant.story in stories.get(mutant.rule, ()) for stories in SURVIVORS.values())


def unexplained(found: Verdicts) -> list[str]:
    return [f"{mutant.kind}, {mutant.rule}: {mutant.story}" for mutant in found.alive if not listed(mutant)]


def test_a_sample_of_mutants(court: Court) -> None:
    """Some of every kind are found, and found for their mistake: the rules that they are mutants of pass."""
    spec = EXAMPLES[0]
    by: dict[str, list[Mutant]] = {}
    for mutant in mutants(compiled(spec)):
        by.setdefault(mutant.kind, []).append(mutant)
    chance = Random(SEED)
    sample = [one for kind, some in by.items() if kind not in DEAR for one in chance.sample(some, min(EACH, len(some)))]
    assert unexplained(verdicts(court, sample)) == []
    files = {file.name: file for file in judged(compiled(spec).plan)}
    rules = {(mutant.file.name, mutant.rule) for mutant in sample}
    assert all(court.passing([sliced(files[name], rule) for name, rule in sorted(rules)]))


@pytest.mark.slow
@pytest.mark.parametrize("specs", [EXAMPLES, GOLDEN], ids=["examples", "golden"])
def test_the_rules_themselves_pass(court: Court, specs: list[Path]) -> None:
    """What is found below is found for its mistake."""
    files = [sliced(file, name) for spec in specs for file in judged(compiled(spec).plan) for name in told(file)]
    passing = court.passing(files)
    assert [file.name for file, passes in zip(files, passing, strict=True) if not passes] == []


@pytest.mark.slow
def test_nearly_every_mutant(court: Court) -> None:
    """Of all mistakes 95 in a hundred are noticed, and of the others somebody has said why not."""
    found = verdicts(court, everything([*EXAMPLES, *GOLDEN]))
    print(found.told())
    assert unexplained(found) == []
    assert len(found.alive) * 100 <= len(found.judged) * (100 - LEAST), found.told()
    alive = {(mutant.rule, mutant.story) for mutant in found.alive}
    every = [(rule, story) for rules in SURVIVORS.values() for rule, stories in rules.items() for story in stories]
    assert [one for one in every if one not in alive] == [], "these are found: take them off the list"

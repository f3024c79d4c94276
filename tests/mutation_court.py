"""Where mutants are judged: by the generated tests of their rules, many in one call of promtool.

A mutant is judged by one of its tests after the other, the shortest first, until one finds it: most are found at once,
and the long tests are played for those that are left.
"""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from tocsin.emit.rules import rules
from tocsin.emit.ruletests import ruletests

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tocsin.plan.rules import RuleFile, RuleTest
    from toolbox import Tool

AT_ONCE = 40  # files that one promtool judges: as many as make its start cheap, and no file waits long for a worker
WORKERS = 2
_VERDICT = re.compile(r"^  (SUCCESS|FAILED:)$", re.MULTILINE)


class Court(NamedTuple):
    """promtool, and the folder for its input."""

    tool: Tool
    folder: Path

    def passing(self, files: Sequence[RuleFile]) -> list[bool]:
        """Of each file whether all of its tests pass. Files stand for themselves: none reads another's records."""
        left = {index: _one_by_one(file) for index, file in enumerate(files)}
        found: set[int] = set()
        while left := {index: tests for index, tests in left.items() if tests}:
            verdicts = self._round([tests[0] for tests in left.values()])
            found |= {index for index, passes in zip(left, verdicts, strict=True) if not passes}
            left = {index: tests[1:] for index, tests in left.items() if index not in found}
        return [index not in found for index in range(len(files))]

    def _round(self, files: Sequence[RuleFile]) -> list[bool]:
        batches = [files[at : at + AT_ONCE] for at in range(0, len(files), AT_ONCE)]
        with ThreadPoolExecutor(max_workers=WORKERS) as pool:
            verdicts = pool.map(self._batch, range(len(batches)), batches)
            return [one for batch in verdicts for one in batch]

    def _batch(self, number: int, files: Sequence[RuleFile]) -> list[bool]:
        here = self.folder / f"{number}"
        written = [self._written(here / f"{index}", file) for index, file in enumerate(files)]
        passed = self._passed([path for paths in written for path in paths])
        return [passed.issuperset(paths) for paths in written]

    def _written(self, here: Path, file: RuleFile) -> list[str]:
        """The paths of a file's tests, written beside its rules."""
        tests = []
        alone = Alone((file._replace(name="alone"),))
        for artifact in (*rules(alone), *ruletests(alone)):
            path = here / artifact.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(artifact.text, "utf-8")
            tests += [str(path)] if artifact.path.startswith("tests/") else []
        return tests

    def _passed(self, paths: Sequence[str]) -> set[str]:
        """Those files of tests that pass. promtool tells of each in turn, and goes on after one that fails."""
        command = [self.tool.path, "test", "rules", *paths]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True)
        told = _VERDICT.findall(done.stdout)
        assert len(told) == len(paths), done.stdout[-2000:]
        return {path for path, verdict in zip(paths, told, strict=True) if verdict == "SUCCESS"}


def _one_by_one(file: RuleFile) -> list[RuleFile]:
    """A file for each of its tests, the shortest first."""
    tests = [test for group in file.groups for test in group.tests]
    first, *others = (group._replace(tests=()) for group in file.groups)
    return [file._replace(groups=(first._replace(tests=(test,)), *others)) for test in sorted(tests, key=_evaluations)]


def _evaluations(test: RuleTest) -> float:
    """How often rules are evaluated in a test."""
    last = max([one.at for one in test.expectations] + [one.at for one in test.readings])
    return last / (test.pace or test.interval)


class Alone(NamedTuple):
    """What the emitters of rules and tests want of a plan."""

    rules: tuple[RuleFile, ...]

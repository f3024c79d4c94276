"""promtool: rules with its lint, configurations, and the unit tests of every alert."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from tocsin.verify.run import OURS, call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log
    from tocsin.source import Span
    from tocsin.verify.run import Tool

# Without --lint-fatal a duplicate rule is printed as FAILED and the exit status is 0.
CHECK_RULES = ("check", "rules", "--lint=all", "--lint-fatal")
CHECK_CONFIG = ("check", "config", "--lint=all", "--lint-fatal")
TEST_RULES = ("test", "rules")

_AT_LINE = re.compile(r"(?P<file>[^\s:\"]+\.(?:yml|yaml|json)): (?P<line>\d+):(?P<column>\d+): (?P<text>.*)")
_IN_FILE = re.compile(r"line (?P<line>\d+): (?P<text>.*)")  # of the configuration itself, which is not named again
_AT_RULE = re.compile(r'group "(?P<group>[^"]*)", rule (?P<rule>\d+), "(?P<name>[^"]*)": (?P<text>.*)')
_NOT_BUILT_IN = re.compile(r"field (kubernetes|consul)_sd_configs not found in type config\.ScrapeConfig")
_BATCH = 25  # test files a call: promtool's start-up is paid rarely, both processors have work


def judge_rules(tool: Tool, files: Mapping[str, Artifact], folder: Path, log: Log) -> None:
    """`check rules` over all rule files at once."""
    paths = [path for path in files if path.startswith("rules/")]
    if not paths:
        return
    answer = call([tool.path, *CHECK_RULES, *paths], folder)
    if answer.status:
        _tell("VFY101", tool, answer.output, paths, files, log)


def judge_configurations(tool: Tool, files: Mapping[str, Artifact], folder: Path, log: Log) -> None:
    """`check config` for each server."""
    for path in (path for path in files if path.startswith("prometheus/")):
        answer = call([tool.path, *CHECK_CONFIG, path], folder)
        artifact = files[path]
        if answer.status and (unknown := sorted(set(_NOT_BUILT_IN.findall(answer.output)))):
            # Blank lines instead of the blocks that it cannot read keep every other line at its number.
            for kind in unknown:
                artifact = _without(kind, artifact, tool, log)
            (folder / path).write_text(artifact.text, "utf-8")
            answer = call([tool.path, *CHECK_CONFIG, path], folder)
        if answer.status:
            _tell("VFY103", tool, answer.output, [path], files, log)


def _without(kind: str, artifact: Artifact, tool: Tool, log: Log) -> Artifact:
    """The file without the blocks of a kind of discovery, which is told."""
    lines, inside = artifact.text.split("\n"), False
    for index, line in enumerate(lines):
        inside = line.startswith(f"  {kind}_sd_configs:") or (inside and line.startswith(("  - ", "    ")))
        if inside:
            lines[index] = ""
    first = next(n for n, line in enumerate(artifact.text.split("\n"), 1) if line == f"  {kind}_sd_configs:")
    what = f"{tool} was built without {kind} discovery: {artifact.path} is judged without it"
    hint = "install promtool, and Prometheus, as their own project releases them"
    log.warning("VFY108", what, artifact.origin(first), hint)
    return artifact._replace(text="\n".join(lines))


def judge_tests(tool: Tool, files: Mapping[str, Artifact], folder: Path, log: Log) -> list[Callable[[], None]]:
    """`test rules`, as tasks that can run side by side."""
    paths = [path for path in files if path.startswith("tests/")]
    size = max(1, min(_BATCH, -(-len(paths) // 4)))
    batches = [paths[start : start + size] for start in range(0, len(paths), size)]
    return [partial(_judge_batch, tool, batch, files, folder, log) for batch in batches]


def _judge_batch(tool: Tool, paths: list[str], files: Mapping[str, Artifact], folder: Path, log: Log) -> None:
    if not call([tool.path, *TEST_RULES, *paths], folder).status:
        return
    for path in paths:  # later releases do not say which file failed
        answer = call([tool.path, *TEST_RULES, path], folder)
        if answer.status:
            _tell_test(tool, path, answer.output, files, log)


def _tell_test(tool: Tool, path: str, output: str, files: Mapping[str, Artifact], log: Log) -> None:
    artifact = files[path]
    names = re.findall(r'^- name: "?(.*?)"?$', artifact.text, re.MULTILINE)
    failed = [name for name in names if name in output] or names[:1]
    for name in failed:
        line = next(
            (n for n, text in enumerate(artifact.text.splitlines(), 1) if text.startswith("- name:") and name in text),
            1,
        )
        detail = " ".join(output.split())[:600]
        log.error("VFY102", f"{tool}: the test '{name}' of {path} fails: {detail}", artifact.origin(line), OURS)


def _tell(code: str, tool: Tool, output: str, paths: list[str], files: Mapping[str, Artifact], log: Log) -> None:
    """Every line of the output that names a place, there; all of it at the first file if none does."""
    told = False
    for line in output.splitlines():
        found = _AT_LINE.search(line)
        path = found and next((p for p in files if p == found["file"] or found["file"].endswith(f"/{p}")), None)
        if found and path:
            place = _place(files[path], int(found["line"]), found["text"])
            log.error(code, f"{tool} refuses {path}, line {found['line']}: {found['text']}", place, OURS)
            told = True
            continue
        rule = _AT_RULE.search(line)
        owner = rule and next((p for p in paths if _begins(rule["group"]) & {*files[p].text.splitlines()}), None)
        if rule and owner:
            place = _of_rule(files[owner], rule["group"], int(rule["rule"]))
            log.error(code, f'{tool} refuses {owner}, rule "{rule["name"]}": {rule["text"]}', place, OURS)
            told = True
        found = _IN_FILE.search(line) if code == "VFY103" and not told else None
        if found:
            place = files[paths[0]].origin(int(found["line"]))
            log.error(code, f"{tool} refuses {paths[0]}, line {found['line']}: {found['text']}", place, OURS)
            told = True
    if not told:
        detail = " ".join(line.strip() for line in output.splitlines() if "SUCCESS" not in line and line.strip())
        log.error(code, f"{tool} refuses {', '.join(paths[:3])}: {detail[:800]}", files[paths[0]].origins[0][1], OURS)


def _begins(group: str) -> set[str]:
    """The lines with which a group of this name may begin."""
    return {f"- name: {group}", f'- name: "{group}"'}


def _place(artifact: Artifact, line: int, text: str) -> Span:
    rule = _AT_RULE.search(text)
    return _of_rule(artifact, rule["group"], int(rule["rule"])) if rule and line == 0 else artifact.origin(line)


def _of_rule(artifact: Artifact, group: str, number: int) -> Span:
    """The origin of a group's nth rule, counted from 1."""
    seen = 0
    inside = False
    for index, text in enumerate(artifact.text.splitlines(), 1):
        if text.startswith("- name: "):
            inside = text in _begins(group)
        elif inside and re.match(r"  - (record|alert): ", text):
            seen += 1
            if seen == number:
                return artifact.origin(index)
    return artifact.origins[0][1]

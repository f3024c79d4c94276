"""amtool: the configuration, and for every owner and severity the receiver that it reaches."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.source import Source, compose
from tocsin.verify.run import OURS, call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log
    from tocsin.verify.run import Tool

CONFIGURATION, ROUTE_TESTS = "alertmanager/alertmanager.yml", "alertmanager/routes_test.yml"


def judge_notifications(tool: Tool, files: Mapping[str, Artifact], folder: Path, log: Log) -> None:
    """The configuration, and the routes of one that can be read."""
    if _accepts(tool, files, folder, log):
        judge_routes(tool, files, folder, log)


def _accepts(tool: Tool, files: Mapping[str, Artifact], folder: Path, log: Log) -> bool:
    """`check-config`. It gives its reason on standard output, with a line where YAML itself is wrong."""
    answer = call([tool.path, "check-config", CONFIGURATION], folder)
    if answer.status:
        artifact = files[CONFIGURATION]
        line = re.search(r"line (\d+)", answer.output)
        place = artifact.origin(int(line[1]) if line else 1)
        detail = " ".join(answer.output.split())[:600]
        log.error("VFY104", f"{tool} refuses {CONFIGURATION}: {detail}", place, OURS)
    return not answer.status


def judge_routes(tool: Tool, files: Mapping[str, Artifact], folder: Path, log: Log) -> None:
    """`config routes test` for each case: it exits 1 where another receiver is reached."""
    artifact = files[ROUTE_TESTS]
    for line, labels, receiver in _cases(artifact):
        pairs = [f"{name}={value}" for name, value in labels.items()]
        command = [tool.path, "config", "routes", "test", f"--config.file={CONFIGURATION}"]
        answer = call([*command, f"--verify.receivers={receiver}", *pairs], folder)
        if answer.status:
            said = [line for line in answer.output.splitlines() if line and not line.lower().startswith("warning")]
            reached = said[0] if said else "nobody"
            what = f"{tool}: an alert with {', '.join(pairs)} reaches {reached}, not {receiver}"
            log.error("VFY105", what, artifact.origin(line), OURS)


def _cases(artifact: Artifact) -> list[tuple[int, dict[str, str], str]]:
    root, _ = compose(Source(artifact.path, artifact.text))
    tests = root.get("tests") if root else None
    return [(node.start[0], node.data()["labels"], node.data()["receiver"]) for node in (tests.items if tests else [])]

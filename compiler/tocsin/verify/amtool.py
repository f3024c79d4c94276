"""amtool: the configuration, the receivers that each route test reaches, and the templates of all messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.verify.notifications import read_cases, read_configuration
from tocsin.verify.reach import judge_reach
from tocsin.verify.run import OURS, call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log
    from tocsin.source import Span
    from tocsin.verify.run import Tool

CONFIGURATION, ROUTE_TESTS = "alertmanager/alertmanager.yml", "alertmanager/routes_test.yml"
TEMPLATES = "alertmanager/templates/*.tmpl"


def judge_notifications(tool: Tool, files: Mapping[str, Artifact], folder: Path, log: Log) -> None:
    """The configuration; and of one that can be read, the templates and the routes."""
    if _accepts(tool, files, folder, log):
        _judge_templates(tool, read_configuration(files[CONFIGURATION]).texts, folder, log)
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


def _judge_templates(tool: Tool, texts: Mapping[str, Span], folder: Path, log: Log) -> None:
    """`template render` of each text that stands in a receiver: `check-config` does not look into them."""
    for text, place in texts.items():
        command = [tool.path, "template", "render", f"--template.glob={TEMPLATES}", f"--template.text={text}"]
        answer = call(command, folder)
        if answer.status:
            detail = " ".join(answer.output.split())[:600]
            log.error("VFY123", f"{tool} cannot render {text}: {detail}", place, OURS)


def judge_routes(tool: Tool, files: Mapping[str, Artifact], folder: Path, log: Log) -> None:
    """Our own simulation of every alert, then `config routes test` a case: it exits 1 where others are reached."""
    cases = read_cases(files[ROUTE_TESTS])
    judge_reach(read_configuration(files[CONFIGURATION]), cases, log)
    for labels, receivers, place in cases.tests:
        pairs = [f"{name}={value}" for name, value in labels.items()]
        command = [tool.path, "config", "routes", "test", f"--config.file={CONFIGURATION}"]
        answer = call([*command, f"--verify.receivers={','.join(receivers)}", *pairs], folder)
        if answer.status:
            said = [line for line in answer.output.splitlines() if line and not line.lower().startswith("warning")]
            reached = said[0] if said else "nobody"
            what = f"{tool}: an alert with {', '.join(pairs)} reaches {reached}, not {','.join(receivers)}"
            log.error("VFY105", what, place, OURS)

"""Artifacts to judges: promtool, amtool and Grafana's schema read every file before it is written anywhere.

What a judge says about a line of a file is reported at the line of the spec that it came from.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.verify.amtool import judge_notifications, judge_routes
from tocsin.verify.counters import judge_counters
from tocsin.verify.dashboards import judge_dashboards
from tocsin.verify.promtool import judge_configurations, judge_rules, judge_tests
from tocsin.verify.run import Tool, find, together
from tocsin.verify.scripts import judge_scripts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log

__all__ = ["Tool", "run_tests", "tools", "verify"]


def tools(environment: Mapping[str, str]) -> tuple[Tool, Tool]:
    """Promtool and amtool; ToolError where one is missing."""
    return find("promtool", environment), find("amtool", environment)


def verify(artifacts: Sequence[Artifact], promtool: Tool, amtool: Tool, log: Log) -> None:
    """Every judge on every file that is its own. Mistakes go to the log; ToolError where a judge cannot work."""
    files = {artifact.path: artifact for artifact in artifacts}
    with tempfile.TemporaryDirectory(prefix="tocsin-") as name:
        folder = _laid_out(files.values(), Path(name))
        together(
            [
                *judge_tests(promtool, files, folder, log),
                lambda: judge_rules(promtool, files, folder, log),
                lambda: judge_configurations(promtool, files, folder, log),
                lambda: judge_notifications(amtool, files, folder, log),
                lambda: judge_dashboards(files, log),
                lambda: judge_counters(files, log),
                lambda: judge_scripts(files, folder, log),
            ]
        )


def run_tests(artifacts: Sequence[Artifact], promtool: Tool, amtool: Tool, log: Log) -> None:
    """Only the generated tests: of the alerts with promtool, of the routes with amtool."""
    files = {artifact.path: artifact for artifact in artifacts}
    with tempfile.TemporaryDirectory(prefix="tocsin-") as name:
        folder = _laid_out(files.values(), Path(name))
        together(
            [*judge_tests(promtool, files, folder, log), lambda: judge_routes(amtool, files, folder, log)],
        )


def _laid_out(artifacts: Iterable[Artifact], folder: Path) -> Path:
    for artifact in artifacts:
        path = folder / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(artifact.text, "utf-8")
    return folder

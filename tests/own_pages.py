"""Dashboards that a team brings, as small as can be, and what becomes of them in a spec."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from conftest import ROOT
from tocsin.dashboard.filled import fillings
from tocsin.diagnostics import Log
from tocsin.pipeline import compile_spec
from tocsin.promql import PromqlError, parse

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.pipeline import Compiled
    from tocsin.promql import Expr

CASE = ROOT / "tests" / "cases" / "mixins"
BOARDS = json.loads((CASE / "dashboards" / "boards.json").read_text("utf-8"))
TEXT = re.sub(r"mixins:\n.*?(?=dashboards:)", "", (CASE / "spec.yaml").read_text("utf-8"), flags=re.DOTALL)
TEAM = re.sub(
    r"dashboards:\n.*?(?=alerting:)", "dashboards:\n  team: {path: team.json, owner: infra}\n\n", TEXT, flags=re.DOTALL
)


def compiled(folder: Path, page: dict[str, Any] | str) -> tuple[Compiled | None, Log]:
    (folder / "spec.yaml").write_text(TEAM, "utf-8")
    (folder / "team.json").write_text(page if isinstance(page, str) else json.dumps(page), "utf-8")
    log = Log()
    return compile_spec(str(folder / "spec.yaml"), log, {}), log


def emitted(folder: Path, page: dict[str, Any]) -> dict[str, Any]:
    """The dashboard as Grafana reads it."""
    made, log = compiled(folder, page)
    assert made is not None, log.sorted()
    (text,) = (one.text for one in made.artifacts if one.path.endswith("/own-team.json"))
    found: dict[str, Any] = json.loads(text)
    return found


def page(*shown: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"title": "Team", "schemaVersion": 39, "panels": list(shown), **more}


def panel(expr: str = "up == 0", **more: Any) -> dict[str, Any]:
    return {"type": "timeseries", "title": "Up", "targets": [{"expr": expr}], **more}


def told(folder: Path, expr: str, **more: Any) -> list[tuple[str, str]]:
    """The codes, and what stands at their places."""
    variables = {"list": [{"type": "textbox", "name": name} for name in ("node", "n")]}
    written = page(panel(expr), **{"templating": variables, **more})
    _, log = compiled(folder, json.dumps(written, indent=1, ensure_ascii=False))
    lines = (folder / "team.json").read_text("utf-8").split("\n")
    return [
        (
            one.code,
            lines[one.span.line - 1][one.span.column - 1 : one.span.end_column - 1]
            if one.span.path == "team.json"
            else "",
        )
        for one in log.sorted()
    ]


def table(*exprs: str, steps: list[Any] | None = None, url: str = "") -> dict[str, Any]:
    """A table of these queries, with a data link."""
    return {
        "type": "table",
        "title": "Table",
        "targets": [{"expr": expr, "format": "table"} for expr in exprs],
        "transformations": steps or [],
        "fieldConfig": {"defaults": {"links": [{"title": "on", "url": url}]}, "overrides": []},
    }


def graph(*exprs: str, legend: str = "", url: str = "") -> dict[str, Any]:
    """A graph of these queries, with a legend and a data link."""
    targets = [{"expr": expr, "legendFormat": legend} for expr in exprs]
    links = {"defaults": {"links": [{"title": "on", "url": url}]}, "overrides": []}
    return {"type": "timeseries", "title": "Graph", "targets": targets, "fieldConfig": links}


def understood(query: str) -> Expr | None:
    """The query as it can be read."""
    for made in fillings(query):
        try:
            return parse(made.text)
        except PromqlError:
            continue
    return None

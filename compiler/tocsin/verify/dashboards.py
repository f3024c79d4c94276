"""Grafana's own structure of a dashboard, as JSON Schema: every dashboard is judged before Grafana sees it."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log


def judge_dashboards(files: Mapping[str, Artifact], log: Log) -> None:
    """The dashboard against the schema, and what a schema cannot say: unique ids, a uid that Grafana takes."""
    for path, artifact in files.items():
        if path.startswith("grafana/dashboards/"):
            for problem in problems(json.loads(artifact.text)):
                hint = "please report this with the spec"
                log.error("VFY106", f"Grafana would refuse {path}: {problem}", artifact.origin(1), hint)


def problems(dashboard: dict[str, Any]) -> Iterator[str]:
    """Everything that is wrong with a dashboard, in words."""
    for error in sorted(_validator("dashboard").iter_errors(dashboard), key=lambda e: list(map(str, e.path))):
        yield f"{'/'.join(map(str, error.path))}: {error.message[:200]}"
    panels = [panel for panel in dashboard.get("panels", []) if isinstance(panel, dict)]
    for panel in panels:
        for part, value in (("Options", panel.get("options")), ("FieldConfig", _custom(panel))):
            kind = str(panel.get("type", ""))
            if value is not None and part in _schema(kind).get("definitions", {}):
                for error in _validator(kind, part).iter_errors(value):
                    where = "/".join(map(str, error.path))
                    yield f"panel '{panel.get('title')}' {part} {where}: {error.message[:200]}"
    ids = [panel.get("id") for panel in panels]
    if len(set(ids)) < len(ids) or not all(isinstance(id_, int) and id_ > 0 for id_ in ids):
        yield "panel ids are not unique numbers above 0"
    for panel in panels:
        if not _schema(str(panel.get("type", ""))):
            yield f"panel '{panel.get('title')}': the type '{panel.get('type')}' was never verified"
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", str(dashboard.get("uid", ""))):
        yield "the uid is not of 1 to 40 letters, digits, `-` and `_`"


def _custom(panel: dict[str, Any]) -> Any:
    return panel.get("fieldConfig", {}).get("defaults", {}).get("custom")


@cache
def _schema(name: str) -> dict[str, Any]:
    path = Path(__file__).with_name("grafana") / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


@cache
def _validator(name: str, part: str = "") -> Any:
    from jsonschema import Draft7Validator  # 75 ms that only a build pays

    schema = _schema(name)
    return Draft7Validator({**schema, "$ref": f"#/definitions/{part}"} if part else schema)

"""dcgm-exporter's own rules for a counters file: what breaks one keeps the exporter from starting."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log

TYPES = ("gauge", "counter", "histogram", "summary", "label")


def judge_counters(files: Mapping[str, Artifact], log: Log) -> None:
    """Three columns a line, a known type, no field twice."""
    for path, artifact in files.items():
        if path.startswith("exporters/dcgm/"):
            _judge(artifact, log)


def _judge(artifact: Artifact, log: Log) -> None:
    seen: set[str] = set()
    for number, line in enumerate(artifact.text.splitlines(), 1):
        wrong = "" if line.startswith("#") else _mistake(line, seen)
        if wrong:
            what = f"dcgm-exporter would refuse {artifact.path}, line {number}: {wrong}"
            log.error("VFY107", what, artifact.origin(number), "please report this with the spec")


def _mistake(line: str, seen: set[str]) -> str:
    """What is wrong with a line in a few words; nothing for a good one, whose field is then `seen`."""
    try:
        columns = next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        return str(error)
    if len(columns) != 3:
        return f"{len(columns)} columns, not 3"
    field, type_, _ = columns
    if type_ not in TYPES:
        return f"the type '{type_}'"
    if field in seen:
        return f"{field} a second time"
    seen.add(field)
    return ""

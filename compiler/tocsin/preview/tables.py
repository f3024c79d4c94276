"""Tables: answers become rows, and of their fields those stay that the panel's transformations keep, in that order.

https://grafana.com/docs/grafana/latest/panels-visualizations/query-transform-data/transform-data/ : joinByField,
filterFieldsByName and organize are what is emitted; a panel with another one is told to be not drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.preview.links import links
from tocsin.preview.prometheus import finite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.preview.prometheus import Series

    Row = dict[str, Any]

KNOWN = {"joinByField", "filterFieldsByName", "organize"}
_LONGEST = 100  # rows of a table in the page


def table(panel: Mapping[str, Any], answers: Sequence[Sequence[Series]]) -> dict[str, Any]:
    """Columns by their headings, rows of cells, and how many rows the page leaves out."""
    steps = {step["id"]: step["options"] for step in panel.get("transformations", ())}
    rows = _joined(answers, steps["joinByField"]["byField"]) if "joinByField" in steps else _plain(answers)
    names = _columns(steps, rows)
    headings = {name: steps.get("organize", {}).get("renameByName", {}).get(name, name) for name in names}
    kept = rows[:_LONGEST]
    return {
        "columns": list(headings.values()),
        "rows": [
            {"cells": [row.get(name) for name in names], "links": list(links(panel, _texts(row, headings)))}
            for row in kept
        ],
        "more": len(rows) - len(kept),
    }


def _plain(answers: Sequence[Sequence[Series]]) -> list[Row]:
    """The rows of the first query: Grafana shows one frame of several that nothing joins."""
    return [_row(series, "Value") for answer in answers[:1] for series in answer]


def _joined(answers: Sequence[Sequence[Series]], by: str) -> list[Row]:
    """A row for each value of the field, with all that any query says of it."""
    rows: dict[str, Row] = {}
    for index, answer in enumerate(answers):
        for series in answer:
            if key := series.labels.get(by):
                row = _row(series, f"Value #{chr(ord('A') + index)}")
                rows[key] = {**row, **rows.get(key, {})}
    return list(rows.values())


def _row(series: Series, value: str) -> Row:
    return {**series.labels, value: finite(series.samples[-1][1])}


def _columns(steps: Mapping[str, Any], rows: Sequence[Row]) -> list[str]:
    """Of the fields that are there, those that stay, in their order."""
    there = dict.fromkeys(name for row in rows for name in row)
    wanted = steps.get("filterFieldsByName", {}).get("include", {}).get("names", [*there])
    order = steps.get("organize", {}).get("indexByName", {})
    return sorted((name for name in wanted if not rows or name in there), key=lambda name: order.get(name, len(order)))


def _texts(row: Row, headings: Mapping[str, str]) -> dict[str, str]:
    """What a link sees of a row: its cells by their headings."""
    return {heading: str(row[name]) for name, heading in headings.items() if row.get(name) is not None}

"""What is wrong with a dashboard that no upgrade puts right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.dashboard.form import NEWEST, panels, titled

if TYPE_CHECKING:
    from collections.abc import Iterator

    Model = dict[str, Any]

# What the parts of a dashboard are, as far as they are read here: a type, a list of parts, or a part by its own name.
_PARTS: dict[str, dict[str, Any]] = {
    "dashboard": {
        "title": str,
        "description": str,
        "uid": str,
        "schemaVersion": int,
        "tags": [str],
        "links": ["link"],
        "panels": ["panel"],
        "rows": ["row"],
        "templating": "variables",
        "annotations": "annotations",
        "timepicker": "timepicker",
        "__elements": "elements",
    },
    "element": {"model": "panel"},
    "row": {"title": str, "panels": ["panel"]},
    "panel": {
        "type": str,
        "title": str,
        "description": str,
        "id": int,
        "span": float,
        "gridPos": "place",
        "targets": ["query"],
        "panels": ["panel"],
        "links": ["link"],
        "fieldConfig": "fieldConfig",
    },
    "query": {"expr": str, "refId": str},
    "fieldConfig": {"defaults": "defaults"},
    "defaults": {"thresholds": "thresholds", "links": ["link"]},
    "thresholds": {"steps": ["step"]},
    "variables": {"list": ["variable"]},
    "variable": {"type": str, "name": str, "current": "choice"},
    "annotations": {"list": ["annotation"]},
    "annotation": {"name": str, "expr": str},
    "place": {"x": float, "y": float, "w": float, "h": float},
    "link": {},
    "step": {},
    "choice": {},
    "timepicker": {},
}
_HINT = "Grafana would not read the dashboard: let its generator write it anew"
_CALLED = {str: "a text", int: "a whole number", float: "a number"}


class Problem(NamedTuple):
    """Why a dashboard cannot be shown; `text` is the part of it that says so, which of JSON knows its place."""

    message: str
    hint: str
    text: str = ""


def problems(model: Model) -> Iterator[Problem]:
    """What no upgrade puts right."""
    if "apiVersion" in model or "elements" in model or isinstance(model.get("spec"), dict):
        hint = "name the file that holds the dashboard itself, as Grafana exports it"
        yield Problem(f"this is a resource of the kind {model.get('kind')}, and no dashboard of Grafana's", hint)
        return
    misshapen = list(_misshapen(model, "dashboard", "the dashboard"))
    if misshapen:
        yield from misshapen
        return
    version = model.get("schemaVersion") or 0
    if version > NEWEST:
        yield Problem(f"the schema version {version} is not known", f"{NEWEST} is the last one of the classic form")
    if not (model.get("title") or "").strip():
        yield Problem("the dashboard has no title", "give it one: `title` is what people look for")
    elements = model.get("__elements")
    for uid, element in elements.items() if isinstance(elements, dict) else ():
        if ((element or {}).get("model") or {}).get("panels"):
            what = f"the panel '{element.get('name') or uid}' of the library holds panels"
            yield Problem(what, "Grafana has none that do: take it out, and put its panels into the dashboard")
    shown = list(panels(model))
    if not shown:
        yield Problem("the dashboard has no panels", "a page that shows nothing is in the way")
    for panel in shown:
        if not panel.get("type") and not panel.get("libraryPanel"):
            what = f"the panel '{titled(panel)}' has no type"
            yield Problem(what, "say what shows it: `timeseries`, `stat`, `table` or another panel of Grafana's")


def _misshapen(value: Any, part: Any, where: str) -> Iterator[Problem]:
    """What is of another type than the part that it is; null is what is not there."""
    if value is None or (part == "elements" and isinstance(value, list)):  # as Grafana 8 wrote it
        return
    if isinstance(part, list):
        if not isinstance(value, list):
            yield Problem(f"{where} is not a list", _HINT)
            return
        for number, item in enumerate(value, 1):
            if item is None:
                yield Problem(f"item {number} of {where} is nothing", _HINT)
            yield from _misshapen(item, part[0], f"item {number} of {where}")
    elif isinstance(part, str):
        if not isinstance(value, dict):
            yield Problem(f"{where} is not an object", _HINT)
            return
        parts = dict.fromkeys(value, "element") if part == "elements" else _PARTS[part]
        for key, inner in parts.items():
            yield from _misshapen(value.get(key), inner, f"`{key}` of {where}" if part != "dashboard" else f"`{key}`")
    elif isinstance(value, bool) or not isinstance(value, (int, float) if part is float else part):
        yield Problem(f"{where} is not {_CALLED[part]}", _HINT)

"""What Grafana writes around a dashboard, or in place of one: the classic form of it.

Grafana 13 saves the new form, version 2, and loads no such file (grafana#126641, 13.0.2). Of its layouts the classic
form has one, the grid: tabs become rows, and what Grafana lays out by itself stands side by side. Source: the schema
of `dashboard.grafana.app/v2beta1`, and `v2alpha1` where that says a thing otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.dashboard.form import NEWEST, dicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    Model = dict[str, Any]

_COLUMNS, _HEIGHT = 3, 8
_VARIABLES = {
    "QueryVariable": "query",
    "CustomVariable": "custom",
    "DatasourceVariable": "datasource",
    "IntervalVariable": "interval",
    "TextVariable": "textbox",
    "ConstantVariable": "constant",
    "AdhocVariable": "adhoc",
    "GroupByVariable": "groupby",
    "SwitchVariable": "switch",
}
# The words of the new form, in the order of the numbers of the classic one.
_WORDS = {
    "hide": "dontHide hideLabel hideVariable inControlsMenu".split(),
    "refresh": "never onDashboardLoad onTimeRangeChanged".split(),
    "sort": (
        "disabled alphabeticalAsc alphabeticalDesc numericalAsc numericalDesc alphabeticalCaseInsensitiveAsc "
        "alphabeticalCaseInsensitiveDesc naturalAsc naturalDesc"
    ).split(),
}
_SYNC = "Off Crosshair Tooltip".split()


def unwrapped(model: Model) -> Model:
    """The dashboard in what Grafana's interfaces answer: `{dashboard, meta}`, or the `spec` of a resource."""
    inner = model.get("dashboard")
    if isinstance(inner, dict) and "meta" in model and "panels" not in model:
        return inner
    is_resource = str(model.get("apiVersion")).startswith("dashboard.grafana.app/")
    spec = model.get("spec") if is_resource else model
    if not isinstance(spec, dict) or (is_resource and model.get("kind") != "Dashboard"):
        return model
    return _classic(spec) if isinstance(spec.get("elements"), dict) and "panels" not in spec else spec


def _classic(spec: Model) -> Model:
    times = _dict(spec.get("timeSettings"))
    made: Model = {
        key: spec[key] for key in ("title", "description", "tags", "editable", "liveNow", "preload") if key in spec
    }
    made["links"] = dicts(spec.get("links"))
    made["graphTooltip"] = _number(_SYNC, spec.get("cursorSync"))
    made["time"] = {key: times[key] for key in ("from", "to") if key in times}
    made |= {key: times[key] for key in ("timezone", "fiscalYearStartMonth", "weekStart") if key in times}
    if isinstance(times.get("autoRefresh"), str):
        made["refresh"] = times["autoRefresh"]
    made["annotations"] = {"list": [_annotation(_dict(one.get("spec"))) for one in dicts(spec.get("annotations"))]}
    made["templating"] = {"list": [_variable(one) for one in dicts(spec.get("variables"))]}
    made["panels"] = list(_laid_out(_dict(spec.get("layout")), _dict(spec.get("elements")), [0]))
    return {**made, "schemaVersion": NEWEST}


def _laid_out(layout: Model, elements: Model, below: list[int]) -> Iterator[Model]:
    """The panels of a layout; `below` holds the first free line."""
    spec = _dict(layout.get("spec"))
    for row in (*dicts(spec.get("rows")), *dicts(spec.get("tabs"))):
        yield from _row(_dict(row.get("spec")), _dict(_dict(row.get("spec")).get("layout")), elements, below)
    top, column = below[0], 0
    for item in dicts(spec.get("items")):
        own = _dict(item.get("spec"))
        if "elements" in own:  # a row of v2alpha1
            inner = {"spec": {"items": own["elements"]}}
            yield from _row({**own, "collapse": own.get("collapsed")}, inner, elements, below)
            continue
        width, height = _length(own.get("width"), 24 // _COLUMNS), _length(own.get("height"), _HEIGHT)
        x, y = column % _COLUMNS * width, column // _COLUMNS * height
        x, y = _length(own.get("x"), x), top + _length(own.get("y"), y)
        column += 1
        below[0] = max(below[0], y + height)
        element = elements.get(str(_dict(own.get("element")).get("name")))
        if isinstance(element, dict):
            yield {**_panel(element), "gridPos": {"x": x, "y": y, "w": width, "h": height}, **_repeat(own)}


def _row(spec: Model, layout: Model, elements: Model, below: list[int]) -> Iterator[Model]:
    row: Model = {
        "type": "row",
        "title": spec.get("title") or "",
        "collapsed": spec.get("collapse") is True,
        "panels": [],
    }
    row |= {"gridPos": {"x": 0, "y": below[0], "w": 24, "h": 1}, **_repeat(spec)}
    below[0] += 1
    inner = list(_laid_out(layout, elements, below))
    if row["collapsed"] and not any(one.get("type") == "row" for one in inner):
        yield {**row, "panels": inner}
    else:
        yield {**row, "collapsed": False}
        yield from inner


def _repeat(spec: Model) -> Model:
    repeat = _dict(spec.get("repeat"))
    names = {"value": "repeat", "direction": "repeatDirection", "maxPerRow": "maxPerRow"}
    return {name: repeat[key] for key, name in names.items() if key in repeat}


def _panel(element: Model) -> Model:
    spec = _dict(element.get("spec"))
    made: Model = {
        key: spec[key] for key in ("id", "title", "description", "transparent") if spec.get(key) not in (None, "")
    }
    made["links"] = dicts(spec.get("links"))
    if element.get("kind") == "LibraryPanel":
        return {**made, "libraryPanel": spec.get("libraryPanel")}
    data, shown = _dict(_dict(spec.get("data")).get("spec")), _dict(spec.get("vizConfig"))
    config = _dict(shown.get("spec"))
    kind, version = shown.get("group", shown.get("kind")), shown.get("version", config.get("pluginVersion"))
    made |= {"type": kind, **({"pluginVersion": version} if version else {})}
    made |= {"options": _dict(config.get("options")), "fieldConfig": _dict(config.get("fieldConfig"))}
    made["targets"] = [_target(_dict(one.get("spec"))) for one in dicts(data.get("queries"))]
    if sources := {str(one.get("datasource")) for one in made["targets"]}:
        mixed = {"type": "datasource", "uid": "-- Mixed --"}
        made["datasource"] = made["targets"][0].get("datasource") if len(sources) == 1 else mixed
    steps = [(one.get("group", one.get("kind")), _dict(one.get("spec"))) for one in dicts(data.get("transformations"))]
    made["transformations"] = [{**step, "id": step.get("id", id_)} for id_, step in steps]
    return {**made, **_dict(data.get("queryOptions"))}


def _target(spec: Model) -> Model:
    made = {**_asked(spec), "refId": spec.get("refId") or ""}
    return {**made, "hide": True} if spec.get("hidden") is True else made


def _asked(spec: Model) -> Model:
    """The query of a panel, a variable or an annotation, with its data source."""
    query = _dict(spec.get("query"))
    kind = query.get("group", query.get("kind"))
    uid = _dict(query.get("datasource")).get("name") or _dict(spec.get("datasource")).get("uid")
    source = {key: value for key, value in (("type", kind), ("uid", uid)) if isinstance(value, str) and value}
    return {**_dict(query.get("spec")), **({"datasource": source} if source else {})}


def _variable(one: Model) -> Model:
    spec, kind = _dict(one.get("spec")), _VARIABLES.get(str(one.get("kind")), str(one.get("kind")))
    made = {**spec, "type": kind}
    made |= {key: _number(words, spec[key]) for key, words in _WORDS.items() if isinstance(spec.get(key), str)}
    if kind == "query":
        asked = _asked(spec)
        made |= {"datasource": asked.pop("datasource", None), "query": asked.get("__legacyStringValue", asked)}
    elif kind == "datasource":
        made["query"] = made.pop("pluginId", "")
    elif kind in ("adhoc", "groupby"):
        name = _dict(spec.get("datasource")).get("name") or _dict(spec.get("datasource")).get("uid")
        made["datasource"] = {"type": one.get("group", "prometheus"), "uid": name or ""}
    return made


def _annotation(spec: Model) -> Model:
    kept: Model = {
        key: spec[key] for key in ("name", "enable", "hide", "iconColor", "builtIn", "filter") if key in spec
    }
    asked = _asked(spec)
    if spec.get("builtIn"):
        return {**kept, "builtIn": 1, "type": "dashboard", "datasource": {"type": "grafana", "uid": "-- Grafana --"}}
    source = asked.pop("datasource", None)
    return {**_dict(spec.get("legacyOptions")), **asked, **kept, "datasource": source, "target": asked}


def _length(value: Any, else_: int) -> int:
    return value if isinstance(value, int) else else_


def _number(words: list[str], word: Any) -> int:
    return words.index(word) if word in words else 0


def _dict(value: Any) -> Model:
    return value if isinstance(value, dict) else {}

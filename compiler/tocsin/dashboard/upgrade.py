"""A dashboard as its generator wrote it in, one that Grafana 10 to 13 loads from a file out.

grafanalib 0.7.1, the last release, writes schema version 12: one below the oldest that Grafana still migrates, with
nulls and fields that Grafana's schema does not have, data sources as names, empty refIds, and the text "null" as the
value of a base threshold. Those are put right here, as are the rows of before version 16 and what an export for sharing
adds. Panels of a plugin that Grafana no longer has (`graph`, `singlestat`) are refused by name: which options their
successors need nobody but their author knows. What is left is judged by Grafana's own schema in every build.
"""

from __future__ import annotations

from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from tocsin.dashboard.form import BORROWED, BUILT_IN, LINK, SCHEMA, SOURCE, borrows, listed, targets
from tocsin.jsontext import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    Model = dict[str, Any]

_LEFT_OVER = {
    "dashboard": (
        "__elements __inputs __requires gnetId hideControls id iteration rows sharedCrosshair style version"
    ).split(),
    "panel": "color columns editable error fontSize height mappings minSpan sharedCrosshair span".split(),
    "target": "intervalFactor metric query step target".split(),
    "step": "index line op yaxis".split(),
    "variable": "tagValuesQuery tags tagsQuery useTags".split(),
    "timepicker": "nowDelay status collapse enable notice now time_options".split(),
}
_COLUMNS, _HEIGHT = 24, 8


def upgraded(model: Model) -> Model:
    """The dashboard in the form of schema version 39 or, where it is newer, its own."""
    page = _without(_whole(model), "dashboard")
    shown = [_panel(panel) for panel in _laid_out(model)]
    every = list(_deep(shown))
    known = {panel["id"] for panel in every if panel.get("id", 0) > 0}
    if len(known) < len(every):
        for id_, panel in enumerate(every, 1):
            panel["id"] = id_
    page["panels"] = shown
    page["schemaVersion"] = max(SCHEMA, page.get("schemaVersion", 0))
    variables = [_variable(one) for one in listed(page, "templating") if one.get("type") != "datasource"]
    own = {"type": "datasource", "name": "datasource", "label": "Data Source", "query": "prometheus", "hide": 0}
    page["templating"] = {"list": [own, *variables]}
    page["annotations"] = {"list": [_sourced(one) for one in listed(page, "annotations")]}
    if isinstance(page.get("timepicker"), dict):
        page["timepicker"] = _without(page["timepicker"], "timepicker")
    if isinstance(page.get("links"), list):
        page["links"] = _links(page["links"])
    return page


def _links(links: list[Any]) -> list[Any]:
    return [{**LINK, **link} if isinstance(link, dict) else link for link in links]


def _whole(value: Any) -> Any:
    """A value without the nulls of objects, but for that of a base threshold, and with plain texts."""
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items() if item is not None or key == "value"}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return str(value) if isinstance(value, Text) else value


def _without(part: Model, kind: str) -> Model:
    return {key: value for key, value in part.items() if key not in _LEFT_OVER[kind]}


def _laid_out(model: Model) -> Iterator[Model]:
    """The panels with their places: their own, or one behind the other; rows of old are lines of up to 12 columns."""
    x = y = tallest = 0
    rows = [row for row in model.get("rows") or () if isinstance(row, dict)]
    lines = [(panel, _COLUMNS // 2, _HEIGHT) for panel in model.get("panels") or () if isinstance(panel, dict)]
    lines += [(panel, 2 * int(panel.get("span") or 12), _HEIGHT) for row in rows for panel in row.get("panels") or ()]
    for panel, width, height in lines:
        if isinstance(panel.get("gridPos"), dict):
            yield _whole(panel)
            continue
        if x + width > _COLUMNS:
            x, y, tallest = 0, y + tallest, 0
        yield {**_whole(panel), "gridPos": {"x": x, "y": y, "w": min(width, _COLUMNS), "h": height}}
        x, tallest = x + width, max(tallest, height)


def _deep(shown: list[Model]) -> Iterator[Model]:
    for panel in shown:
        yield panel
        yield from panel.get("panels", ())


def _panel(panel: Model) -> Model:
    made = _without(_sourced(panel), "panel")
    if isinstance(made.get("links"), list):
        made["links"] = _links(made["links"])
    field = made.get("fieldConfig")
    if isinstance(field, dict):
        made["fieldConfig"] = _fields(field)
    if panel.get("type") == "row":
        inner = [_panel(one) for one in panel.get("panels", ()) if isinstance(one, dict)]
        return {"collapsed": False, **made, "panels": inner}
    if panel.get("type") == "text":
        return {key: value for key, value in made.items() if key not in ("targets", "datasource")}
    made["targets"] = _targets(panel)
    return made


def _fields(field: Model) -> Model:
    """The settings of a panel's fields: thresholds begin with a base, links have all that they need."""
    defaults = dict(field.get("defaults") or {})
    thresholds = defaults.get("thresholds")
    if isinstance(thresholds, dict):
        steps = [_step(step) for step in thresholds.get("steps") or () if isinstance(step, dict)]
        defaults["thresholds"] = {**thresholds, "steps": steps or [{"color": "green", "value": None}]}
    if isinstance(defaults.get("links"), list):
        defaults["links"] = _links(defaults["links"])
    return {"overrides": [], **field, "defaults": defaults}


def _step(step: Model) -> Model:
    value = step.get("value")
    return {**_without(step, "step"), "value": None if value in (None, "null", "") else value}


def _targets(panel: Model) -> list[Model]:
    """Queries of Prometheus, or of another panel, each under a letter of its own."""
    asked = targets(panel)
    names = [str(target.get("refId") or "") for target in asked]
    if not all(names) or len(set(names)) < len(names):
        names = [ascii_uppercase[index % 26] * (index // 26 + 1) for index in range(len(asked))]
    return [
        {
            **_without(_sourced({"datasource": BORROWED if borrows(panel, target) else None, **target}), "target"),
            "refId": name,
        }
        for name, target in zip(names, asked, strict=True)
    ]


def _variable(variable: Model) -> Model:
    made = _without(variable, "variable")
    if made.get("type") in ("query", "adhoc"):
        made = _sourced({"datasource": None, **made})
    current = made.get("current")
    if isinstance(current, dict):
        chosen = {key: current[key] for key in ("text", "value") if current.get(key) is not None}
        made["current"] = chosen
        if len(chosen) < 2:
            del made["current"]
    return made


def _sourced(part: Model) -> Model:
    """A part with the data source of the dashboard in place of the one that it names."""
    if "datasource" not in part:
        return dict(part)
    source = part["datasource"]
    uid = source.get("uid") if isinstance(source, dict) else source
    if uid in BUILT_IN:
        return {**part, "datasource": {"type": "grafana" if uid == "grafana" else "datasource", "uid": uid}}
    return {**part, "datasource": dict(SOURCE)}

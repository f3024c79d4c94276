"""A dashboard as its generator wrote it in, one that Grafana 10 to 13 loads from a file out.

grafanalib 0.7.1, the last release, writes schema version 12: one below the oldest that Grafana still migrates, with
nulls and fields that Grafana's schema does not have, data sources as names, empty refIds, and the text "null" as the
value of a base threshold. Those are put right here, as are the rows of before version 16 and what an export for sharing
adds: its data sources become variables, its constants what they are, its library panels are written out. Panels that
Grafana no longer has (`graph`, `singlestat`) stay as they are written: Grafana makes their successors of them. What is
left is judged by Grafana's own schema in every build.
"""

from __future__ import annotations

import re
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from tocsin.dashboard.form import LINK, SCHEMA, SOURCE, dicts, listed, targets, written_out
from tocsin.dashboard.kinds import CORE, WITHOUT_QUERIES
from tocsin.dashboard.sources import BORROWED, EXPRESSION, MIXED, OWN, answers, is_strange, named_sources, other
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
_MIGRATED = 16  # the first without rows: what is older is put right here, what is newer by Grafana, step by step
_COLUMNS, _HEIGHT = 24, 8


def upgraded(model: Model) -> Model:
    """The dashboard in the form of schema version 39, or of its own where Grafana brings it up to that."""
    model = _with_own_name(_with_constants(model))
    named = named_sources(model)
    page = _without(_whole(model), "dashboard")
    shown = [_panel(_whole(panel), named, model) for panel in _laid_out(model)]
    every = list(_deep(shown))
    known = {panel["id"] for panel in every if panel.get("id", 0) > 0}
    if len(known) < len(every):
        for id_, panel in enumerate(every, 1):
            panel["id"] = id_
    page["panels"] = shown
    if page.get("schemaVersion", 0) < _MIGRATED:
        page["schemaVersion"] = SCHEMA
    own = {"type": "datasource", "name": "datasource", "label": "Data Source", "query": "prometheus", "hide": 0}
    page["templating"] = {"list": [own, *_variables(page, named)]}
    if page.get("refresh") is False:  # as before Grafana 9: never
        page["refresh"] = ""
    page["annotations"] = {"list": [_sourced(one, named) for one in listed(page, "annotations")]}
    if isinstance(page.get("timepicker"), dict):
        page["timepicker"] = _without(page["timepicker"], "timepicker")
    if isinstance(page.get("links"), list):
        page["links"] = _links(page["links"])
    return page


def _with_constants(model: Model) -> Model:
    """The dashboard with the constants of an export for sharing in the places that wait for them."""
    inputs = [one for one in dicts(model.get("__inputs")) if one.get("type") == "constant"]
    values = {f"${{{one.get('name')}}}": one["value"] for one in inputs if isinstance(one.get("value"), str)}
    return _replaced(model, values) if values else model


def _with_own_name(model: Model) -> Model:
    """The dashboard with another name for what is called `datasource` and is not Prometheus: that is ours."""
    kind = named_sources(model).get("datasource", "")
    if not is_strange(other({"type": kind}, {})):
        return model
    name = f"{re.sub(r'[^a-z]+', '_', kind.lower())}_source"
    written = {f"${{datasource{end}": f"${{{name}{end}" for end in "}:"} | {"$datasource": f"${name}"}
    made = _replaced(model, written)
    variables = [
        {**one, "name": name} if one.get("name") == "datasource" else one for one in listed(made, "templating")
    ]
    return {**made, "templating": {"list": variables}}


def _replaced(model: Model, texts: dict[str, str]) -> Model:
    """A dashboard with some texts in place of others, wherever they stand in it, and not in what they stand for."""
    pattern = re.compile("|".join(map(re.escape, texts)))

    def of(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: of(item) for key, item in value.items()}
        if isinstance(value, list):
            return [of(item) for item in value]
        return pattern.sub(lambda found: texts[found[0]], value) if isinstance(value, str) and "$" in value else value

    return {key: of(item) for key, item in model.items()}


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
            place = {key: round(at) for key, at in panel["gridPos"].items() if isinstance(at, int | float)}
            yield {**panel, "gridPos": {**panel["gridPos"], **place}}
            continue
        if x + width > _COLUMNS:
            x, y, tallest = 0, y + tallest, 0
        yield {**panel, "gridPos": {"x": x, "y": y, "w": min(width, _COLUMNS), "h": height}}
        x, tallest = x + width, max(tallest, height)


def _deep(shown: list[Model]) -> Iterator[Model]:
    for panel in shown:
        yield panel
        yield from _deep(panel.get("panels", []))


def _panel(panel: Model, named: dict[str, str], model: Model) -> Model:
    panel = _whole(written_out(model, panel))
    is_known = panel.get("type") in CORE
    made = _without(_sourced(panel, named), "panel") if is_known else _sourced(panel, named)
    if isinstance(made.get("links"), list):
        made["links"] = _links(made["links"])
    field = made.get("fieldConfig")
    if isinstance(field, dict):
        made["fieldConfig"] = _fields(field)
    if panel.get("type") == "row":
        inner = [_panel(one, named, model) for one in panel.get("panels", ()) if isinstance(one, dict)]
        made = {key: value for key, value in made.items() if key not in ("targets", "fieldConfig", "options")}
        return {"collapsed": False, **made, "panels": inner}
    if panel.get("type") == "text":
        return {key: value for key, value in made.items() if key not in ("targets", "datasource")}
    if "targets" in panel or panel.get("type") not in WITHOUT_QUERIES | {None}:
        made["targets"] = _targets(panel, named)
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


def _targets(panel: Model, named: dict[str, str]) -> list[Model]:
    """The queries, each under a letter of its own, and with who answers it."""
    asked = targets(panel)
    names = [str(target.get("refId") or "") for target in asked]
    if not all(names) or len(set(names)) < len(names):
        names = [ascii_uppercase[index % 26] * (index // 26 + 1) for index in range(len(asked))]
    return [{**_target(panel, target, named), "refId": name} for name, target in zip(names, asked, strict=True)]


def _target(panel: Model, target: Model, named: dict[str, str]) -> Model:
    source = target.get("datasource", panel.get("datasource"))
    kind = answers(panel, target, named)
    if not kind:
        return {"datasource": None, **_without(target, "target")} | {"datasource": dict(SOURCE)}
    if other(source, named):
        return {**target, "datasource": _source(source, named)}
    return dict(target)  # of a type that is not written: that of its own or of the panel's name


def _variables(page: Model, named: dict[str, str]) -> list[Model]:
    """Those of the dashboard; what stands for a data source does so only where that is not Prometheus."""
    every = [_variable(one, named) for one in listed(page, "templating")]
    found = [one for one in every if one.get("type") != "datasource" or is_strange(other(f"${one.get('name')}", named))]
    written = {one.get("name") for one in every}
    inputs = [name for name in named if name not in written and is_strange(other(f"${name}", named))]
    return [*({"type": "datasource", "name": name, "query": named[name]} for name in inputs), *found]


def _variable(variable: Model, named: dict[str, str]) -> Model:
    made = _without(variable, "variable")
    if made.get("type") in ("query", "adhoc"):
        made = _sourced({"datasource": None, **made}, named)
    current = made.get("current")
    if isinstance(current, dict):
        chosen = {key: current[key] for key in ("text", "value") if current.get(key) is not None}
        made["current"] = chosen
        if len(chosen) < 2:
            del made["current"]
    return made


def _sourced(part: Model, named: dict[str, str]) -> Model:
    """A part with the data source of the dashboard in place of a Prometheus that it names."""
    return {**part, "datasource": _source(part["datasource"], named)} if "datasource" in part else dict(part)


def _source(source: Any, named: dict[str, str]) -> Model:
    """Prometheus is that of the dashboard; who else answers stays who it is."""
    uid = source.get("uid") if isinstance(source, dict) else source
    if uid in (BORROWED, MIXED, *OWN):
        return {"type": "grafana" if uid == "grafana" else "datasource", "uid": uid}
    kind = other(source, named)
    if not kind:
        return dict(SOURCE)
    if kind == EXPRESSION:
        return {"type": EXPRESSION, "uid": EXPRESSION}
    return {"type": kind, "uid": uid} if isinstance(uid, str) and uid else {"type": kind}

"""Grafana's dashboards and provisioning files.

grafanalib is not used here: its 0.7.1 prints schema version 12, which Grafana no longer migrates, data sources as
strings, rows and Angular panels, and fails Grafana's own JSON Schema with 25 errors on a small dashboard. What a
classic dashboard needs is little; it stands below and is judged by that schema in the tests and in every build.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tocsin.artifact import Artifact
from tocsin.emit.text import Lines, scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.plan import Dashboard, Panel, Plan, Query, Variable

SCHEMA = 39  # loaded from files by Grafana 10 to 13; 42 is the last of the classic form
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_DATASOURCE_UID = "tocsin-prometheus"


def grafana(plan: Plan) -> Iterator[Artifact]:
    """Every dashboard, and the provisioning that loads them."""
    for dashboard in plan.dashboards:
        text = json.dumps(_dashboard(dashboard), indent=2, ensure_ascii=False) + "\n"
        yield Artifact(
            f"grafana/dashboards/{_slug(dashboard.folder)}/{dashboard.name}.json", text, ((1, dashboard.origin),)
        )
    yield _datasources(plan)
    yield _providers(plan)


def _slug(folder: str) -> str:
    return folder.lower().replace(" ", "-")


def _dashboard(dashboard: Dashboard) -> dict[str, Any]:
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.description,
        "tags": ["tocsin"],
        "schemaVersion": SCHEMA,
        "editable": False,
        "graphTooltip": 1,
        "time": {"from": f"now-{dashboard.range}", "to": "now"},
        "refresh": str(dashboard.refresh),
        "templating": {"list": [_source_variable(), *(_variable(variable) for variable in dashboard.variables)]},
        "annotations": {"list": [_alert_annotation()]},
        "panels": list(_panels(dashboard)),
    }


def _source_variable() -> dict[str, Any]:
    return {"type": "datasource", "name": "datasource", "label": "Data Source", "query": "prometheus", "hide": 0}


def _variable(variable: Variable) -> dict[str, Any]:
    return {
        "type": "query",
        "name": variable.name,
        "label": variable.label,
        "datasource": _SOURCE,
        "query": variable.query,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"text": "All", "value": "$__all"},
    }


def _alert_annotation() -> dict[str, Any]:
    return {
        "name": "Pages",
        "enable": True,
        "iconColor": "red",
        "datasource": _SOURCE,
        "expr": 'ALERTS{alertstate="firing", severity="page", cluster=~"$cluster"}',
        "titleFormat": "{{alertname}}",
        "textFormat": "{{owner}} {{node}}",
        "step": "60s",
    }


def _panels(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
    """Panels in reading order: left to right, then down by the tallest of the line."""
    x = y = tallest = 0
    for id_, panel in enumerate(dashboard.panels, 1):
        if x + panel.width > 24:
            x, y, tallest = 0, y + tallest, 0
        yield _panel(panel, id_, {"x": x, "y": y, "w": panel.width, "h": panel.height})
        x, tallest = x + panel.width, max(tallest, panel.height)


def _panel(panel: Panel, id_: int, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": id_,
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": _SOURCE,
        "gridPos": place,
        "targets": [_target(panel, index, query) for index, query in enumerate(panel.queries)],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": _OPTIONS[panel.kind],
        **({"transformations": _ALERT_TABLE} if panel.kind == "table" else {}),
    }


def _target(panel: Panel, index: int, query: Query) -> dict[str, Any]:
    return {
        "refId": chr(ord("A") + index),
        "datasource": _SOURCE,
        "expr": query.expr,
        "legendFormat": query.legend,
        "instant": query.instant,
        "range": not query.instant,
        "format": "table" if panel.kind == "table" else "time_series",
    }


def _defaults(panel: Panel) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit}
    if panel.minimum is not None:
        defaults["min"] = panel.minimum
    if panel.maximum is not None:
        defaults["max"] = panel.maximum
    if panel.steps:
        steps = [{"value": step.value, "color": step.color} for step in panel.steps]
        defaults["thresholds"] = {"mode": "absolute", "steps": steps}
    if panel.kind == "stat":
        defaults["color"] = {"mode": "thresholds"}
    elif panel.kind == "timeseries":
        defaults["color"] = {"mode": "palette-classic"}
        style = "line" if len(panel.steps) > 1 else "off"
        defaults["custom"] = {"drawStyle": "line", "fillOpacity": 10, "thresholdsStyle": {"mode": style}}
    return defaults


_OPTIONS: dict[str, dict[str, Any]] = {
    "stat": {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "background",
        "graphMode": "none",
        "justifyMode": "auto",
        "textMode": "auto",
        "wideLayout": True,
        "showPercentChange": False,
        "percentChangeColorMode": "standard",
        "orientation": "auto",
    },
    "timeseries": {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
    "table": {"showHeader": True, "frameIndex": 0},
}

# Of an alert's labels the ones that a person reads, in the order that they are asked for.
_ALERT_TABLE = [
    {
        "id": "organize",
        "options": {
            "excludeByName": {"Time": True, "Value": True, "__name__": True, "alertstate": True, "layer": True},
            "indexByName": {"severity": 0, "alertname": 1, "owner": 2, "cluster": 3, "node": 4, "gpu_uuid": 5},
            "renameByName": {},
        },
    }
]


def _datasources(plan: Plan) -> Artifact:
    lines = Lines("Generated by tocsin. Put it into Grafana's provisioning/datasources.")
    lines.at(plan.dashboards[0].origin)
    lines.add("apiVersion: 1")
    lines.add("datasources:")
    lines.add("- name: Prometheus")
    lines.add(f"  uid: {_DATASOURCE_UID}")
    lines.add("  type: prometheus")
    lines.add("  access: proxy")
    # Grafana expands $ in provisioning files; $$ is a plain one.
    lines.field("  ", "url", plan.datasource_url.replace("$", "$$"))
    lines.add("  isDefault: true")
    lines.add("  jsonData:")
    lines.add(f"    timeInterval: {plan.servers[0].interval}")
    return lines.artifact("grafana/provisioning/datasources/tocsin.yaml")


def _providers(plan: Plan) -> Artifact:
    lines = Lines("Generated by tocsin. Put it into Grafana's provisioning/dashboards, the JSON files below `path`.")
    lines.at(plan.dashboards[0].origin)
    lines.add("apiVersion: 1")
    lines.add("providers:")
    for folder in sorted({dashboard.folder for dashboard in plan.dashboards}):
        lines.add(f"- name: {scalar(f'{plan.factory}-{_slug(folder)}')}")
        lines.add(f"  folder: {scalar(folder)}")
        lines.add("  type: file")
        lines.add("  disableDeletion: true")
        lines.add("  allowUiUpdates: false")
        lines.add("  options:")
        lines.add(f"    path: /var/lib/grafana/dashboards/{plan.factory}/{_slug(folder)}")
    return lines.artifact("grafana/provisioning/dashboards/tocsin.yaml")

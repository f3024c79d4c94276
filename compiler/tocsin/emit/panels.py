"""The panels of Grafana's dashboards: their places, queries, fields and options, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.dashboard import LINK, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.plan.dashboards import Column, Dashboard, Link, Panel, Query

_ROWS_OF_A_PAGE = 40  # of states: what a screen holds
_FORMATS = {"table": "table", "heatmap": "heatmap"}


def panels(dashboard: Dashboard) -> Iterator[dict[str, Any]]:
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
        "datasource": SOURCE,
        "gridPos": place,
        "targets": [_target(panel, index, query) for index, query in enumerate(panel.queries)],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": list(_overrides(panel))},
        "options": _OPTIONS[panel.kind],
        **({"transformations": list(_transformations(panel))} if panel.columns else {}),
    }


def _target(panel: Panel, index: int, query: Query) -> dict[str, Any]:
    # A heatmap of several queries has a row for each, and its values are no buckets to be told apart.
    format_ = "time_series" if len(panel.queries) > 1 and panel.kind == "heatmap" else _FORMATS.get(panel.kind)
    return {
        "refId": chr(ord("A") + index),
        "datasource": SOURCE,
        "expr": query.expr,
        "legendFormat": query.legend,
        "instant": query.instant,
        "range": not query.instant,
        "format": format_ or "time_series",
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
    if panel.meanings:
        options = {
            meaning.value: {"text": meaning.text, "color": meaning.color, "index": index}
            for index, meaning in enumerate(panel.meanings)
        }
        defaults["mappings"] = [{"type": "value", "options": options}]
    if panel.links:
        defaults["links"] = [_link(panel, link) for link in panel.links]
    if panel.kind in ("stat", "gauge", "bargauge", "status-history", "state-timeline"):
        defaults["color"] = {"mode": "thresholds"}
    elif panel.kind == "timeseries":
        defaults["color"] = {"mode": "palette-classic"}
        style = "line" if len(panel.steps) > 1 else "off"
        defaults["custom"] = {"drawStyle": "line", "fillOpacity": 10, "thresholdsStyle": {"mode": style}}
        if panel.band:
            # Not of the upper edge alone: Grafana's schema takes only objects as the values of overrides.
            defaults["custom"]["fillBelowTo"] = panel.band[1]
    return defaults


def _overrides(panel: Panel) -> Iterator[dict[str, Any]]:
    """The edges of a band are dashed and of one colour, so that what is measured stands out."""
    if panel.band:
        properties = [
            {"id": "color", "value": {"mode": "fixed", "fixedColor": "blue"}},
            {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [8, 8]}},
        ]
        edges = {"mode": "include", "names": list(panel.band)}
        yield {"matcher": {"id": "byNames", "options": edges}, "properties": properties}


def _link(panel: Panel, link: Link) -> dict[str, Any]:
    """A data link: the labels of the series, or the cells of the row, become variables of the other dashboard."""
    of = "__data.fields" if panel.kind == "table" else "__field.labels"
    headings = {column.name: column.heading for column in panel.columns}
    values = [f"var-{name}=${{{of}.{_field(headings.get(label, label))}}}" for name, label in link.variables]
    url = "&".join((*values, "${datasource:queryparam}", "${__url_time_range}"))
    return {**LINK, "title": link.title, "url": f"/d/{link.uid}?{url}"}


def _field(name: str) -> str:
    return f'["{name}"]' if " " in name else name


def _transformations(panel: Panel) -> Iterator[dict[str, Any]]:
    """Rows that belong together become one; of their fields those stay that are columns, in this order."""
    if panel.joined:
        yield {"id": "joinByField", "options": {"byField": panel.joined, "mode": "outer"}}
    names = [_shown(panel, column) for column in panel.columns]
    yield {"id": "filterFieldsByName", "options": {"include": {"names": names}}}
    headings = {
        name: column.heading for name, column in zip(names, panel.columns, strict=True) if name != column.heading
    }
    order = {name: index for index, name in enumerate(names)}
    yield {"id": "organize", "options": {"excludeByName": {}, "indexByName": order, "renameByName": headings}}


def _shown(panel: Panel, column: Column) -> str:
    """Grafana calls the values of an only query `Value`."""
    return "Value" if column.name == "Value #A" and len(panel.queries) == 1 else column.name


_LEGEND = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
_TOOLTIP = {"mode": "single", "sort": "none"}
_REDUCED = {"calcs": ["lastNotNull"], "fields": "", "values": False}
_OPTIONS: dict[str, dict[str, Any]] = {
    "gauge": {
        "reduceOptions": _REDUCED,
        "showThresholdLabels": False,
        "showThresholdMarkers": True,
        "sizing": "auto",
        "minVizWidth": 75,
        "minVizHeight": 75,
        "orientation": "auto",
    },
    "bargauge": {
        "reduceOptions": _REDUCED,
        "displayMode": "basic",
        "valueMode": "color",
        "namePlacement": "auto",
        "showUnfilled": True,
        "sizing": "auto",
        "minVizWidth": 8,
        "minVizHeight": 16,
        "maxVizHeight": 300,
        "orientation": "horizontal",
    },
    "stat": {
        "reduceOptions": _REDUCED,
        "colorMode": "background",
        "graphMode": "none",
        "justifyMode": "auto",
        "textMode": "auto",
        "wideLayout": True,
        "showPercentChange": False,
        "percentChangeColorMode": "standard",
        "orientation": "auto",
    },
    "timeseries": {"legend": _LEGEND, "tooltip": {"mode": "multi", "sort": "desc"}},
    "table": {"showHeader": True, "frameIndex": 0},
    "heatmap": {
        "calculate": False,
        "color": {
            "mode": "scheme",
            "scheme": "Oranges",
            "fill": "dark-orange",
            "exponent": 0.5,
            "steps": 64,
            "reverse": False,
        },
        "showValue": "never",
        "cellGap": 1,
        "yAxis": {"axisPlacement": "left"},
        "rowsFrame": {"layout": "auto"},
        "legend": {"show": True},
        "tooltip": {"mode": "single", "yHistogram": False, "showColorScale": True},
        "exemplars": {"color": "rgba(255,0,255,0.7)"},
    },
    "status-history": {
        "rowHeight": 0.9,
        "colWidth": 0.9,
        "showValue": "never",
        "perPage": _ROWS_OF_A_PAGE,
        "legend": _LEGEND,
        "tooltip": _TOOLTIP,
    },
    "state-timeline": {
        "rowHeight": 0.9,
        "mergeValues": True,
        "alignValue": "left",
        "showValue": "auto",
        "perPage": _ROWS_OF_A_PAGE,
        "legend": _LEGEND,
        "tooltip": _TOOLTIP,
    },
}

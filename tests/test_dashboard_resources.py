"""Dashboards in the new form of Grafana, version 2: they become the classic one, which Grafana loads from a file."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from own_pages import compiled
from tocsin.dashboard import problems, unwrapped, upgraded
from tocsin.verify.dashboards import problems as judged

if TYPE_CHECKING:
    from pathlib import Path


def asked(expr: str, group: str = "prometheus", name: str = "${ds}", **more: Any) -> dict[str, Any]:
    query = {"kind": "DataQuery", "group": group, "version": "v0", "datasource": {"name": name}, "spec": {"expr": expr}}
    return {"kind": "PanelQuery", "spec": {"refId": "A", "hidden": False, "query": query, **more}}


def element(id_: int, *queries: dict[str, Any], kind: str = "timeseries") -> dict[str, Any]:
    data = {"queries": list(queries), "transformations": [], "queryOptions": {"interval": "1m"}}
    shown = {"options": {}, "fieldConfig": {"defaults": {"unit": "short"}, "overrides": []}}
    viz = {"kind": "VizConfig", "group": kind, "version": "13.0.0", "spec": shown}
    spec = {"id": id_, "title": f"Panel {id_}", "description": "", "links": [], "vizConfig": viz}
    return {"kind": "Panel", "spec": {**spec, "data": {"kind": "QueryGroup", "spec": data}}}


def item(name: str, **more: Any) -> dict[str, Any]:
    return {"kind": "GridLayoutItem", "spec": {"element": {"kind": "ElementReference", "name": name}, **more}}


def grid(*items: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "GridLayout", "spec": {"items": list(items)}}


def resource(expr: str = "max by (node) (up{node=~'$node'})") -> dict[str, Any]:
    logs = asked("{app='x'} |= 'err'", "loki", "logs")
    variable = {"query": "label_values(up, node)", "qryType": 1, "refId": "v"}
    variables = [
        {"kind": "DatasourceVariable", "spec": {"name": "ds", "pluginId": "prometheus", "hide": "dontHide"}},
        {
            "kind": "QueryVariable",
            "spec": {
                "name": "node",
                "hide": "hideLabel",
                "refresh": "onTimeRangeChanged",
                "sort": "alphabeticalDesc",
                "query": {"kind": "DataQuery", "group": "prometheus", "version": "v0", "spec": variable},
            },
        },
        {"kind": "CustomVariable", "spec": {"name": "agg", "query": "max,min", "multi": False}},
    ]
    alerts = {"kind": "DataQuery", "group": "prometheus", "version": "v0", "spec": {"expr": "ALERTS"}}
    annotation = {"name": "Alerts", "enable": True, "hide": False, "iconColor": "red", "query": alerts}
    rows = [
        {"title": "One", "collapse": False, "layout": grid(item("a", x=0, y=0, width=12, height=6))},
        {"title": "Two", "collapse": True, "layout": grid(item("b", x=12, y=2, width=12, height=6))},
        {"title": "Three", "collapse": False, "layout": {"kind": "AutoGridLayout", "spec": {"items": [item("c")] * 4}}},
    ]
    return {
        "apiVersion": "dashboard.grafana.app/v2beta1",
        "kind": "Dashboard",
        "metadata": {"name": "team"},
        "spec": {
            "title": "Team",
            "cursorSync": "Crosshair",
            "elements": {
                "a": element(1, asked(expr)),
                "b": element(2, asked("$agg by (node) (up)", refId="B"), logs, kind="table"),
                "c": {"kind": "LibraryPanel", "spec": {"id": 3, "libraryPanel": {"uid": "lib", "name": "Shared"}}},
            },
            "layout": {
                "kind": "RowsLayout",
                "spec": {"rows": [{"kind": "RowsLayoutRow", "spec": one} for one in rows]},
            },
            "variables": variables,
            "annotations": [{"kind": "AnnotationQuery", "spec": annotation}],
            "timeSettings": {"from": "now-6h", "to": "now", "autoRefresh": "30s", "timezone": "utc"},
            "links": [],
            "tags": ["a"],
        },
    }


def test_a_dashboard_of_the_new_form_becomes_one_of_the_classic(tmp_path: Path) -> None:
    made, log = compiled(tmp_path, resource())
    assert {one.code for one in log.sorted()} == {"DSH110"}
    assert made is not None
    (text,) = (one.text for one in made.artifacts if one.path.endswith("/own-team.json"))
    became = json.loads(text)
    assert list(judged(became, brought=True)) == []
    assert [(one.get("type"), one.get("title"), *one["gridPos"].values()) for one in became["panels"]] == [
        ("row", "One", 0, 0, 24, 1),
        ("timeseries", "Panel 1", 0, 1, 12, 6),
        ("row", "Two", 0, 7, 24, 1),
        ("row", "Three", 0, 16, 24, 1),
        (None, None, 0, 17, 8, 8),
        (None, None, 8, 17, 8, 8),
        (None, None, 16, 17, 8, 8),
        (None, None, 0, 25, 8, 8),
    ]
    (inner,) = became["panels"][2]["panels"]
    assert [one["datasource"]["type"] for one in inner["targets"]] == ["prometheus", "loki"]
    assert inner["datasource"]["uid"] == "-- Mixed --"
    node = next(one for one in became["templating"]["list"] if one["name"] == "node")
    assert (node["hide"], node["refresh"], node["sort"]) == (1, 2, 2)
    assert node["query"]["query"] == "label_values(up, node)"
    assert became["annotations"]["list"][0]["expr"] == "ALERTS"
    assert (became["graphTooltip"], became["refresh"], became["time"]["from"]) == (1, "30s", "now-6h")


@pytest.mark.parametrize("wrapped", [True, False])
def test_its_queries_are_judged_at_their_characters(wrapped: bool, tmp_path: Path) -> None:
    written = resource("max by (node) (up{colour='red'})")
    _, log = compiled(tmp_path, written if wrapped else written["spec"])
    (told,) = (one for one in log.sorted() if one.severity == "error")
    assert (told.code, told.span.path) == ("PQL103", "team.json")
    text = (tmp_path / "team.json").read_text("utf-8")
    assert text[told.span.column - 1 : told.span.end_column - 1] == "colour"


def test_a_query_of_the_first_new_form_names_its_source_beside_it() -> None:
    old = resource()
    query = old["spec"]["elements"]["a"]["spec"]["data"]["spec"]["queries"][0]["spec"]
    query["query"] = {"kind": "loki", "spec": {"expr": "{a='b'}"}}
    query["datasource"] = {"type": "loki", "uid": "x"}
    (target,) = next(one for one in unwrapped(old)["panels"] if one.get("title") == "Panel 1")["targets"]
    assert target["datasource"] == {"type": "loki", "uid": "x"}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, part in inner for place in places(part, (*path, key)))]


PLACES = places(resource())[1:]
JUNK = st.one_of(st.none(), st.booleans(), st.integers(-5, 99), st.text(max_size=3), st.just([]), st.just({"a": [1]}))


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PLACES), JUNK)
def test_a_resource_of_any_form_is_told_or_becomes_a_dashboard(place: tuple[Any, ...], junk: Any) -> None:
    broken = deepcopy(resource())
    part: Any = broken
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = junk
    found = unwrapped(broken)
    if not list(problems(found)):
        list(judged(upgraded(found), brought=True))

"""Who answers the queries of a dashboard, and what Grafana writes around one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from own_pages import compiled, emitted, page, panel
from tocsin.dashboard.kinds import WITHOUT_QUERIES
from tocsin.verify.dashboards import problems as judged

if TYPE_CHECKING:
    from pathlib import Path

# --- who answers ------------------------------------------------------------------------------------------------------

LOGQL = 'sum by (level) (count_over_time({app="x"} |= "error" | json [5m]))'
LOKI = {"type": "loki", "uid": "abc"}
INPUTS = [
    {"name": "DS_PROMETHEUS", "type": "datasource", "pluginId": "prometheus"},
    {"name": "DS_LOGS", "type": "datasource", "pluginId": "loki"},
    {"name": "VAR_JOB", "type": "constant", "value": "node"},
]
CHOSEN = [
    {"type": "datasource", "name": "logs", "query": "loki"},
    {"type": "datasource", "name": "ds", "query": "prometheus"},
]


@pytest.mark.parametrize(
    "source",
    [
        LOKI,
        {"type": "loki", "uid": "$logs"},
        {"uid": "${logs}"},
        "$logs",
        "[[logs]]",
        "${DS_LOGS}",
        {"uid": "${DS_LOGS}"},
        "Loki",
        "my-loki-eu",
        {"type": "grafana-testdata-datasource", "uid": "x"},
        {"type": "tempo", "uid": "x"},
    ],
)
@pytest.mark.parametrize("place", ["panel", "target", "mixed"])
def test_what_another_data_source_answers_is_no_promql(source: object, place: str, tmp_path: Path) -> None:
    target = {"expr": LOGQL, "legendFormat": "{{level}}", "refId": "A"}
    if place == "panel":
        shown = {**panel(), "datasource": source, "targets": [target]}
    else:
        mine = {"expr": "max by (node) (up)", "refId": "B", "datasource": "${DS_PROMETHEUS}"}
        top = {"type": "datasource", "uid": "-- Mixed --"} if place == "mixed" else None
        shown = {**panel(), "datasource": top, "targets": [{**target, "datasource": source}, mine]}
    written = page(shown, templating={"list": CHOSEN}, __inputs=INPUTS)
    made, log = compiled(tmp_path, written)
    assert {one.code for one in log.sorted()} == {"DSH110"}, log.sorted()
    assert made is not None
    (text,) = (one.text for one in made.artifacts if one.path.endswith("/own-team.json"))
    became = json.loads(text)
    first = became["panels"][0]["targets"][0]
    assert first["expr"] == LOGQL
    assert first["datasource"]["type"] != "prometheus"
    variable = re.search(r"\w+", first["datasource"]["uid"].partition("$")[2])
    kinds = {one["name"]: one["query"] for one in became["templating"]["list"] if one["type"] == "datasource"}
    assert kinds["datasource"] == "prometheus"
    assert not variable or kinds[variable[0]] == "loki"
    assert "ds" not in kinds
    assert list(judged(became, brought=True)) == []


@pytest.mark.parametrize(
    "source",
    [
        {"type": "prometheus", "uid": "$logs2"},
        "${DS_PROMETHEUS}",
        "$ds",
        {"uid": "${ds}"},
        {"type": "grafana-amazonprometheus-datasource", "uid": "x"},
        "Prometheus",
        "default",
        None,
    ],
)
def test_what_prometheus_answers_is_judged_whatever_it_is_called(source: object, tmp_path: Path) -> None:
    written = page({**panel("sum(up"), "datasource": source}, templating={"list": CHOSEN}, __inputs=INPUTS)
    _, log = compiled(tmp_path, written)
    assert [one.code for one in log.sorted()] == ["PQL105"]


EXPRESSION = {"type": "__expr__", "uid": "__expr__"}


@pytest.mark.parametrize(
    "more",
    [
        {"datasource": EXPRESSION, "type": "math", "expression": "$A / 2"},
        {"datasource": {"uid": "__expr__"}, "type": "reduce", "expression": "A", "reducer": "last"},
        {"datasource": "__expr__", "type": "threshold", "expression": "A", "conditions": []},
        {"datasource": {"type": "__expr__", "uid": "${DS_EXPRESSION}"}, "type": "math", "expression": "$A"},
        {"type": "math", "expression": "$A / 2"},
    ],
)
def test_grafanas_own_arithmetic_is_left_to_grafana(more: dict[str, Any], tmp_path: Path) -> None:
    targets = [{"expr": "max by (node) (up)", "refId": "A", "hide": True}, {**more, "refId": "B"}]
    made, log = compiled(tmp_path, page({**panel(), "targets": targets}, __inputs=INPUTS))
    assert {one.code for one in log.sorted()} <= ({"DSH110"} if "datasource" not in more else set())
    assert made is not None
    (text,) = (one.text for one in made.artifacts if one.path.endswith("/own-team.json"))
    kept = json.loads(text)["panels"][0]["targets"][1]
    assert kept["expression"] == more["expression"]
    assert kept.get("datasource") == (EXPRESSION if "datasource" in more else None)


@pytest.mark.parametrize("kind", sorted(WITHOUT_QUERIES - {"row"}))
def test_a_panel_that_needs_no_query_needs_no_title_either(kind: str, tmp_path: Path) -> None:
    made, log = compiled(tmp_path, page({"type": kind}))
    assert made is not None
    assert log.sorted() == []


def test_what_grafana_turns_into_another_panel_keeps_what_it_has(tmp_path: Path) -> None:
    old = {**panel(type="graph"), "aliasColors": {"a": "red"}, "height": "200px", "fill": 1, "nullPointMode": "null"}
    made, log = compiled(tmp_path, page({**old, "type": "singlestat", "colors": ["red"]}, old, schemaVersion=16))
    assert {one.code for one in log.sorted()} == {"DSH110"}
    assert made is not None
    (text,) = (one.text for one in made.artifacts if one.path.endswith("/own-team.json"))
    assert json.loads(text)["panels"][1].items() >= {key: old[key] for key in ("type", "aliasColors", "height")}.items()
    assert list(judged(json.loads(text), brought=True)) == []


# --- what Grafana writes around a dashboard ---------------------------------------------------------------------------


def test_an_export_for_sharing_is_read_with_what_it_carries(tmp_path: Path) -> None:
    library = {"libraryPanel": {"uid": "lib", "name": "Shared"}, "gridPos": {"x": 0, "y": 0, "w": 6, "h": 4}, "id": 7}
    element = {"uid": "lib", "name": "Shared", "kind": 1, "model": {**panel("sum(up"), "title": "Shared", "id": 1}}
    constant = {"type": "constant", "name": "job", "query": "${VAR_JOB}", "current": {"text": "${VAR_JOB}"}}
    shared = page(
        library,
        panel("up{job='${VAR_JOB}'} + on (node) max by (node) (up{job='$job'})", id=8),
        __inputs=INPUTS,
        __elements={"lib": element},
        __requires=[{"type": "grafana", "id": "grafana", "name": "Grafana", "version": "11.0.0"}],
        templating={"list": [constant]},
    )
    _, log = compiled(tmp_path, shared)
    assert [(one.code, one.span.path) for one in log.sorted()] == [("PQL105", "team.json")]
    element["model"]["targets"][0]["expr"] = "sum(up)"
    became = emitted(tmp_path, shared)
    first, second = became["panels"]
    assert first["targets"][0]["expr"] == "sum(up)"
    assert (first["title"], first["gridPos"]["w"], first["id"]) == ("Shared", 6, 7)
    assert "libraryPanel" not in first
    assert "up{job='node'}" in second["targets"][0]["expr"]
    assert not {"__inputs", "__elements", "__requires"} & became.keys()


def test_a_panel_of_the_library_alone_is_told(tmp_path: Path) -> None:
    made, log = compiled(tmp_path, page({"id": 1, "libraryPanel": {"uid": "lib", "name": "Shared"}}))
    assert [(one.code, "'Shared'" in one.message) for one in log.sorted()] == [("DSH110", True)]
    assert made is not None
    (text,) = (one.text for one in made.artifacts if one.path.endswith("/own-team.json"))
    assert list(judged(json.loads(text), brought=True)) == []


@pytest.mark.parametrize(
    "around",
    [
        lambda inner: {"dashboard": inner, "meta": {"slug": "team"}},
        lambda inner: {
            "apiVersion": "dashboard.grafana.app/v1beta1",
            "kind": "Dashboard",
            "metadata": {},
            "spec": inner,
        },
    ],
)
@pytest.mark.parametrize(("expr", "codes"), [("max by (node) (up)", []), ("sum(up", ["PQL105"])])
def test_what_grafana_answers_holds_a_dashboard(around: Any, expr: str, codes: list[str], tmp_path: Path) -> None:
    made, log = compiled(tmp_path, around(page(panel(expr))))
    assert [one.code for one in log.sorted()] == codes
    assert (made is not None) == (not codes)


@pytest.mark.parametrize("written", ["$datasource", "${datasource}", {"type": "loki", "uid": "${datasource}"}])
def test_the_name_of_our_data_source_is_left_to_prometheus(written: object, tmp_path: Path) -> None:
    """A page of logs often calls its own one so."""
    chosen = {"type": "datasource", "name": "datasource", "query": "loki"}
    shown = {**panel(), "datasource": written, "targets": [{"expr": LOGQL, "refId": "A"}]}
    made, log = compiled(tmp_path, page(shown, templating={"list": [chosen]}))
    assert {one.code for one in log.sorted()} == {"DSH110"}
    assert made is not None
    (text,) = (one.text for one in made.artifacts if one.path.endswith("/own-team.json"))
    became = json.loads(text)
    assert became["panels"][0]["targets"][0]["datasource"] == {
        "type": "loki",
        "uid": became["panels"][0]["datasource"]["uid"],
    }
    kinds = {one["name"]: one["query"] for one in became["templating"]["list"]}
    assert kinds == {"datasource": "prometheus", "loki_source": "loki"}
    assert "loki_source" in became["panels"][0]["datasource"]["uid"]


def test_a_constant_that_names_others_stands_as_it_is_written(tmp_path: Path) -> None:
    """One name after the other would double what stands there thirty times."""
    inputs = [{"type": "constant", "name": f"V{at}", "value": f"${{V{at + 1}}}" * 2} for at in range(30)]
    (shown,) = emitted(tmp_path, page(panel('up{job="${V0}"}'), __inputs=inputs, templating=_textboxes("V1")))["panels"]
    assert 'job="${V1}${V1}"' in shown["targets"][0]["expr"]


def _textboxes(*names: str) -> dict[str, Any]:
    return {"list": [{"type": "textbox", "name": name} for name in names]}


@pytest.mark.parametrize("kind", ["x" * 5000, "a\0b", "dashboard", "../grafana/stat", "/", "."])
def test_the_type_of_a_panel_is_no_file(kind: str, tmp_path: Path) -> None:
    written = page(
        {**panel(), "type": kind, "options": {"legend": 1}, "fieldConfig": {"defaults": {"custom": {"odd": 1}}}}
    )
    assert list(judged({**emitted(tmp_path, written), "uid": "x"}, brought=True)) == []


def test_a_panel_of_the_library_that_holds_panels_is_refused(tmp_path: Path) -> None:
    """Grafana has none; one that holds itself has no end."""
    within = {"libraryPanel": {"uid": "lib", "name": "Shared"}}
    element = {"uid": "lib", "name": "Shared", "model": {"type": "row", "panels": [within]}}
    made, log = compiled(tmp_path, page(panel(), within, __elements={"lib": element}))
    assert made is None
    assert [(one.code, "'Shared'" in one.message) for one in log.sorted()] == [("DSH102", True)]


def test_a_query_is_read_however_deep_it_stands(tmp_path: Path) -> None:
    inner = panel("sum(up")
    for title in "abc":
        inner = {"type": "row", "title": title, "panels": [inner]}
    _, log = compiled(tmp_path, page(inner))
    assert [(one.code, one.span.path) for one in log.sorted()] == [("PQL105", "team.json")]
    shown = panel()
    for title in "abc":
        shown = {"type": "row", "title": title, "id": 1, "panels": [shown]}
    (outer,) = emitted(tmp_path, page(shown))["panels"]
    middle = outer["panels"][0]
    found = [outer, middle, middle["panels"][0], middle["panels"][0]["panels"][0]]
    assert [one["id"] for one in found] == [1, 2, 3, 4]

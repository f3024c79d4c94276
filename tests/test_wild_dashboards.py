"""Dashboards as they are found in the wild: what Grafana and its Prometheus take is no mistake."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from own_pages import TEAM, compiled, emitted, graph, page, panel, table, told, understood
from tocsin.dashboard.filled import fillings
from tocsin.dashboard.kinds import WITHOUT_QUERIES
from tocsin.diagnostics import Log, Severity
from tocsin.pipeline import compile_spec
from tocsin.verify.dashboards import problems as judged

if TYPE_CHECKING:
    from pathlib import Path

# --- variables in any place -------------------------------------------------------------------------------------------

ANY_PART = [
    "$agg by (node) (up)",
    "$agg without (node) (up)",
    "${agg:raw}(up)",
    "$agg(up) by (node)",
    "topk(5, $agg by (node) (rate(node_load1[$__rate_interval])))",
    "$fn(node_load1[5m])",
    "sum($fn(node_load1[$__range]))",
    "${fn}_over_time(up[5m])",
    "quantile_over_time(0.$q, up[5m])",
    "sum by ($group) (up)",
    "sum by (cluster, ${group:csv}) (up)",
    "sum(up) by ([[group]])",
    "up * on ($group) group_left ($more) up",
    "max_over_time(up[$window])",
    "max_over_time(up[${window}:$step])",
    "max_over_time(up[${n}d])",
    "max_over_time(up[$__interval_ms ms])",
    "up offset ${shift}",
    "up offset -${n}h",
    "up @ ${__to:date:seconds}",
    "rate(${metric}_total[5m])",
    "rate(node_${metric}_total{node=~'$node'}[5m])",
    "max($metric)",
    "[[metric]]",
    "$query",
    "${query:raw}",
    "$query / 2",
    "($query) or vector(0)",
    "up > $threshold",
    "up > bool ${threshold:raw}",
    "topk($n, ${metric}_x)",
    "histogram_quantile($q, sum by (le) (rate(${metric}_bucket[$__rate_interval])))",
    "histogram_quantile(0.$q, sum by (le) (rate(${metric}_bucket[5m])))",
    "clamp_max(up, $n) * 1$n",
    "up $op up",
    "up $op (up)",
    "up$suffix",
    "up{node='a'}$suffix",
    "up{$filters}",
    "up{${filters}}",
    "up{job='node', $filters}",
    "up{$filters, node=~'$node'}",
    "up{node='a' $filters}",
    "up{$label='a'}",
    "up{$label=~'$value', job='node'}",
    "up{node=${node:doublequote}}",
    "label_replace(up, '$to', '$1', 'node', '(.*)')",
    "label_replace(up, ${to:doublequote}, '$1', 'node', '(.*)')",
    "count_values('$to', up)",
    "rate(up[5m]) * $__interval_ms / 1000",
    "up * $__range_s + time() - $__from / 1000",
    "up{node=~'${node:pipe}|${node:regex}|[[node:glob]]|${node.text}'}",
    "up{node='${__from:date:YYYY-MM-DD HH:mm}', job='${__data.fields.Host}'}",
]
NAMES = "agg fn q group more window step n shift metric query threshold op suffix filters label value node to".split()


@pytest.mark.parametrize("expr", ANY_PART)
def test_a_variable_may_stand_for_any_part_of_a_query(expr: str, tmp_path: Path) -> None:
    """Nobody knows what it will be: that is no mistake of the dashboard."""
    variables = {"list": [{"type": "textbox", "name": name} for name in NAMES]}
    assert {code for code, _ in told(tmp_path, expr, templating=variables)} <= {"DSH108"}


@pytest.mark.parametrize("part", ["$agg(", "$n + ", "{$filters,", '"$node" ', "[$window", "offset $shift ", "[[n]]"])
def test_a_query_of_any_length_is_read_in_linear_time(part: str) -> None:
    """A hundred thousand variables in one query, of which the text beside each is read and no more."""
    assert len(list(fillings(part * 100_000))) >= 1


def test_those_queries_can_be_read_whatever_a_variable_is() -> None:
    """So that the names in them are held against the series all the same."""
    assert [expr for expr in ANY_PART if understood(expr) is None] == []


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("$agg by (node) (node_load1)", [("DSH108", "node_load1")]),
        ("rate(${metric}_total[5m]) / $agg(team:x:y)", [("DSH106", "team:x:y")]),
        ("sum by (node) (up{$filters}", []),  # a variable may hold the bracket
        ('sum by (node) (up{node="$node"}', [("PQL105", "")]),
        ("sum by (node) (rate(up[$window])", [("PQL105", "")]),
        ('label_replace(up, "node", "$host", "instance", "(?P<host>.*):.*")', []),
        ('label_replace(up, "node", "$host", "instance", "(.*):.*")', [("DSH107", "$host")]),
        ('up{job!~"a\\\\$b"}', []),
    ],
)
def test_what_is_known_of_a_query_is_judged_whatever_a_variable_is(
    expr: str, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    variables = {"list": [{"type": "textbox", "name": name} for name in NAMES]}
    found = told(tmp_path, expr, templating=variables)
    assert [
        (code, there if wanted else "") for (code, there), (_, wanted) in zip(found, expected, strict=True)
    ] == expected


def test_a_window_that_nobody_wrote_has_no_length(tmp_path: Path) -> None:
    """Somebody chooses it, or Grafana does by the span that is shown: only a written one can be too short."""
    variables = {"list": [{"type": "interval", "name": "window", "query": "30s,5m,1h"}]}
    for window, expected in (("30s", ["PQL211"]), ("$window", []), ("$__rate_interval", [])):
        slow = f"rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[{window}])"
        assert [code for code, _ in told(tmp_path, slow, templating=variables)] == expected


# --- what only some releases take ---------------------------------------------------------------------------------

TAKEN = [
    ('{"METRIC.name", label="x"}', "3.0"),
    ('up{"k8s.node"="a"}', "3.0"),
    ('sum by ("k8s.node") (up)', "3.0"),
    ('label_replace(up, "k8s.node", "$1", "node", "(.*)")', "3.0"),
    ("time() - max(up) > 10m", "2.54"),
    ("up > 1_000", "2.54"),
    ("max_over_time(up[300])", "2.54"),
    ("histogram_avg(up)", "2.51"),
    ('up{node=~"(?<n>.*)"}', "2.51"),
    ("first_over_time(up[5m])", "3.7"),
    ("max_over_time(up[5m * 2])", "3.4"),
    ("up fill(0) + up", "3.10"),
]


@pytest.mark.parametrize(("expr", "since"), TAKEN)
def test_what_the_release_takes_is_no_mistake_of_a_dashboard(expr: str, since: str, tmp_path: Path) -> None:
    """A rule has to be one for every release that is tested; a dashboard is asked of one."""
    (tmp_path / "team.json").write_text(json.dumps(page(panel(expr))), "utf-8")
    major, minor = map(int, since.split("."))
    before = f"{major}.{minor - 1}" if minor else "2.53"
    for release, expected in ((since, []), ("3.14", []), (before, ["PQL105"])):
        text = TEAM.replace('prometheus: "3.5"', f'prometheus: "{release}"')
        (tmp_path / "spec.yaml").write_text(text, "utf-8")
        log = Log()
        compile_spec(str(tmp_path / "spec.yaml"), log, {})
        assert [one.code for one in log.sorted()] == expected, release


def test_what_was_removed_is_refused_by_the_releases_after_it(tmp_path: Path) -> None:
    (tmp_path / "team.json").write_text(json.dumps(page(panel("holt_winters(up[1h], 0.5, 0.5)"))), "utf-8")
    for release, expected in (("2.53", []), ("3.0", ["PQL105"])):
        (tmp_path / "spec.yaml").write_text(TEAM.replace('prometheus: "3.5"', f'prometheus: "{release}"'), "utf-8")
        log = Log()
        compile_spec(str(tmp_path / "spec.yaml"), log, {})
        assert [one.code for one in log.sorted()] == expected, release


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


# --- fields that are called otherwise --------------------------------------------------------------------------------

BY_NODE, BY_RACK = "max by (node) (up)", "max by (rack) (label_replace(up, 'rack', '$1', 'node', '(.*)'))"


def step(kind: str, **options: Any) -> dict[str, Any]:
    return {"id": kind, "options": options}


def overridden(shown: dict[str, Any], *overrides: tuple[str, str, Any]) -> dict[str, Any]:
    """A panel that sets something for fields by their names."""
    for name, kind, value in overrides:
        one = {"matcher": {"id": "byName", "options": name}, "properties": [{"id": kind, "value": value}]}
        shown["fieldConfig"]["overrides"].append(one)
    return shown


JOINED_AND_RENAMED = [
    step("joinByField", byField="node", mode="outer"),
    step("organize", excludeByName={"Time": True}, indexByName={}, renameByName={"node": "Host", "Value #A": "Up"}),
    step("organize", renameByName={"Host": "Server"}),
]
HOST = step("organize", renameByName={"node": "Host"})
FORMS = [
    (table(BY_NODE, BY_NODE, steps=JOINED_AND_RENAMED, url="?n=${__data.fields.Server}"), ""),
    (table(BY_NODE, BY_NODE, steps=JOINED_AND_RENAMED, url="?n=${__data.fields.Rack}"), "Rack"),
    (table(BY_NODE, steps=[step("organize", renameByName={"node": ""})], url="?n=${__data.fields.node}"), ""),
    (
        table(
            BY_NODE,
            BY_NODE,
            steps=[step("organize", renameByName={"node": "Host"}), step("joinByField", byField="Host")],
        ),
        "",
    ),
    (table(BY_NODE, BY_RACK, steps=[{**step("joinByField", byField="node"), "filter": {"id": "byRefId"}}]), ""),
    (table(BY_NODE, BY_RACK, steps=[step("joinByField", byField="node")]), "node"),
    (
        table(BY_NODE, steps=[step("renameByRegex", regex="(no)de", renamePattern="$1")], url="?n=${__data.fields.no}"),
        "",
    ),
    (table(BY_NODE, steps=[step("calculateField", alias="Share")], url="?n=${__data.fields.Share}"), ""),
    (overridden(table(BY_NODE, url="?n=${__data.fields.Host}"), ("node", "displayName", "Host")), ""),
    (overridden(table(BY_NODE), ("Host", "links", [{"title": "x", "url": "?n=${__value.text}"}])), ""),
    (graph(BY_NODE, url="?n=${__field.labels.rack}") | {"transformations": [step("labelsToFields", mode="rows")]}, ""),
    (graph(BY_NODE, url="?n=${__field.labels.rack}") | {"transformations": [step("partitionByValues")]}, ""),
    (graph(BY_NODE, url="?n=${__field.labels.rack}") | {"transformations": [step("sortBy")]}, "rack"),
]


@pytest.mark.parametrize(("shown", "needed"), FORMS)
def test_a_field_is_looked_for_under_the_name_that_it_has_there(
    shown: dict[str, Any], needed: str, tmp_path: Path
) -> None:
    assert told(tmp_path, "up", panels=[shown]) == ([("DSH109", needed)] if needed else [])


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


# --- what is a mistake of an alert, and no mistake of a page ----------------------------------------------------------


@pytest.mark.parametrize(
    ("expr", "code", "severity"),
    [
        ("avg by (node) (DCGM_FI_DEV_GPU_TEMP)", "PQL207", Severity.WARNING),
        ("DCGM_FI_DEV_XID_ERRORS > 0", "PQL216", Severity.WARNING),
        ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER > 100", "PQL202", Severity.WARNING),
        ("rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[30s])", "PQL211", Severity.WARNING),
        (
            "rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[20s])",
            "PQL211",
            Severity.ERROR,
        ),  # one sample, of which there is no rate
        ("max_over_time(DCGM_FI_DEV_GPU_TEMP[15s])", "PQL211", Severity.WARNING),
        ("max_over_time(DCGM_FI_DEV_GPU_TEMP[5s])", "PQL211", Severity.ERROR),
        ("absent(DCGM_FI_DEV_GPU_TEMP)", "PQL213", Severity.WARNING),
        ("up * on (node) max by (node, gpu_uuid) (DCGM_FI_DEV_GPU_TEMP)", "PQL209", Severity.WARNING),
        ("rate(DCGM_FI_DEV_GPU_TEMP[5m])", "PQL201", Severity.ERROR),
        ("sum(DCGM_FI_DEV_GPU_TEMP)", "PQL203", Severity.ERROR),
        ("max(DCGM_FI_DEV_CLOCK_THROTTLE_REASONS)", "PQL205", Severity.ERROR),
        ("sum by (node) (max by (cluster) (up))", "PQL208", Severity.ERROR),
    ],
)
def test_what_may_be_just_what_somebody_wants_to_see_is_a_doubt(
    expr: str, code: str, severity: Severity, tmp_path: Path
) -> None:
    made, log = compiled(tmp_path, page(panel(expr)))
    assert {one.severity for one in log.sorted() if one.code == code} == {severity}
    assert (made is not None) == (severity is Severity.WARNING), log.sorted()


@pytest.mark.parametrize("kind", ["row", "text", "dashlist"])
def test_an_empty_query_that_grafana_leaves_on_a_panel_asks_nothing(kind: str, tmp_path: Path) -> None:
    left = {"type": kind, "title": "x", "targets": [{"datasource": {"type": "prometheus", "uid": "x"}, "refId": "A"}]}
    made = emitted(tmp_path, page({**left, "id": 2}, panel(id=1)))
    assert list(judged(made, brought=True)) == []
    assert compiled(tmp_path, page({**left, "id": 2}, panel(id=1)))[1].sorted() == []


def test_a_query_without_a_text_beside_others_is_a_doubt(tmp_path: Path) -> None:
    made, log = compiled(tmp_path, page({**panel(), "targets": [{"expr": "up"}, {"refId": "B"}]}))
    assert [(one.code, one.severity) for one in log.sorted()] == [("DSH103", Severity.WARNING)]
    assert made is not None


def test_what_every_export_of_grafana_has_is_as_the_schema_has_it(tmp_path: Path) -> None:
    """The query of a variable as Grafana 9 and newer writes it, and fields that the schema does not know."""
    query = {"qryType": 1, "query": "label_values(up, node)", "refId": "PrometheusVariableQueryEditor-VariableQuery"}
    variables = [
        {"type": "query", "name": "node", "query": query, "definition": "label_values(up, node)", "refresh": 1},
        {"type": "adhoc", "name": "more", "baseFilters": [], "filters": []},
    ]
    shown = panel("up{node=~'$node'}", fieldConfig={"defaults": {"unitScale": True}, "overrides": []})
    shared = page(shown, templating={"list": variables}, refresh=False, id=None, gnetId=12239, style="dark", version=4)
    made, log = compiled(tmp_path, shared)
    assert log.sorted() == []
    assert made is not None
    (text,) = (one.text for one in made.artifacts if one.path.endswith("/own-team.json"))
    assert list(judged(json.loads(text), brought=True)) == []


TIERS = """
retention:
  hot: {resolution: full, keep: 7d}
  all: {resolution: full, keep: 1y, store: {url: "http://store:8480/insert/0/prometheus/api/v1/write"}}
"""


def test_what_is_no_promql_may_be_metricsql(tmp_path: Path) -> None:
    (tmp_path / "team.json").write_text(json.dumps(page(panel("rate(up) default 0"))), "utf-8")
    for store, severity in (("thanos", Severity.ERROR), ("victoriametrics", Severity.WARNING)):
        text = TEAM.replace('prometheus: "3.5"', f'prometheus: "3.5", long_term: {store}')
        (tmp_path / "spec.yaml").write_text(text + TIERS, "utf-8")
        log = Log()
        compile_spec(str(tmp_path / "spec.yaml"), log, {})
        assert [(one.code, one.severity) for one in log.sorted() if one.code.startswith("PQL")] == [
            ("PQL105", severity)
        ]


def test_a_place_between_two_columns_is_rounded(tmp_path: Path) -> None:
    made = emitted(tmp_path, page(panel(gridPos={"x": 0, "y": 0.4, "w": 11.6, "h": 8.0})))
    assert made["panels"][0]["gridPos"] == {"x": 0, "y": 0, "w": 12, "h": 8}
    assert list(judged(made, brought=True)) == []


@pytest.mark.parametrize(("written", "becomes"), [(0, 39), (12, 39), (15, 39), (16, 16), (27, 27), (39, 39), (42, 42)])
def test_what_grafana_migrates_keeps_its_version(written: int, becomes: int, tmp_path: Path) -> None:
    """Its steps follow from the version: one that is too high would leave an old form as it is."""
    assert emitted(tmp_path, page(panel(), schemaVersion=written))["schemaVersion"] == becomes


def test_the_names_of_series_are_the_values_of_a_label(tmp_path: Path) -> None:
    variables = [{"type": "query", "name": "v", "query": "label_values(up, __name__)"}]
    assert compiled(tmp_path, page(panel(), templating={"list": variables}))[1].sorted() == []


@pytest.mark.parametrize(
    ("metric", "with_jobs"),
    [
        ("vllm:num_requests_running", Severity.WARNING),
        ("kube_pod_status_phase", Severity.WARNING),
        ("DCGM_FI_DEV_GPU_TEMPO", Severity.ERROR),
        ("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", Severity.ERROR),
    ],
)
def test_an_application_may_show_what_an_exporter_shows_elsewhere(
    metric: str, with_jobs: Severity, tmp_path: Path
) -> None:
    """A model server that is scraped as a job of the spec's own is stored whole."""
    (tmp_path / "team.json").write_text(json.dumps(page(panel(f"max({metric})"))), "utf-8")
    job = "    jobs: {serving: {workload: inference, hosts: gpu-01, port: 8000}}\n"
    for text, severity in ((TEAM, Severity.ERROR), (TEAM.replace("    nodes:\n", f"{job}    nodes:\n"), with_jobs)):
        (tmp_path / "spec.yaml").write_text(text, "utf-8")
        log = Log()
        compile_spec(str(tmp_path / "spec.yaml"), log, {})
        assert [(one.code, one.severity) for one in log.sorted()] == [("PQL214", severity)]


@pytest.mark.parametrize(("name", "code"), [("sglang:num_running_reqs", "DSH108"), ("job:up:sum", "DSH106")])
def test_a_program_may_put_its_name_before_a_colon(name: str, code: str, tmp_path: Path) -> None:
    assert told(tmp_path, f"max({name})") == [(code, name)]

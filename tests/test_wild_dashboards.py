"""Dashboards as they are found in the wild: what Grafana and its Prometheus take is no mistake."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from own_pages import TEAM, compiled, emitted, graph, page, panel, table, told
from tocsin.diagnostics import Log, Severity
from tocsin.pipeline import compile_spec
from tocsin.verify.dashboards import problems as judged

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize(
    ("expr", "more", "expected"),
    [
        ("up[5m]", {"instant": True}, []),
        ("up[5m]", {"instant": True, "range": False}, []),
        ("up[5m]", {}, ["PQL105"]),
        ("up[5m]", {"instant": True, "range": True}, ["PQL105"]),
        ("sum(up", {"instant": True}, ["PQL105"]),
    ],
)
def test_a_query_at_one_instant_may_list_samples(
    expr: str, more: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    shown = {"type": "table", "title": "t", "targets": [{"expr": expr, "format": "table", **more}]}
    assert [one.code for one in compiled(tmp_path, page(shown))[1].sorted()] == expected

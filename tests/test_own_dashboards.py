"""Dashboards that teams bring: what a generator wrote becomes what Grafana loads, and every query is checked."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from own_pages import BOARDS, CASE, TEAM, TEXT, compiled, emitted, graph, page, panel, table, told, understood
from tocsin.cli import run
from tocsin.dashboard import panels, problems, queries, upgraded
from tocsin.dashboard.asked import asked
from tocsin.dashboard.filled import filled
from tocsin.dashboard.judging import faults
from tocsin.dashboard.needs import needs
from tocsin.diagnostics import Log, Severity
from tocsin.jsontext import JsonError, Text, read
from tocsin.naming import dashboard_uid
from tocsin.pipeline import compile_spec
from tocsin.promtypes import of_catalogue
from tocsin.source import Source
from tocsin.verify.dashboards import problems as judged

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.pipeline import Compiled
    from toolbox import Tool

# --- what a generator wrote -------------------------------------------------------------------------------------------


def test_grafana_would_refuse_what_grafanalib_wrote_and_takes_what_becomes_of_it() -> None:
    before = list(judged(BOARDS))
    assert len(before) >= 25
    assert list(problems(BOARDS)) == []
    after = {**upgraded(BOARDS), "uid": "x"}
    assert list(judged(after, brought=True)) == []
    assert after["schemaVersion"] == 39
    assert [step["value"] for step in after["panels"][1]["fieldConfig"]["defaults"]["thresholds"]["steps"]] == [
        None,
        1.0,
    ]


def test_it_comes_out_under_our_rules(tmp_path: Path) -> None:
    made = emitted(
        tmp_path, page(panel(), uid="theirs", id=7, tags=["a", "tocsin"], editable=True, version=3, iteration=1)
    )
    assert made["uid"] == dashboard_uid("lab", "own-team")
    assert made["title"] == "lab: Team"
    assert made["tags"] == ["tocsin", "lab", "owner:infra", "a"]
    assert made["editable"] is False
    assert not {"id", "version", "iteration"} & made.keys()
    assert made["templating"]["list"][0]["name"] == "datasource"


@pytest.mark.parametrize("options", ["node", {"mode": "include", "names": ["node"]}, "/n.*/"])
@pytest.mark.parametrize("value", ["red", 3, True, [{"title": "n", "url": "/d/x"}], {"mode": "fixed"}])
def test_what_an_override_matches_and_sets_is_of_any_type(options: object, value: object) -> None:
    override = {"matcher": {"id": "byName", "options": options}, "properties": [{"id": "custom.x", "value": value}]}
    shown = panel(fieldConfig={"defaults": {}, "overrides": [override]})
    assert list(judged({**upgraded(page(shown)), "uid": "x"}, brought=True)) == []


SOURCE = {"type": "prometheus", "uid": "${datasource}"}


@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        ("prom", SOURCE),
        (None, SOURCE),
        ("$datasource", SOURCE),
        ("${DS_PROMETHEUS}", SOURCE),
        ({"type": "prometheus", "uid": "abc"}, SOURCE),
        ({"uid": "$ds"}, SOURCE),
        ({"type": "datasource", "uid": "-- Mixed --"}, {"type": "datasource", "uid": "-- Mixed --"}),
        ("-- Dashboard --", {"type": "datasource", "uid": "-- Dashboard --"}),
    ],
)
def test_a_data_source_is_that_of_the_dashboard(written: object, becomes: object) -> None:
    made = upgraded(page(panel(datasource=written)))["panels"][0]
    assert made["targets"][0]["datasource"] == (becomes if written == "-- Dashboard --" else SOURCE)
    assert made.get("datasource") == (None if written is None else becomes)


def test_rows_of_old_become_places() -> None:
    old = {
        "title": "Old",
        "schemaVersion": 12,
        "rows": [
            {"title": "a", "panels": [panel(span=4), panel(span=8), panel(span=6)]},
            {"title": "b", "panels": [panel()]},
        ],
    }
    assert list(problems(old)) == []
    made = {**upgraded(old), "uid": "x"}
    assert list(judged(made, brought=True)) == []
    places = [tuple(one["gridPos"][key] for key in "xywh") for one in made["panels"]]
    assert places == [(0, 0, 8, 8), (8, 0, 16, 8), (0, 8, 12, 8), (0, 16, 24, 8)]
    assert [one["id"] for one in made["panels"]] == [1, 2, 3, 4]


def test_ids_and_letters_stay_where_they_tell_apart_and_are_given_where_they_do_not() -> None:
    two = {"targets": [{"expr": "a", "refId": "X"}, {"expr": "b", "refId": "Y"}]}
    kept = upgraded(page(panel(id=7, **two), panel(id=3)))["panels"]
    assert [one["id"] for one in kept] == [7, 3]
    assert [target["refId"] for target in kept[0]["targets"]] == ["X", "Y"]
    two["targets"][1]["refId"] = "X"
    given_ = upgraded(page(panel(id=7, **two), panel(id=7), {"type": "row", "panels": [panel(id=7)]}))["panels"]
    assert [given_[0]["id"], given_[1]["id"], given_[2]["id"], given_[2]["panels"][0]["id"]] == [1, 2, 3, 4]
    assert [target["refId"] for target in given_[0]["targets"]] == ["A", "B"]
    many = upgraded(page(panel(targets=[{"expr": "up"}] * 30)))["panels"][0]["targets"]
    assert len({target["refId"] for target in many}) == 30


def test_links_lead_to_the_new_uids() -> None:
    made = case_pages()
    (link,) = made["mixin-hosts-hosts.json"]["panels"][1]["links"]
    assert link["url"] == f"/d/{made['mixin-hosts-one-host.json']['uid']}?var-node=$node"


def case_pages() -> dict[str, dict[str, Any]]:
    log = Log()
    made = compile_spec(str(CASE / "spec.yaml"), log, {})
    assert made is not None, log.sorted()
    return {
        one.path.rpartition("/")[2]: json.loads(one.text)
        for one in made.artifacts
        if re.search(r"/(own|mixin)-[^/]*\.json$", one.path)
    }


def test_each_page_of_the_case_has_the_form_that_grafana_takes() -> None:
    made = case_pages()
    assert len(made) == 4
    assert {name: list(judged(one, brought=True)) for name, one in made.items()} == {name: [] for name in made}
    assert len({one["uid"] for one in made.values()}) == 4


def test_folders_that_differ_in_case_only_are_one(tmp_path: Path) -> None:
    text = TEAM.replace("owner: infra}\n\nalerting", "owner: infra, folder: owners}\n\nalerting")
    assert text != TEAM
    (tmp_path / "spec.yaml").write_text(text, "utf-8")
    (tmp_path / "team.json").write_text(json.dumps(page(panel())), "utf-8")
    made = compile_spec(str(tmp_path / "spec.yaml"), Log(), {})
    assert made is not None
    assert [one.folder for one in made.plan.pages] == ["Owners"]


# --- any JSON ---------------------------------------------------------------------------------------------------------

LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-5, 99), st.floats(allow_nan=False), st.text(max_size=4))
JUNK = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
)
GOOD = page(
    panel(
        gridPos={"x": 0, "y": 0, "w": 1, "h": 1}, links=[{"title": "a"}], fieldConfig=BOARDS["panels"][1]["fieldConfig"]
    ),
    {"type": "row", "title": "r", "panels": [panel("rate(a[$__interval])", id=1, datasource={"uid": "x"})]},
    {
        "type": "table",
        "title": "t",
        "targets": [{"expr": "up", "format": "table", "legendFormat": "{{node}}"}],
        "transformations": [
            {"id": "joinByField", "options": {"byField": "node"}},
            {"id": "organize", "options": {"renameByName": {"node": "Host"}}},
        ],
        "fieldConfig": {
            "defaults": {"links": [{"title": "n", "url": "/d/x?var-node=${__data.fields.Host}"}]},
            "overrides": [
                {
                    "matcher": {"id": "byName", "options": "node"},
                    "properties": [{"id": "links", "value": [{"title": "n", "url": "${__field.labels.node}"}]}],
                }
            ],
        },
    },
    {"id": 5, "libraryPanel": {"uid": "lib", "name": "Shared"}},
    {
        "type": "graph",
        "title": "g",
        "datasource": {"type": "datasource", "uid": "-- Mixed --"},
        "targets": [
            {"expr": "$agg by (node) (up{$more})", "datasource": "${DS_LOGS}"},
            {"datasource": {"type": "__expr__", "uid": "__expr__"}, "type": "math", "expression": "$A"},
        ],
    },
    __inputs=[{"name": "DS_LOGS", "type": "datasource", "pluginId": "loki"}, {"name": "x", "type": "constant"}],
    __elements={"lib": {"model": panel(id=3)}},
    templating=BOARDS["templating"],
    annotations={"list": [{"name": "a", "enable": True, "iconColor": "red", "expr": "up", "datasource": None}]},
    rows=[{"panels": [panel(span=3)]}],
    tags=["a"],
    links=[{"title": "b"}],
    timepicker=BOARDS["timepicker"],
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


PLACES = places(GOOD)[1:]


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PLACES), JUNK)
def test_a_dashboard_of_any_form_is_told_or_becomes_one(place: tuple[Any, ...], junk: Any) -> None:
    broken = deepcopy(GOOD)
    part: Any = broken
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = junk
    list(queries(broken))
    if not list(problems(broken)):
        made = upgraded(broken)
        assert list(panels(made))
        list(judged(made, brought=True))
        list(faults(broken, of_catalogue()))
        list(needs(broken))


@pytest.mark.parametrize("wrong", [5, 1.5, True, "x", {"a": 1}])
@pytest.mark.parametrize(
    "place",
    [
        ("panels",),
        ("rows",),
        ("rows", 0, "panels"),
        ("panels", 0, "targets"),
        ("panels", 1, "panels"),
        ("templating", "list"),
        ("annotations", "list"),
        ("panels", 0, "fieldConfig", "defaults", "links"),
    ],
)
def test_what_is_no_list_is_told_where_a_list_belongs(place: tuple[Any, ...], wrong: object, tmp_path: Path) -> None:
    broken = deepcopy(GOOD)
    part: Any = broken
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = wrong
    made, log = compiled(tmp_path, broken)
    assert made is None
    assert [one.code for one in log.sorted()] == ["DSH102"]
    assert "is not a list" in log.sorted()[0].message


def test_what_the_fuzz_begins_with_is_sound() -> None:
    assert list(problems(GOOD)) == []
    assert list(judged({**upgraded(GOOD), "uid": "x"}, brought=True)) == []


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 5000, '{"title": NaN}', "", "\x00", "'x'", '{"title": "\ud800"}'[:11]]
)
def test_what_is_no_json_is_told_where_it_stands(text: str, tmp_path: Path) -> None:
    made, log = compiled(tmp_path, text)
    assert made is None
    assert {told.code for told in log.sorted()} == {"DSH101"}
    assert all(told.span.path == "team.json" for told in log.sorted())


# --- queries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "becomes", "bare"),
    [
        ("rate(a[$__rate_interval])", "rate(a[5m])", False),
        ("rate(a[${__interval}])", "rate(a[5m])", False),
        ("max_over_time(a[$__range:$__interval])", "max_over_time(a[6h:1m])", False),
        ("rate(a[${__range_s}s])", "rate(a[6h])", False),
        ("rate(a[${__range_ms}ms])", "rate(a[6h])", False),
        ("rate(a[$__range])", "rate(a[6h])", False),
        ("rate(a[${n}m])", "rate(a[5m])", False),
        ("max_over_time(a[15m:$__interval])", "max_over_time(a[15m:1m])", False),
        ('a{b="${__user.login}", c="${__from:date:YYYY-MM}"}', 'a{b="…", c="…"}', False),
        (
            "sum(a) # what's up with $b\n+ sum(rate(c[$__rate_interval]))",
            "sum(a) # what's up with $b\n+ sum(rate(c[5m]))",
            False,
        ),
        ('a{b="#$b"} # $c', 'a{b="#…"} # $c', False),
        ("a offset $shift", "a offset 5m", False),
        ('a{b=~"$b", c="${c:regex}.*", d!="[[d]]"}', 'a{b=~"…", c="….*", d!="…"}', False),
        ("a{b=~'$b'}", "a{b=~'…'}", False),
        ('a{b=~"x$|y"}', 'a{b=~"x$|y"}', False),
        ("topk($n, a)", "topk(tocsin_any_name, a)", True),
        ("sum by ($by) (a)", "sum by (tocsin_any_name) (a)", True),
        ("a > 1", "a > 1", False),
        ("rate(a[${n}h])", "rate(a[5m])", False),
        ("rate(a[$n$unit])", "rate(a[5m])", False),
        ("rate(a[[[window]]])", "rate(a[5m])", False),
        ("max_over_time(a[$__range:${step}s])", "max_over_time(a[6h:1m])", False),
        ("a offset -${shift}h", "a offset -5m", False),
        ("job:$name", "job:tocsin_any_name", True),
        ("job:$name:rate5m[5m]", "job:tocsin_any_name:rate5m[5m]", True),
        ("label_join(a, '$to', ',', 'b')", "label_join(a, 'tocsin_any_name', ',', 'b')", True),
    ],
)
def test_a_query_with_variables_is_promql_without(query: str, becomes: str, bare: bool) -> None:
    made = filled(query)
    assert (made.text, made.is_bare) == (becomes, bare)
    if "[5m]" not in query:
        assert understood(query)
    for offset in (0, len(becomes)):
        assert made.place(offset) == (0 if offset == 0 else len(query))


def test_places_behind_a_variable_are_those_of_the_query() -> None:
    query = 'sum(rate(a{b=~"$cluster"}[$__rate_interval])) / c'
    made = filled(query)
    assert query[made.place(made.text.index("/"))] == "/"
    assert query[made.place(made.text.index("rate"))] == "r"
    assert made.place(made.text.index("…")) == query.index("$cluster")


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("up == 0", []),
        ('DCGM_FI_DEV_GPU_TEMP{node=~"$node"}', []),
        ('DCGM_FI_DEV_GPU_TEMP{node="elsewhere"}', [("PQL104", '\\"elsewhere\\"')]),
        ('DCGM_FI_DEV_GPU_TEMP{node=~"$node", color="red"}', [("PQL103", "color")]),
        (
            'sum(rate(DCGM_FI_DEV_GPU_TEMP{node=~"$node"}[5m]))',
            [("PQL201", 'rate(DCGM_FI_DEV_GPU_TEMP{node=~\\"$node\\"}[5m])')],
        ),
        ("sum(up", [("PQL105", "")]),
        ('"ü😀" + up', [("PQL105", '\\"ü😀\\"')]),
        ("DCGM_FI_DEV_GPU_TEMPO", [("PQL214", "DCGM_FI_DEV_GPU_TEMPO")]),
        ("node_load1 + team:x:y", [("DSH108", "node_load1"), ("DSH106", "team:x:y")]),
        ("rate(vllm:request_prompt_tokens_sum[5m])", [("DSH108", "vllm:request_prompt_tokens_sum")]),
        ("max(vllm:tokens:rate5m)", [("DSH106", "vllm:tokens:rate5m")]),
        ("topk($n, node_load1)", [("DSH108", "node_load1")]),
        ("max(node:gpus_present:count) or max(team:x:y)", [("DSH106", "team:x:y")]),
        ('up{node=~"$nod"} > $__range_s', [("DSH107", "$nod")]),
        ('label_replace(up, "node", "$1", "instance", "(.*):.*")', []),
        ('up{node="${__user.login}"}', []),
        ("max(up) # what's up, $nothing", []),
        ("max_over_time(up[${__range_ms}ms:1h])", []),
        ("max_over_time(max(up)[$__range:$__interval])", []),
    ],
)
def test_what_is_wrong_with_a_query_is_told_at_its_characters(
    expr: str, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    found = told(tmp_path, expr)
    assert [code for code, _ in found] == [code for code, _ in expected]
    for (_, there), (_, wanted) in zip(found, expected, strict=True):
        assert not wanted or wanted == there


@pytest.mark.parametrize(
    ("metric", "job", "code"),
    [
        ("node_load1", "node", "DSH108"),
        ("process_resident_memory_bytes", "dcgm", "DSH108"),
        ("DCGM_FI_DEV_NEW", "dcgm", "PQL214"),
        ("vllm:request_prompt_tokens_sum", "vllm", "DSH108"),
    ],
)
def test_what_nobody_knows_is_known_once_it_is_defined(metric: str, job: str, code: str, tmp_path: Path) -> None:
    made, log = compiled(tmp_path, page(panel(f"max({metric})")))
    (told,) = log.sorted()
    assert told.code == code
    assert (made is not None) == (told.severity is Severity.WARNING) == (code == "DSH108")
    own = f"  define:\n    mine: {{metric: '{metric}', type: gauge, unit: '1', layer: runtime, job: {job}}}\n"
    text = TEAM.replace("\nsignals:\n", f"\nsignals:\n{own}")
    assert text != TEAM
    if job == "vllm":
        text = re.sub(r"(\n    nodes:\n)", r"\n    exporters: {vllm: {at: ['a:8000']}}\1", text, count=1)
    (tmp_path / "spec.yaml").write_text(text, "utf-8")
    log = Log()
    made = compile_spec(str(tmp_path / "spec.yaml"), log, {})
    assert [one.message for one in log.sorted()] == []
    assert made is not None
    listed = [one.path for one in made.artifacts if one.path.endswith(".csv") and f"\n{metric}," in one.text]
    assert bool(listed) == metric.startswith("DCGM_")


def test_what_nobody_names_is_stored_of_the_exporters_of_every_node(tmp_path: Path) -> None:
    """Why a series that nobody knows is a doubt, and no error."""
    made, _ = compiled(tmp_path, page(panel()))
    assert made is not None
    kept = {
        job.name
        for server in made.plan.servers
        for job in server.jobs
        if not any(step.action == "keep" and step.source == ("__name__",) for step in job.relabel)
    }
    assert kept >= {"dcgm", "node"}


RETENTION = """
retention:
  hot: {resolution: full, keep: 7d}
  warm: {resolution: 5m, keep: 180d}
  evidence: {resolution: full, keep: 1y, signals: [xid], store: {url: "http://thanos-receive:19291/api/v1/receive"}}
"""


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        ("max_over_time(up[1w] offset 20w)", ""),
        ("max_over_time(up[1w] offset 26w)", "this looks back 189d, and its longest tier keeps 180d"),
        ("max_over_time(DCGM_FI_DEV_GPU_TEMP[1w] offset 20w)", ""),
        ("max_over_time(DCGM_FI_DEV_GPU_TEMP[200d])", "this looks back 200d, and its longest tier keeps 180d"),
        ("max_over_time(DCGM_FI_DEV_XID_ERRORS[200d])", ""),
        ("max_over_time(DCGM_FI_DEV_XID_ERRORS[400d])", "this looks back 400d, and its longest tier keeps 365d"),
    ],
)
def test_a_dashboard_looks_back_to_the_end_of_the_longest_tier(expr: str, message: str, tmp_path: Path) -> None:
    text = TEAM.replace('dcgm_exporter: "4.8.2"', 'dcgm_exporter: "4.8.2", long_term: thanos') + RETENTION
    (tmp_path / "spec.yaml").write_text(text, "utf-8")
    (tmp_path / "team.json").write_text(json.dumps(page(panel(expr))), "utf-8")
    log = Log()
    compile_spec(str(tmp_path / "spec.yaml"), log, {})
    assert [one.message.partition(": ")[2] or one.message for one in log.sorted()] == ([message] if message else [])


BY_NODE, ALL = "max by (node) (up)", "max(up)"
RENAMED = {"id": "organize", "options": {"renameByName": {"node": "Host", "rack": "Rack"}}}
JOINED = {"id": "joinByField", "options": {"byField": "node"}}
MADE = {"id": "calculateField", "options": {"alias": "rack"}}


@pytest.mark.parametrize(
    ("shown", "needed"),
    [
        (graph(BY_NODE, legend="{{ node }} is {{__name__}}"), ""),
        (graph(BY_NODE, legend="__auto"), ""),
        (graph(BY_NODE, legend="{{rack}}"), "rack"),
        (graph(BY_NODE, ALL, legend="{{node}}"), "node"),  # the second query's lines would have no name
        (graph(BY_NODE, ALL, url="?n=${__field.labels.node:percentencode}&t=${__url_time_range}"), ""),
        (graph(BY_NODE, ALL, url="?n=${__field.labels.rack}"), "rack"),
        (graph(BY_NODE, ALL, url='?n=${__field.labels["rack"]}'), "rack"),
        (graph("sum by ($by) (up)", url="?n=${__field.labels.rack}", legend="{{rack}}"), ""),  # nobody knows here
        ({**graph(BY_NODE), "targets": [{"expr": ALL, "legendFormat": "{{rack}}", "hide": True}, {"expr": ALL}]}, ""),
        ({**graph(BY_NODE), "targets": [{"expr": ALL, "legendFormat": "{{rack}}", "hide": False}]}, "rack"),
        (table(BY_NODE, steps=[{**MADE, "disabled": True}], url="?n=${__data.fields.rack}"), "rack"),
        (table(BY_NODE, ALL, steps=[{**JOINED, "disabled": True}]), ""),
        (graph('count_values("size", up)', legend="{{size}}"), ""),
        (graph('label_replace(up, "rack", "$1", "node", "(.*)-.*")', legend="{{rack}}"), ""),
        (table(BY_NODE, url="?n=${__data.fields.node}&v=${__data.fields.Value}"), ""),
        (table(BY_NODE, url="?n=${__data.fields.rack}"), "rack"),
        (table(BY_NODE, steps=[RENAMED], url='?n=${__data.fields["Host"]}'), ""),
        (table(BY_NODE, steps=[RENAMED], url="?n=${__data.fields.Rack}"), "Rack"),
        (table(BY_NODE, steps=[MADE], url="?n=${__data.fields.rack}"), ""),  # a field that the table makes itself
        (table(BY_NODE, ALL, steps=[JOINED]), "node"),
        (table(BY_NODE, BY_NODE, steps=[JOINED]), ""),
        (table(BY_NODE, ALL, steps=[{"id": "joinByField", "options": {"byField": "Time"}}]), ""),
    ],
)
def test_a_label_that_is_shown_or_handed_on_is_one_of_the_querys(
    shown: dict[str, Any], needed: str, tmp_path: Path
) -> None:
    variables = {"list": [{"type": "textbox", "name": "by"}]}
    found = told(tmp_path, "up", panels=[shown], templating=variables)
    assert found == ([("DSH109", needed)] if needed else [])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("label_values(up, node)", []),
        ("label_values(up,rack)", [("DSH109", "rack")]),
        ("label_values(max by (node) (up), node )", []),
        ("label_values(node)", []),
        ("label_values(up, $by)", []),
        (" label_values( up , node ) ", []),
        ("label_values(up, ra(ck))", [("PQL105", "label_values")]),
        ("label_values(up, )", [("PQL105", "label_values")]),
        ("label_names()", []),
        ("metrics(up)", []),
        ("query_result(topk(3, up))", []),
        ("query_result(topk(3, ups))", [("DSH108", "ups")]),
        ({"query": "label_values(up, rack)", "refId": "A"}, [("DSH109", "rack")]),
    ],
)
def test_the_values_of_a_variable_are_those_of_a_label(
    query: object, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    variables = [{"type": "query", "name": "node", "query": query}, {"type": "textbox", "name": "by"}]
    assert told(tmp_path, "up", templating={"list": variables}) == expected


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ('up{job="node"}', []),
        ('up{job=~"no.*"}', []),
        ('up{job!="elsewhere"}', []),
        ('up{job=~"$by"}', []),
        ('up{job="elsewhere"}', [("PQL104", '\\"elsewhere\\"')]),
        ('ALERTS{alertname="GpuLost"}', []),
        ('ALERTS{alertname=~"Gone.*"}', [("PQL104", '\\"Gone.*\\"')]),
        ('{__name__=~"DCGM_FI_DEV_GPU_TEMP|DCGM_FI_DEV_GPU_TEMPO|tempo"}', [("DSH108", "tempo")]),
    ],
)
def test_jobs_and_alerts_are_those_of_the_plan(expr: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    variables = {"list": [{"type": "textbox", "name": "by"}]}
    assert told(tmp_path, expr, templating=variables) == expected


def of_mixin(folder: Path, model: dict[str, Any]) -> tuple[Compiled | None, list[tuple[str, Severity]]]:
    """What comes of a spec with a mixin that has this dashboard, and what is told."""
    text = TEXT.replace("alerting:", "mixins: {pods: {path: pods.libsonnet, owner: infra}}\n\nalerting:")
    text = re.sub(r"dashboards:\n.*?(?=mixins:)", "", text, flags=re.DOTALL)
    (folder / "spec.yaml").write_text(text, "utf-8")
    (folder / "pods.libsonnet").write_text(json.dumps({"grafanaDashboards": {"pods.json": model}}), "utf-8")
    log = Log()
    made = compile_spec(str(folder / "spec.yaml"), log, {})
    return made, [(one.code, one.severity) for one in log.sorted()]


@pytest.mark.parametrize(
    ("expr", "code"),
    [
        ('up{job="kubelet"}', "PQL104"),
        ('ALERTS{alertname="KubePodCrashLooping"}', "PQL104"),
        ("vllm:request_prompt_tokens_sum", "DSH104"),
        ("node_load1", "DSH104"),
    ],
)
def test_what_only_a_mixin_names_is_doubted(expr: str, code: str, tmp_path: Path) -> None:
    made, told = of_mixin(tmp_path, page(panel(expr)))
    assert made is not None
    assert told == [(code, Severity.WARNING)]


@pytest.mark.parametrize("model", [page(panel(targets=5)), {**page(), "panels": 5}, page(rows=True)])
def test_a_mixins_dashboard_of_any_form_is_told(model: dict[str, Any], tmp_path: Path) -> None:
    assert of_mixin(tmp_path, model) == (None, [("DSH102", Severity.ERROR)])


@pytest.mark.parametrize("several", [True, False])
def test_what_servers_are_called_by_is_on_series_where_there_are_several(several: bool, tmp_path: Path) -> None:
    """A data source above them sees their external labels; one server's own are on no series of it."""
    panels = [graph("max by (region) (DCGM_FI_DEV_GPU_TEMP)", "count by (region) (up)", legend="{{region}}")]
    replicas = '{replicas: 2, address: "prometheus-{server}.{cluster}.example.com:9090"}'
    spread = TEAM.replace("\nsignals:", f"\ncollection: {{servers: {replicas}}}\nsignals:")
    assert spread != TEAM
    (tmp_path / "spec.yaml").write_text(spread if several else TEAM, "utf-8")
    (tmp_path / "team.json").write_text(json.dumps(page(*panels)), "utf-8")
    log = Log()
    compile_spec(str(tmp_path / "spec.yaml"), log, {})
    assert {one.code for one in log.sorted()} == (set() if several else {"PQL103"})


def test_alerts_without_a_proof_have_the_labels_of_their_expressions(tmp_path: Path) -> None:
    """Those of the spec's own alert: nothing else says that a filesystem has a device."""
    own = "alerts:\n  Full:\n    {expr: 'min by (cluster, device, rack) (label_replace(node_filesystem_avail_bytes, "
    own += '"rack", "$1", "node", "(.*)")) < 1e9\', owner: infra, layer: runtime, severity: ticket, summary: Full, '
    own += "description: It is full.}\n\nalerting:"
    (tmp_path / "spec.yaml").write_text(TEAM.replace("alerting:", own), "utf-8")
    shown = graph('ALERTS{alertname="Full"}', legend="{{rack}} {{severity}}")
    (tmp_path / "team.json").write_text(json.dumps(page(shown)), "utf-8")
    log = Log()
    compile_spec(str(tmp_path / "spec.yaml"), log, {})
    assert [one.message for one in log.sorted()] == []
    assert [code for code, _ in told(tmp_path, "up", panels=[graph("ALERTS", legend="{{rack}}")])] == ["DSH109"]


@pytest.mark.parametrize("call", ["label_values", "query_result", "metrics"])
@pytest.mark.parametrize("filling", [" ", ")", ",", "),", ") ", "x,"])
def test_a_variable_of_any_length_is_read_in_linear_time(call: str, filling: str) -> None:
    """A hundred times what took 41 s by a regular expression that tried every split."""
    query = f"{call}(up,{filling * 400_000}x y"
    model = page(panel(), templating={"list": [{"type": "query", "name": "v", "query": query}]})
    assert [one.text for asking in asked(model) for one in asking.queries] == ["up == 0", query]


@pytest.mark.parametrize("source", ["-- Dashboard --", {"type": "datasource", "uid": "-- Dashboard --"}])
def test_a_panel_that_shows_what_another_asked_for_has_no_query_of_its_own(source: object, tmp_path: Path) -> None:
    shown = {"type": "stat", "title": "Same", "datasource": source, "targets": [{"panelId": 1, "refId": "A"}]}
    made = emitted(tmp_path, page(panel(id=1), {**shown, "id": 2}))
    (target,) = made["panels"][1]["targets"]
    assert target["panelId"] == 1
    assert target["datasource"]["uid"] == "-- Dashboard --"
    assert list(judged(made, brought=True)) == []


def test_variables_and_annotations_are_asked_about_too(tmp_path: Path) -> None:
    variable = {"type": "query", "name": "node", "query": 'label_values(DCGM_FI_DEV_GPU_TEMP{colour="x"}, node)'}
    annotation = {"name": "x", "enable": True, "iconColor": "red", "expr": "rate(DCGM_FI_DEV_GPU_TEMP[5m])"}
    found = told(tmp_path, "up", templating={"list": [variable]}, annotations={"list": [annotation]})
    assert found == [("PQL103", "colour"), ("PQL201", "rate(DCGM_FI_DEV_GPU_TEMP[5m])")]


def test_what_a_dashboard_reads_is_collected(tmp_path: Path) -> None:
    made, _ = compiled(tmp_path, page(panel("DCGM_FI_DEV_FB_USED")))
    assert made is not None
    (counters,) = (one.text for one in made.artifacts if one.path.endswith(".csv"))
    assert "DCGM_FI_DEV_FB_USED" in counters


# --- what only a build knows ------------------------------------------------------------------------------------------


def built(folder: Path, written: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    (folder / "spec.yaml").write_text(TEAM, "utf-8")
    (folder / "team.json").write_text(json.dumps(written), "utf-8")
    assert run(["build", "--out", str(folder / "out"), str(folder / "spec.yaml")]) == 0
    return capsys.readouterr().out


def test_a_structure_that_grafana_does_not_have_is_told(
    newest: dict[str, Tool], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = built(tmp_path, page(panel(sparkline=True, options={"legend": {"show": 1}}), colour="red"), capsys)
    assert "warning[DSH105]: not as Grafana's schema has it: panels/0: Additional properties are not allowed" in out
    assert "('colour' was unexpected)" in out
    assert "panel 'Up' Options legend: Additional properties are not allowed ('show' was unexpected)" in out
    assert "VFY106" not in out


# --- texts of JSON know their places ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["plain", 'a "quoted" one', "back\\slash", "ü", "😀", "\n\t", "\u2028", "a/b", ""])
@pytest.mark.parametrize("ascii_", [True, False])
def test_each_character_of_a_text_has_its_place(text: str, ascii_: bool) -> None:
    source = Source("x.json", '{"a": [1, ' + json.dumps(text, ensure_ascii=ascii_) + "]}")
    found = read(source)["a"][1]
    assert isinstance(found, Text)
    assert found == text
    for index, char in enumerate(text):
        span = found.inside(index, index + 1)
        written = source.text[source.offset(span.line, span.column) : source.offset(span.end_line, span.end_column)]
        assert json.loads(f'"{written}"') == char


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "[1e999]", '["\\ud800"]', "[NaN]", "[Infinity]", "[1,]", "{} {}"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(JsonError):
        read(Source("x.json", text))

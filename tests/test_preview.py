"""The page of `tocsin preview` before anybody opens it: queries, times, rows, choices, nothing that gets out of it."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from py_mini_racer import MiniRacer

from conftest import ROOT
from preview_made import FOLDERS, HOSTILE, HOUR, Told, artifacts, hostile_page, panel
from tocsin.artifact import Artifact
from tocsin.preview.boards import boards
from tocsin.preview.choices import gathered
from tocsin.preview.heatmaps import buckets
from tocsin.preview.legends import legend
from tocsin.preview.links import links
from tocsin.preview.marks import beginnings
from tocsin.preview.page import inert, page, static
from tocsin.preview.parts import part
from tocsin.preview.prometheus import Series
from tocsin.preview.tables import table
from tocsin.preview.times import POINTS, Period
from tocsin.preview.variables import asked, interpolated, matcher
from tocsin.templates import template
from tocsin.units import Duration

# What npm's uplot 1.6.32 holds, by SHA-256.
UPLOT = {
    "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}


# --- queries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ('up{node=~"$node"}', 'up{node=~"a|b"}'),
        ('up{node=~"${node}"}', 'up{node=~"a|b"}'),
        ('up{node=~"${node:regex}"}', 'up{node=~"a|b"}'),
        ('up{node=~"$nodes"}', 'up{node=~"$nodes"}'),
        ('label_replace(up, "a", "$1", "b", "(.*)")', 'label_replace(up, "a", "$1", "b", "(.*)")'),
    ],
)
def test_variables_are_filled_in_and_nothing_else(text: str, filled: str) -> None:
    assert interpolated(text, {"node": "a|b"}) == filled


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("gpu-node-01", "gpu-node-01"),
        ("127.0.0.11", r"127\\.0\\.0\\.11"),
        ('a"b', r"a\"b"),
        ("a\\b", r"a\\\\b"),
        ("a\nb", r"a\nb"),
    ],
)
def test_a_chosen_value_is_escaped_as_grafana_does(value: str, text: str) -> None:
    assert matcher(value) == text


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1))
def test_a_chosen_value_matches_itself_and_leaves_no_string(value: str) -> None:
    text = matcher(value)
    assert not re.search(r'(?<!\\)(?:\\\\)*"', text)
    expression = json.loads(f'"{text}"')
    assert re.fullmatch(expression, value)


def test_where_a_variable_has_its_values_from() -> None:
    query = 'label_values(up{job="dcgm", cluster=~"$cluster"}, node)'
    assert asked(query) == ("node", 'up{job="dcgm", cluster=~"$cluster"}')
    with pytest.raises(ValueError, match="query_result"):
        asked("query_result(up)")


# --- time -------------------------------------------------------------------------------------------------------------


@given(st.integers(10**6, 2 * 10**9), st.integers(1, 400 * 86400))
def test_a_period_ends_at_most_a_step_ago_and_is_as_long_as_asked(end: int, seconds: int) -> None:
    period = Period.before(end, Duration.of(seconds=seconds))
    assert period.start % period.step == period.end % period.step == 0
    assert end - period.step < period.end <= end
    assert seconds - period.step < period.end - period.start <= seconds
    assert period.moments <= POINTS + 1


def test_samples_lie_on_the_grid_and_gaps_stay() -> None:
    period = Period(100, 160, 20)
    assert period.on_grid([(100.0, 1.0), (140.0, 3.0), (180.0, 9.0)]) == [1.0, None, 3.0, None]


# --- what panels show -------------------------------------------------------------------------------------------------


def test_a_series_is_called_by_its_legend() -> None:
    labels = {"__name__": "up", "node": "a", "job": "dcgm"}
    assert legend("{{node}}: {{ job }}", labels) == "a: dcgm"
    assert legend("XID {{err_code}} {{node}}", labels) == "XID  a"
    assert legend("", labels) == 'up{job="dcgm", node="a"}'
    assert legend("", {}) == ""


def test_buckets_hold_what_fell_into_them() -> None:
    period = Period(0, 20, 20)
    answer = [
        Series({"le": "+Inf"}, [(0, 10), (20, 12)]),
        Series({"le": "0.1"}, [(0, 4), (20, 4)]),
        Series({"le": "1"}, [(0, 9), (20, 8)]),
    ]
    rows = buckets(answer, period)
    assert [(row["name"], row["values"]) for row in rows] == [("0.1", [4, 4]), ("1", [5, 4]), ("+Inf", [1, 4])]


LINK = {"title": "Its GPU", "url": "/d/gpus?var-node=${__field.labels.node}&var-gpu=${__field.labels.gpu}&x"}


def test_a_link_carries_the_labels_and_one_that_lacks_some_is_none() -> None:
    shown_in = panel("timeseries", fieldConfig={"defaults": {"links": [LINK]}})
    assert [*links(shown_in, {"node": "a", "gpu": "g"})] == [("Its GPU", "gpus", (("node", "a"), ("gpu", "g")))]
    assert [*links(shown_in, {"node": "a"})] == []


def test_rows_of_several_queries_become_one() -> None:
    steps = [
        {"id": "joinByField", "options": {"byField": "slo", "mode": "outer"}},
        {"id": "filterFieldsByName", "options": {"include": {"names": ["slo", "owner", "Value #A", "Value #B"]}}},
        {
            "id": "organize",
            "options": {
                "indexByName": {"owner": 0, "slo": 1, "Value #A": 2, "Value #B": 3},
                "renameByName": {"Value #A": "objective", "Value #B": "left"},
            },
        },
    ]
    link = {"title": "Its budget", "url": "/d/slos?var-slo=${__data.fields.slo}&x"}
    shown_in = panel("table", transformations=steps, fieldConfig={"defaults": {"links": [link]}})
    answers = [
        [Series({"slo": "a", "owner": "o"}, [(0, 0.99)]), Series({"slo": "b", "owner": "p"}, [(0, 0.5)])],
        [Series({"slo": "b"}, [(0, 0.1)]), Series({"slo": "c"}, [(0, float("nan"))])],
    ]
    shown = table(shown_in, answers)
    assert shown["columns"] == ["owner", "slo", "objective", "left"]
    assert [row["cells"] for row in shown["rows"]] == [
        ["o", "a", 0.99, None],
        ["p", "b", 0.5, 0.1],
        [None, "c", None, None],
    ]
    assert shown["rows"][1]["links"] == [("Its budget", "slos", (("slo", "b"),))]


def test_what_is_too_much_is_counted() -> None:
    many = [Series({"node": f"n{index}"}, [(0, 1)]) for index in range(130)]
    assert len(part(panel("timeseries"), [many], HOUR)["rows"]) == 40
    assert part(panel("timeseries"), [many], HOUR)["more"] == 90
    assert part(panel("table"), [many], HOUR)["more"] == 30


def test_what_cannot_be_drawn_says_so() -> None:
    assert part(panel("geomap"), [[]], HOUR) == {"error": "The preview does not draw panels of the kind geomap."}
    unknown = panel("table", transformations=[{"id": "groupBy", "options": {}}])
    assert part(unknown, [[]], HOUR) == {"error": "The preview does not know the transformation groupBy."}


def test_what_began_is_marked_once_and_again_after_a_gap() -> None:
    period = Period(0, 100, 10)
    answer = [
        Series({"alertname": "Two"}, [(20, 1), (30, 1), (60, 1), (70, 1)]),
        Series({"alertname": "One"}, [(0, 0), (10, 1)]),
    ]
    assert beginnings(answer, "{{alertname}}", period) == [(10, "One"), (20, "Two"), (60, "Two")]


def test_the_edges_of_a_band_are_the_upper_and_the_lower_one() -> None:
    matcher = {"id": "byNames", "options": {"mode": "include", "names": ["least", "most"]}}
    config = {"defaults": {"custom": {"fillBelowTo": "least"}}, "overrides": [{"matcher": matcher, "properties": []}]}
    assert static(panel("timeseries", fieldConfig=config))["band"] == ["most", "least"]
    assert static(panel("timeseries"))["band"] == []


def test_everything_that_is_emitted_can_be_drawn() -> None:
    files = [*ROOT.glob("out/*/grafana/dashboards/*/*.json"), *ROOT.glob("tests/cases/golden/**/dashboards/*/*.json")]
    panels = [one for path in files for one in json.loads(path.read_text("utf-8"))["panels"]]
    script = template("preview/page.js")
    assert len(panels) > 500
    for one in panels:
        shown = part(one, [[] for _ in one["targets"]], HOUR)
        assert "error" not in shown, f"{one['title']}: {shown}"
        assert re.search(rf'[ "]{one["type"]}"?: (Plain|Charts|Cells)[.]', script), one["type"]


# --- which choices are in the page ------------------------------------------------------------------------------------


def test_all_comes_first_then_what_links_lead_to_then_single_values() -> None:
    found = gathered(boards(artifacts(), FOLDERS), Told(), HOUR, 10)
    assert [*found.choices["two"]] == [(None,), ("a",), ("b",), ("c",)]
    assert [*found.choices["one"]] == [(None,), ("a",), ("b",), ("c",)]


def test_a_list_of_values_is_bounded_and_says_so() -> None:
    nodes = tuple(f"n{index:03}" for index in range(230))
    found = gathered(boards(artifacts(), FOLDERS), Told(nodes), HOUR, 3)
    (data,) = re.findall(r'(?s)id="data">(.*?)</script>', page(found, HOUR, {"factory": "lab"}))
    for board in json.loads(data)["boards"]:
        (variable,) = board["variables"]
        assert (len(variable["values"]), variable["more"]) == (200, 30)
        assert len(board["choices"]) <= 3


def test_no_dashboard_has_more_choices_than_the_limit() -> None:
    found = gathered(boards(artifacts(), FOLDERS), Told(), HOUR, 2)
    assert [*found.choices["two"]] == [(None,), ("a",)]


def test_a_panel_without_data_says_who_else_records_what_it_asks_for() -> None:
    said = {"a:b:c": "where the store is read", "a:b": "by nobody whom it asks"}
    target = {"expr": 'max(a:b:c{node="a:b"}) or broken', "instant": False}
    empty = {**target, "expr": "max(a:b:c)"}
    model = {
        "uid": "two",
        "title": "t",
        "templating": {"list": []},
        "panels": [panel("stat", targets=[one]) for one in (empty, target, {**empty, "expr": "up"})],
    }
    found = gathered(
        boards([Artifact("grafana/dashboards/f/two.json", json.dumps(model), ())], FOLDERS), Told(()), HOUR, 1, said
    )
    (numbers,) = found.choices["two"].values()
    parts = [json.loads(found.parts[number]) for number in numbers[:3]]
    assert parts[0] == {"rows": [], "more": 0, "why": "No data here: a:b:c is recorded where the store is read."}
    assert parts[1] == {"error": "Prometheus refuses the query: parse error"}
    assert parts[2] == {"rows": [], "more": 0}
    found = gathered(found.boards, Told(), HOUR, 1, said)
    assert "No data" not in "".join(found.parts)


def test_nothing_is_asked_twice_and_a_refusal_is_shown_in_itspanel() -> None:
    told = Told()
    found = gathered(boards(artifacts(), FOLDERS), told, HOUR, 10)
    # Three values and all of them, once for now and once over time; beside these what fails, and what is marked.
    assert len(told.queries) == 2 * 4 + 2
    assert told.queries.count("broken") == 1
    numbers = found.choices["two"][(None,)]
    assert json.loads(found.parts[numbers[1]]) == {"error": "Prometheus refuses the query: parse error"}


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_needs_nothing_else() -> None:
    text = re.sub(r"(?s)<script type=.*?</script>", "", hostile_page())
    assert not re.findall(r'(?:src|href)="(?!data:,")[^"]*"', text)
    assert "@import" not in text
    assert "url(" not in text
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]


def test_the_policy_names_what_stands_in_thehostile_page() -> None:
    import base64

    text = hostile_page()
    for tag in ("style", "script"):
        (body,) = re.findall(rf"(?s)<{tag}>(.*?)</{tag}>", text)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in text


def test_no_text_of_the_data_is_markup() -> None:
    text = hostile_page()
    assert text.count("<script") == 2
    assert text.count("</script") == 2
    assert "<!--" not in text
    assert not {"\u2028", "\u2029"} & set(text)
    (data,) = re.findall(r'(?s)<script type="application/json" id="data">(.*?)</script>', text)
    read = json.loads(data)
    assert read["about"]["source"] == HOSTILE
    assert {board["folder"] for board in read["boards"]} == {HOSTILE, "F"}
    assert [HOSTILE] in [values for values, _ in read["boards"][0]["choices"]]
    assert HOSTILE in {row.get("name") for one in read["parts"] for row in one.get("rows", ())}


@given(st.text())
def test_inert_json_means_the_same(text: str) -> None:
    made = inert(json.dumps({text: [text]}, ensure_ascii=False))
    assert "<" not in made
    assert json.loads(made) == {text: [text]}


def test_our_scripts_write_texts_and_never_markup() -> None:
    for path in (ROOT / "templates/preview").glob("*.js"):
        said = path.read_text("utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("):
            assert word not in said, f"{path.name}: {word}"


@pytest.mark.parametrize("name", UPLOT)
def test_the_library_is_the_published_one(name: str) -> None:
    path = ROOT / "templates/preview/uplot" / name
    assert hashlib.sha256(path.read_bytes()).hexdigest() == UPLOT[name]


def test_the_library_keeps_its_licence() -> None:
    assert "uPlot (v1.6.32)" in hostile_page()
    assert template("preview/uplot/LICENSE").strip() in hostile_page()
    assert "MIT" in template("preview/uplot/LICENSE")


# --- its scripts, run by themselves -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script() -> MiniRacer:
    engine = MiniRacer()
    for name in ("units.js", "address.js"):
        engine.eval(
            template(f"preview/{name}").replace("const Units", "var Units").replace("const Address", "var Address")
        )
    return engine


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "short", "–"),
        (0, "short", "0"),
        (3, "short", "3"),
        (1234, "short", "1.23 K"),
        (4_400_000, "short", "4.4 Mil"),
        (0.995, "percentunit", "99.5%"),
        (-0.2, "percentunit", "-20%"),
        (0, "percentunit", "0%"),
        (97, "percent", "97%"),
        (61.5, "celsius", "61.5 °C"),
        (655.5, "watt", "656 W"),
        (20_976, "watt", "21 kW"),
        (0, "watt", "0 W"),
        (0.17, "s", "170 ms"),
        (0.00025, "s", "250 µs"),
        (0, "s", "0 s"),
        (90, "s", "1.5 min"),
        (2_419_200, "s", "4 weeks"),
        (5.3e9, "Bps", "5.3 GB/s"),
        (1536, "bytes", "1.5 KiB"),
        (512, "bytes", "512 B"),
        (12, "reqps", "12 req/s"),
        (0.05, "cps", "0.05 c/s"),
        (79, "none", "79"),
        (40, "flowlpm", "40 L/min"),
        (7, "furlongs", "7 furlongs"),
    ],
)
def test_numbers_have_their_units(script: MiniRacer, value: float | None, unit: str, text: str) -> None:
    assert script.eval(f"Units.text({json.dumps(value)}, {json.dumps(unit)})") == text


def test_every_unit_that_is_emitted_is_known(script: MiniRacer) -> None:
    units = {
        panel["fieldConfig"]["defaults"]["unit"]
        for path in ROOT.glob("out/*/grafana/dashboards/*/*.json")
        for panel in json.loads(path.read_text("utf-8"))["panels"]
    }
    from tocsin.lower.dashboards import measures

    units |= {*measures._LEVELS.values(), *measures._RATES.values()}
    for unit in units - {"none"}:
        assert unit not in str(script.eval(f"Units.text(1, {json.dumps(unit)})")).split() or unit in (
            "s",
            "ms",
            "µs",
        )  # which are called so


@pytest.mark.parametrize(
    ("hash_", "place"),
    [
        ("", {"uid": "", "values": {}, "from": None, "to": None}),
        (
            "#/d/gpus?var-node=a%26b&var-x=%3D&from=5&to=9",
            {"uid": "gpus", "values": {"node": "a&b", "x": "="}, "from": 5, "to": 9},
        ),
        ("#/d/gpus?from=9&to=5", {"uid": "gpus", "values": {}, "from": None, "to": None}),
        ("#/d/gpus?var-a=%E0%A4", {"uid": "gpus", "values": {}, "from": None, "to": None}),
        ("#/d/<b>", {"uid": "", "values": {}, "from": None, "to": None}),
    ],
)
def test_an_address_is_read(script: MiniRacer, hash_: str, place: dict[str, Any]) -> None:
    assert json.loads(str(script.eval(f"JSON.stringify(Address.parse({json.dumps(hash_)}))"))) == place


@given(
    st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), st.text(st.characters(codec="utf-8"), min_size=1))
)
def test_an_address_that_is_written_is_read_as_it_was(script: MiniRacer, values: dict[str, str]) -> None:
    place = {"uid": "gpus", "values": values, "from": 5, "to": 9}
    read = script.eval(f"JSON.stringify(Address.parse(Address.print({json.dumps(place)})))")
    assert json.loads(str(read)) == place


@pytest.mark.parametrize(
    ("wanted", "must", "found"),
    [
        (["e", "n", "g"], -1, ["e", "n", "g"]),
        (["e", "n", None], 1, [None, "n", None]),
        ([None, "x", None], 1, None),
        ([None, None, None], -1, [None, None, None]),
        (["e", "n", "other"], -1, ["e", "n", "g"]),
    ],
)
def test_the_nearest_choice(
    script: MiniRacer, wanted: list[str | None], must: int, found: list[str | None] | None
) -> None:
    choices = [[None, None, None], [None, "n", None], ["e", "n", "g"]]
    call = f"JSON.stringify(Address.nearest({json.dumps(choices)}, {json.dumps(wanted)}, {must}))"
    assert json.loads(str(script.eval(call))) == found

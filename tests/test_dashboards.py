"""The dashboards of the example specs: what Grafana's schema asks, what its dashboard linter asks, and what is true.

And the judge itself: it finds what is broken.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from conftest import ROOT
from dashboard_lint import RATES, shown
from tocsin.diagnostics import Log
from tocsin.naming import WATCHDOG, dashboard_uid
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Alert, Record
from tocsin.promql import Call, Expr, Selector, metric_names, parse, selectors, walk
from tocsin.units import Duration
from tocsin.verify.dashboards import problems

SPECS = ("ai-factory", "incident-world")
EVERYWHERE = ("operations/operations", "executive/executive", "gpus/gpus", "training/training", "inference/inference")
EVERYWHERE += (
    "fabric/fabric",
    "facility/cooling",
    "capacity/capacity",
    "slos/slos",
    "owners/owners",
    "monitoring/monitoring",
)
OF_ONE = ("tenant-assist", "tenant-vision", "owner-facility", "owner-gpu-platform", "owner-ml-platform")
OF_ONE += ("owner-network", "owner-serving")
PATHS = tuple(f"{path}.json" for path in (*EVERYWHERE, *(f"{name}/{name}" for name in OF_ONE)))
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
OF_PROMETHEUS = {"up", "ALERTS"}
OF_ITS_ALERTS = {"alertstate", "signal", "severity", "alertname", "owner", "layer", "slo"}
OF_SERIES = {"reason", "err_code", "error", "device", "port", "direction", "label", "fstype", "state"}
KINDS = ("stat", "gauge", "bargauge", "timeseries", "table", "heatmap", "status-history", "state-timeline")
UNITS = {"none", "short", "percent", "percentunit", "celsius", "bytes", "Bps", "watt", "s", "reqps", "cps", "flowlpm"}


@cache
def compiled(spec: str) -> Compiled:
    """An example spec, compiled."""
    found = compile_spec(str(ROOT / "specs" / f"{spec}.yaml"), Log(), {})
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class Page:
    """A dashboard as Grafana will read it, and what it was made from."""

    json: dict[str, Any]
    made_from: Compiled

    @property
    def panels(self) -> list[dict[str, Any]]:
        """Its panels."""
        panels: list[dict[str, Any]] = self.json["panels"]
        return panels

    @property
    def variables(self) -> dict[str, dict[str, Any]]:
        """Its variables by name, that of the data source aside."""
        return {one["name"]: one for one in self.json["templating"]["list"] if one["type"] != "datasource"}

    def parsed(self, query: str) -> Expr:
        """A query, every variable being everything."""
        assert set(re.findall(r"\$(\w+)", query)) <= self.variables.keys()
        return parse(re.sub(r"\$\w+", ".*", query))

    def queries(self) -> Iterator[tuple[str, str, str]]:
        """Every query, its panel's title and its legend; those of the annotations too."""
        for panel in self.panels:
            for target in panel["targets"]:
                yield target["expr"], panel["title"], target["legendFormat"]
        for annotation in self.json["annotations"]["list"]:
            yield annotation["expr"], annotation["name"], annotation["titleFormat"] + annotation["textFormat"]


def pages(spec: str) -> dict[str, Page]:
    """Every dashboard of a spec, by its path."""
    files = [file for file in compiled(spec).artifacts if file.path.startswith("grafana/dashboards/")]
    return {
        file.path.removeprefix("grafana/dashboards/"): Page(json.loads(file.text), compiled(spec)) for file in files
    }


@pytest.fixture(params=[(spec, path) for spec in SPECS for path in PATHS], ids="-".join)
def page(request: pytest.FixtureRequest) -> Page:
    """Each dashboard of each spec."""
    spec, path = request.param
    return pages(spec)[path]


@pytest.fixture
def broken() -> dict[str, Any]:
    """A dashboard that a test may break, with a panel of each kind."""
    page = pages("incident-world")["operations/operations.json"].json
    for path, kind in (("executive/executive", "gauge"), ("slos/slos", "bargauge")):
        more = dict(first(pages("incident-world")[f"{path}.json"].json, kind))
        page["panels"].append({**more, "id": 1000 + len(page["panels"])})
    return page


# -- the whole page ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_no_dashboard_is_forgotten_here(spec: str) -> None:
    assert sorted(pages(spec)) == sorted(PATHS)


def test_grafanas_schema_accepts_it(page: Page) -> None:
    assert list(problems(page.json)) == []


def test_the_page_is_whole_and_belongs_to_its_spec(page: Page) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9-]{0,39}", page.json["uid"])
    assert page.json["title"].startswith(page.made_from.plan.factory)
    assert page.json["description"]
    assert page.json["tags"]
    assert page.json["editable"] is False
    # What Grafana counts up on its own would make every build differ from what is loaded.
    assert not {"id", "version", "iteration"} & page.json.keys()


def test_no_two_pages_share_a_uid() -> None:
    uids = [page.json["uid"] for spec in SPECS for page in pages(spec).values()]
    assert len(set(uids)) == len(uids)


def test_it_asks_no_more_often_than_there_is_something_new(page: Page) -> None:
    assert Duration.parse(page.json["refresh"]) >= page.made_from.factory.interval


def test_the_data_source_is_chosen_by_a_variable(page: Page) -> None:
    first = page.json["templating"]["list"][0]
    assert (first["type"], first["name"], first["label"]) == ("datasource", "datasource", "Data Source")
    assert first["query"] == "prometheus"
    for part in (*page.panels, *page.json["annotations"]["list"], *page.variables.values()):
        assert part["datasource"] == SOURCE
    assert all(target["datasource"] == SOURCE for panel in page.panels for target in panel["targets"])
    assert set(re.findall(r'"uid": "(.*?)"', json.dumps(page.json))) == {"${datasource}", page.json["uid"]}


def test_the_variables_are_filled_by_labels_and_follow_the_time(page: Page) -> None:
    asked = "".join(query for query, _, _ in page.queries())
    earlier: set[str] = set()
    for name, variable in page.variables.items():
        assert (variable["type"], variable["refresh"]) == ("query", 2)  # 2: whenever the time range changes
        assert variable["label"]
        assert variable["includeAll"]
        found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"])
        assert found
        selector = page.parsed(found[1])
        assert isinstance(selector, Selector)
        assert set(metric_names(selector)) <= known_metrics(page.made_from)
        assert found[2] in {*page.made_from.factory.labels, *OF_ITS_ALERTS}
        assert set(re.findall(r"\$(\w+)", variable["query"])) <= earlier
        assert f'{found[2]}=~"${name}"' in asked
        earlier.add(name)


# -- the panels --------------------------------------------------------------------------------------------------------


def test_every_panel_says_what_it_shows_and_in_which_unit(page: Page) -> None:
    titles = [panel["title"] for panel in page.panels]
    assert len(set(titles)) == len(titles)
    for panel in page.panels:
        assert panel["type"] in KINDS
        assert panel["title"]
        assert re.search(r"[.?]$", panel["description"])
        assert panel["targets"]
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])


def test_the_panels_lie_side_by_side_in_24_columns(page: Page) -> None:
    ids = [panel["id"] for panel in page.panels]
    assert len(set(ids)) == len(ids)
    assert min(ids) > 0
    places = [panel["gridPos"] for panel in page.panels]
    for place in places:
        assert 0 <= place["x"] < place["x"] + place["w"] <= 24
        assert place["y"] >= 0
        assert place["h"] > 0
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        below = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or below


def test_thresholds_begin_at_the_base_and_rise(page: Page) -> None:
    for panel in page.panels:
        steps = panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [{"value": None}])
        assert steps[0]["value"] is None
        assert all(step["value"] is not None for step in steps[1:])
        assert all(lower["value"] < upper["value"] for lower, upper in pairwise(steps[1:]))


def test_a_panel_of_shares_reaches_from_the_least_to_the_most(page: Page) -> None:
    for panel in page.panels:
        defaults = panel["fieldConfig"]["defaults"]
        if defaults["unit"] in ("percent", "percentunit") and panel["type"] != "table":
            assert defaults["max"] == (100 if defaults["unit"] == "percent" else 1)
            assert defaults.get("min", 0) == 0


# -- the queries -------------------------------------------------------------------------------------------------------


def recorded(made: Compiled) -> set[str]:
    """Every series that a rule records."""
    rules = [rule for file in made.plan.rules for group in file.groups for rule in group.rules]
    return {rule.name for rule in rules if isinstance(rule, Record)}


def known_metrics(made: Compiled) -> set[str]:
    """Everything that can be asked for: what is scraped, what is recorded, and Prometheus' own."""
    collected = {metric.name for signal in made.factory.signals.values() for metric in signal.metrics}
    parts = {name + part for name in collected for part in ("_bucket", "_sum", "_count")}
    return OF_PROMETHEUS | collected | parts | recorded(made)


def test_every_query_is_promql_and_asks_for_what_there_is(page: Page) -> None:
    for query, title, _ in page.queries():
        names = set(metric_names(page.parsed(query)))
        assert names, title
        assert names <= known_metrics(page.made_from), title


def test_every_query_names_labels_that_exist(page: Page) -> None:
    factory = page.made_from.factory
    known = {*factory.labels, *OF_ITS_ALERTS, *OF_SERIES, "job", "instance"}
    for query, title, _ in page.queries():
        for selector in selectors(page.parsed(query)):
            assert {matcher.label for matcher in selector.matchers} <= known, title


def test_no_panel_looks_back_further_than_its_series_are_kept(page: Page) -> None:
    """Neither by the page's range nor by a window or an offset of a query, on what the scraping servers keep."""
    hot = page.made_from.factory.retention.hot.keep
    begin = page.json["time"]["from"].removeprefix("now-")
    for query, title, _ in page.queries():
        found = "".join(re.findall(r"\[\w+\]|offset \w+", query)).replace("offset ", "[")
        windows = [Duration.parse(text) for text in re.findall(r"\w+", found)]
        assert sum([Duration.parse(begin).seconds, *(window.seconds for window in windows)]) <= hot.seconds, title


def test_no_counter_is_shown_raw(page: Page) -> None:
    counters = {name for name, metric in page.made_from.factory.metrics.items() if metric.type == "counter"}
    for query, title, _ in page.queries():
        expr = page.parsed(query)
        rated = {
            name
            for call in walk(expr)
            if isinstance(call, Call) and call.function in RATES
            for name in metric_names(call)
        }
        assert not (set(metric_names(expr)) & counters) - rated, title


def test_every_legend_names_labels_that_its_series_have(page: Page) -> None:
    legends = 0
    for query, title, legend in page.queries():
        named = set(re.findall(r"\{\{(.*?)\}\}", legend))
        labels = shown(page.parsed(query))
        assert labels is None or named <= labels, title
        legends += bool(named)
    assert legends


def test_several_series_are_told_apart_by_their_legends(page: Page) -> None:
    for panel in page.panels:
        legends = [target["legendFormat"] for target in panel["targets"]]
        assert panel["type"] != "timeseries" or all(legends)
        assert len(legends) == 1 or all(legends) or panel["type"] == "table"  # whose rows have headings


@pytest.mark.parametrize(
    ("query", "labels"),
    [
        ("x", None),
        ("sum(x)", set()),
        ("max by (a, b) (x)", {"a", "b"}),
        ("topk(5, max by (a) (x))", {"a"}),
        ("count(x) or vector(0)", set()),
        ("sum by (a) (rate(x[5m])) * 2", {"a"}),
    ],
)
def test_which_labels_a_query_leaves(query: str, labels: set[str] | None) -> None:
    assert shown(parse(query)) == labels


# -- the way in --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_every_alert_opens_a_page_that_exists_at_a_place_that_it_knows(spec: str) -> None:
    by_uid = {page.json["uid"]: page for page in pages(spec).values()}
    made = compiled(spec)
    rules = [rule for file in made.plan.rules for group in file.groups for rule in group.rules]
    # The heartbeat is told to a machine, and opens nothing.
    alerts = [rule for rule in rules if isinstance(rule, Alert) and rule.name != WATCHDOG]
    assert len(alerts) > 15
    for alert in alerts:
        url = re.sub(r"\{\{ \$labels\.(\w+) \| urlquery \}\}", r"\1", alert.annotations["dashboard_url"])
        assert url.startswith(f"{made.factory.grafana_url}/d/")
        page = by_uid[urlsplit(url).path.removeprefix("/d/")]
        for name, label in parse_qsl(urlsplit(url).query, strict_parsing=True) if urlsplit(url).query else []:
            assert name == ("var-slo" if label == alert.labels.get("slo") else f"var-{label}"), alert.name
            assert name.removeprefix("var-") in page.variables, alert.name


# -- the judge ---------------------------------------------------------------------------------------------------------

Break = Callable[[dict[str, Any]], object]


def first(page: dict[str, Any], kind: str) -> dict[str, Any]:
    """The first panel of a kind."""
    panel: dict[str, Any] = next(panel for panel in page["panels"] if panel["type"] == kind)
    return panel


BREAKS: dict[str, tuple[Break, str]] = {
    "link without its fields": (
        lambda page: first(page, "table")["fieldConfig"]["defaults"]["links"][0].pop("title"),
        "panels/",
    ),
    "no schema version": (lambda page: page.pop("schemaVersion"), "schemaVersion"),
    "schema version as text": (lambda page: page.update(schemaVersion="39"), "schemaVersion"),
    "title as number": (lambda page: page.update(title=1), "title"),
    "refresh as number": (lambda page: page.update(refresh=30), "refresh"),
    "tags as text": (lambda page: page.update(tags="gpu"), "tags"),
    "time as text": (lambda page: page.update(time="6h"), "time"),
    "panels as mapping": (lambda page: page.update(panels={}), "panels"),
    "tooltip of no kind": (lambda page: page.update(graphTooltip=7), "graphTooltip"),
    "variable of no type": (lambda page: page["templating"]["list"][1].update(type="qery"), "templating"),
    "panel without type": (lambda page: page["panels"][0].pop("type"), "panels/0"),
    "panel type as number": (lambda page: page["panels"][0].update(type=5), "panels/0"),
    "targets as text": (lambda page: page["panels"][0].update(targets="up"), "panels/0"),
    "width as text": (lambda page: page["panels"][0]["gridPos"].update(w="6"), "panels/0"),
    "wider than the page": (lambda page: page["panels"][0]["gridPos"].update(w=25), "panels/0"),
    "a type that Grafana lacks": (lambda page: page["panels"][0].update(type="grph"), "'grph'"),
    "no panel at all": (lambda page: page["panels"].append(None), "panels/"),
    "a path as uid": (lambda page: page.update(uid="a/b"), "uid"),
    "no id": (lambda page: page["panels"][0].pop("id"), "panel ids"),
    "id 0": (lambda page: page["panels"][0].update(id=0), "panel ids"),
    "the same id twice": (lambda page: page["panels"][0].update(id=page["panels"][1]["id"]), "panel ids"),
    "no uid": (lambda page: page.pop("uid"), "uid"),
    "empty uid": (lambda page: page.update(uid=""), "uid"),
    "long uid": (lambda page: page.update(uid="a" * 41), "uid"),
    "stat colour mode": (lambda page: first(page, "stat")["options"].update(colorMode="blink"), "Options colorMode"),
    "unknown stat option": (lambda page: first(page, "stat")["options"].update(blink=True), "Options"),
    "legend placement": (
        lambda page: first(page, "timeseries")["options"]["legend"].update(placement="top"),
        "Options legend/placement",
    ),
    "gauge threshold markers": (
        lambda page: first(page, "gauge")["options"].update(showThresholdMarkers="yes"),
        "Options showThresholdMarkers",
    ),
    "bar gauge mode": (
        lambda page: first(page, "bargauge")["options"].update(displayMode="rainbow"),
        "Options displayMode",
    ),
    "unknown bar gauge option": (lambda page: first(page, "bargauge")["options"].update(blink=True), "Options"),
    "draw style": (
        lambda page: first(page, "timeseries")["fieldConfig"]["defaults"]["custom"].update(drawStyle="dots"),
        "FieldConfig drawStyle",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_what_is_broken_is_found_and_named(name: str, broken: dict[str, Any]) -> None:
    break_, part = BREAKS[name]
    break_(broken)
    assert any(part in problem for problem in problems(broken))


def test_the_longest_uid_is_accepted(broken: dict[str, Any]) -> None:
    broken["uid"] = dashboard_uid("a" * 40, "operations")
    assert len(broken["uid"]) == 40
    assert list(problems(broken)) == []

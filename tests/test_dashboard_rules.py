"""What holds of every dashboard of every example and case: rules, types, bounds, ways on, and what tenants see."""

from __future__ import annotations

import difflib
import json
import re
from functools import cache
from math import inf
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml

from conftest import ROOT
from dashboard_lint import EXCEPTIONS, VALUES, findings, most, shown, without_variables
from tocsin import naming
from tocsin.catalog import limit_kinds
from tocsin.diagnostics import Log
from tocsin.lower.dashboards.panels import LINES, ROWS
from tocsin.naming import dashboard_uid
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Alert, Record
from tocsin.promql import metric_names, parse, selectors
from tocsin.promtypes import Vector, World, check, of_factory, recorded_as
from tocsin.verify.dashboards import problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tocsin.plan.dashboards import Dashboard, Panel

SPECS = [ROOT / "specs" / "ai-factory.yaml", ROOT / "specs" / "incident-world.yaml"]
SPECS += sorted((ROOT / "tests" / "cases" / "golden").glob("*/spec.yaml"))
NAMES = [spec.stem if spec.parent.name == "specs" else spec.parent.name for spec in SPECS]


@cache
def compiled(spec: Path) -> Compiled:
    """A spec, compiled."""
    found = compile_spec(str(spec), Log(), {})
    assert found is not None
    return found


@pytest.fixture(params=SPECS, ids=NAMES)
def made(request: pytest.FixtureRequest) -> Compiled:
    """Each example and case."""
    return compiled(request.param)


def files(made: Compiled) -> dict[str, dict[str, Any]]:
    """The dashboards by path."""
    return {
        artifact.path: json.loads(artifact.text)
        for artifact in made.artifacts
        if artifact.path.startswith("grafana/dashboards/")
    }


def queries(made: Compiled) -> Iterator[tuple[Dashboard, Panel, str]]:
    """Every query of every panel, every variable being everything."""
    for dashboard in made.plan.dashboards:
        for panel in dashboard.panels:
            for query in panel.queries:
                yield dashboard, panel, without_variables(query.expr)


def test_grafanas_schema_accepts_every_panel(made: Compiled) -> None:
    assert {path: list(problems(page)) for path, page in files(made).items() if list(problems(page))} == {}


def test_no_two_panels_of_a_page_have_one_title_and_each_says_what_it_shows(made: Compiled) -> None:
    for dashboard in made.plan.dashboards:
        titles = [panel.title for panel in dashboard.panels]
        assert len(set(titles)) == len(titles), dashboard.name
        for panel in dashboard.panels:
            assert panel.description.endswith("."), panel.title
            rows = any("ALERTS" in query.expr for query in panel.queries)  # an alert says itself whose it is
            assert rows or re.search(r"\bOwner", panel.description), (dashboard.name, panel.title)
    uids = [dashboard.uid for dashboard in made.plan.dashboards]
    assert len(set(uids)) == len(uids)


def test_no_credential_is_in_any_file(made: Compiled) -> None:
    for artifact in made.artifacts:
        if artifact.path.startswith("grafana/"):
            assert not re.search(r"(?i)\b(password|secret\w*|token|basicAuth\w*|api_?key)\"?:", artifact.text), (
                artifact.path
            )


# -- the linter's rules ------------------------------------------------------------------------------------------------


def test_the_linters_rules_hold_but_for_those_that_have_a_reason_not_to(made: Compiled) -> None:
    told = [(path, *finding) for path, page in files(made).items() for finding in findings(page)]
    assert [finding for finding in told if finding[1] not in EXCEPTIONS] == []


def test_every_exception_is_needed() -> None:
    told = {rule for spec in SPECS[:2] for page in files(compiled(spec)).values() for rule, _ in findings(page)}
    assert told == EXCEPTIONS.keys()


BREAKS: dict[str, Callable[[dict[str, Any]], object]] = {
    "template-datasource-rule": lambda page: page["templating"]["list"][0].update(name="ds"),
    "template-on-time-change-reload-rule": lambda page: page["templating"]["list"][1].update(refresh=1),
    "template-label-promql-rule": lambda page: page["templating"]["list"][1].update(query="label_values(up{, node)"),
    "uneditable-dashboard-rule": lambda page: page.update(editable=True),
    "panel-datasource-rule": lambda page: page["panels"][0].update(datasource={"uid": "prometheus"}),
    "panel-title-description-rule": lambda page: page["panels"][0].pop("description"),
    "panel-units-rule": lambda page: page["panels"][0]["fieldConfig"]["defaults"].pop("unit"),
    "panel-no-targets-rule": lambda page: page["panels"][0].pop("targets"),
    "target-promql-rule": lambda page: page["panels"][0]["targets"][0].update(expr="sum(up"),
    "target-counter-agg-rule": lambda page: page["panels"][0]["targets"][0].update(expr="sum(x_total)"),
}


@pytest.mark.parametrize("rule", BREAKS)
def test_the_lint_finds_what_breaks_a_rule(rule: str) -> None:
    page = files(compiled(SPECS[0]))["grafana/dashboards/operations/operations.json"]
    BREAKS[rule](page)
    assert rule in {found for found, _ in findings(page)}


# -- every metric and label is in the plan, with its type --------------------------------------------------------------


def world_of(made: Compiled) -> World:
    """What the factory scrapes and all that its plan records, series of objectives by all that record them."""
    world = of_factory(made.factory)
    rules = [(file, rule) for file in made.plan.rules for group in file.groups for rule in group.rules]
    known, new = {*world.series}, dict[str, list[Vector]]()
    for file, rule in rules:
        if isinstance(rule, Record) and rule.name not in known:
            vector, _ = check(file.filled(rule.expr), parse(file.filled(rule.expr)), world)
            labels = vector.labels._replace(certain=frozenset({*vector.labels.certain, *rule.labels}))
            recorded = recorded_as(rule.name, vector, world)._replace(labels=labels, key=None)
            vectors = new.setdefault(rule.name, [])
            vectors.append(recorded)
            certain = frozenset.intersection(*(one.labels.certain for one in vectors))
            labels = recorded.labels._replace(certain=certain).plus(
                {label for v in vectors for label in v.labels.known}
            )
            world = world._replace(series={**world.series, rule.name: recorded._replace(labels=labels)})
    return world


def test_every_query_is_of_series_that_there_are_and_means_something(made: Compiled) -> None:
    world, told = world_of(made), []
    for dashboard, panel, expr in queries(made):
        parsed = parse(expr)
        told += [(dashboard.name, panel.title, name) for name in metric_names(parsed) if name not in world.series]
        told += [(dashboard.name, panel.title, found.message) for found in check(expr, parsed, world)[1]]
        for selector in selectors(parsed):
            vector = world.series[selector.metric or ""]
            for matcher in selector.matchers:
                if not vector.labels.can_be(matcher.label):
                    told.append((dashboard.name, panel.title, f"{selector.metric} has no label {matcher.label}"))
    assert told == []


def test_every_variable_is_filled_by_a_series_that_has_its_label(made: Compiled) -> None:
    world = world_of(made)
    for dashboard in made.plan.dashboards:
        for variable in dashboard.variables:
            found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable.query)
            assert found
            (selector,) = selectors(parse(without_variables(found[1])))
            labels = world.series[selector.metric or ""].labels
            for label in (found[2], *(matcher.label for matcher in selector.matchers)):
                assert labels.can_be(label), (dashboard.name, variable.name, label)


def test_every_series_that_is_asked_for_is_collected(made: Compiled) -> None:
    """The catalogue knows more than a factory collects: what a panel shows must be among the latter."""
    collected = {metric.name for signal in made.factory.signals.values() for metric in signal.metrics}
    collected |= {rule.name for file in made.plan.rules for group in file.groups for rule in group.rules}
    collected |= {"up", "ALERTS"}
    for dashboard, panel, expr in queries(made):
        bare = {
            re.sub(r"_(bucket|sum|count)$", "", name) for name in metric_names(parse(expr)) if name not in collected
        }
        assert bare <= collected, (dashboard.name, panel.title)


# -- the larger factory ------------------------------------------------------------------------------------------------


def test_no_panel_returns_more_series_the_larger_the_factory_is(made: Compiled) -> None:
    """A graph has as many lines as can be told apart, a table or a page of states as many rows as can be read."""
    for dashboard, panel, expr in queries(made):
        found = most(parse(expr), VALUES)
        few = panel.kind in ("timeseries", "stat", "heatmap") and "{{le}}" not in panel.queries[0].legend
        assert found <= (2 * LINES if few else ROWS), (dashboard.name, panel.title, found)
    for dashboard in made.plan.dashboards:
        for panel in dashboard.panels:
            assert sum(most(parse(without_variables(q.expr)), VALUES) for q in panel.queries) <= 4 * ROWS, panel.title


def test_the_names_of_alerts_are_as_few_as_the_bound_assumes(made: Compiled) -> None:
    rules = [rule for file in made.plan.rules for group in file.groups for rule in group.rules]
    assert len({rule.name for rule in rules if isinstance(rule, Alert)}) <= VALUES["alertname"]


@pytest.mark.parametrize(
    ("query", "bound"),
    [
        ("x", inf),
        ("sum(x)", 1),
        ("max by (node) (x)", 1250),
        ("topk(10, max by (node) (x))", 10),
        ("max by (node) (x) and on (node) topk(10, max by (node) (x @ end()))", 10),
        ("max by (node, gpu_uuid) (x) and on (node) topk(10, max by (node) (x))", 12_500_000),
        ("sum by (reason) (x) or vector(0)", 5),
        ("histogram_quantile(0.9, sum by (le) (rate(x_bucket[5m])))", 1),
        ("count(x > 1) / count(x)", 1),
        ("max by (unheard_of) (x)", inf),
    ],
)
def test_how_many_series_a_query_returns(query: str, bound: float) -> None:
    assert most(parse(query), VALUES) == bound


def test_no_average_of_utilisation_is_shown(made: Compiled) -> None:
    for dashboard, panel, expr in queries(made):
        if "util" in expr:
            assert not re.search(r"\bavg\b", expr), (dashboard.name, panel.title)


# -- ways on -----------------------------------------------------------------------------------------------------------


def test_data_links_lead_to_pages_that_are_there_with_what_they_need(made: Compiled) -> None:
    pages = {page["uid"]: page for page in files(made).values()}
    for dashboard in made.plan.dashboards:
        for panel in dashboard.panels:
            for link in panel.links:
                names = {one["name"] for one in pages[link.uid]["templating"]["list"]}
                assert {name for name, _ in link.variables} <= names, (dashboard.name, panel.title)
                labels = shown(parse(without_variables(panel.queries[0].expr)))
                if labels is not None:
                    assert {label for _, label in link.variables} <= labels, (dashboard.name, panel.title)
    for path, page in files(made).items():
        for url in re.findall(r'"url": "(/d/.*?[^\\])"', json.dumps(page)):
            assert url.endswith("&${datasource:queryparam}&${__url_time_range}"), path


def test_a_loss_leads_to_its_job_its_boards_and_their_xids() -> None:
    made = compiled(ROOT / "specs" / "incident-world.yaml")
    page = next(one for one in made.plan.dashboards if one.name == "training")
    panels = {panel.title: panel for panel in page.panels}
    assert [link.uid for link in panels["Train loss"].links] == [dashboard_uid("incident-world", "training")]
    assert panels["Train loss"].links[0].variables == (("job_id", "job_id"),)
    gpus = dashboard_uid("incident-world", "gpus")
    for title in ("Its nodes", "Least busy GPUs", "XIDs of the last hour"):
        assert gpus in [link.uid for link in panels[title].links]
        assert all('job_id=~"$job_id"' in query.expr for query in panels[title].queries)


def test_every_alert_opens_the_page_of_those_who_mend_it(made: Compiled) -> None:
    of_uid = {dashboard.uid: dashboard.name for dashboard in made.plan.dashboards}
    layers = {
        "silicon": {"gpus"},
        "fabric": {"fabric"},
        "facility": {"cooling"},
        "runtime": {"operations", "monitoring"},
    }
    layers["application"] = {"training", "inference", "operations"}
    opened = set()
    for file in made.plan.rules:
        for rule in (rule for group in file.groups for rule in group.rules if isinstance(rule, Alert)):
            if "dashboard_url" in rule.annotations:
                url = urlsplit(rule.annotations["dashboard_url"])
                name = of_uid[url.path.removeprefix("/d/")]
                opened.add(name)
                assert name in ({"slos"} if "slo" in rule.labels else layers[rule.labels["layer"]]), rule.name
                if name == "slos":
                    assert ("var-slo", rule.labels["slo"]) in parse_qsl(url.query)
    assert {"gpus", "operations"} <= opened


# -- tenants -----------------------------------------------------------------------------------------------------------


def test_a_tenant_sees_what_is_its_own_and_no_power(made: Compiled) -> None:
    own = [dashboard for dashboard in made.plan.dashboards if dashboard.name.startswith("tenant-")]
    assert len(own) == len(made.factory.tenants)
    assert len({dashboard.folder for dashboard in own}) == len(own)
    restricted = {name for name, metric in made.factory.metrics.items() if metric.sensitivity == "restricted"}
    for dashboard in own:
        tenant = dashboard.name.removeprefix("tenant-")
        assert [variable.name for variable in dashboard.variables] == ["cluster"]
        asked = asked_by(next(page for page in files(made).values() if page["uid"] == dashboard.uid))
        assert len(asked) >= 4
        for expr in asked:
            parsed = parse(without_variables(expr))
            assert not restricted & set(metric_names(parsed))
            for selector in selectors(parsed):
                fixed = {matcher.label: (matcher.op, matcher.value) for matcher in selector.matchers}
                assert fixed["tenant"] == ("=", tenant), expr


def test_the_page_of_an_owner_shows_its_own_alerts_and_no_others(made: Compiled) -> None:
    own = [dashboard for dashboard in made.plan.dashboards if dashboard.name.startswith("owner-")]
    assert [dashboard.name.removeprefix("owner-") for dashboard in own] == [*made.factory.owners]
    assert len({dashboard.folder for dashboard in made.plan.dashboards}) == len(made.plan.dashboards)
    for dashboard in own:
        owner = dashboard.name.removeprefix("owner-")
        promised = {slo.id for slo in made.factory.slos.values() if slo.owner == owner}
        page = next(page for page in files(made).values() if page["uid"] == dashboard.uid)
        for expr in asked_by(page):
            for selector in selectors(parse(without_variables(expr))):
                fixed = {matcher.label: (matcher.op, matcher.value) for matcher in selector.matchers}
                if selector.metric == "ALERTS":
                    assert fixed["owner"] == ("=", owner)
                elif selector.metric != naming.SLO_INFO:
                    assert {*fixed["slo"][1].split("|")} == promised


# -- lines where alerts begin ------------------------------------------------------------------------------------------


def test_a_band_is_filled_between_two_lines_that_are_there(made: Compiled) -> None:
    filled = 0
    for page in files(made).values():
        for panel in page["panels"]:
            legends = {target["legendFormat"] for target in panel["targets"]}
            edges = [
                name
                for override in panel["fieldConfig"]["overrides"]
                for name in override["matcher"]["options"]["names"]
            ]
            below = panel["fieldConfig"]["defaults"].get("custom", {}).get("fillBelowTo")
            assert {*edges} < legends or not edges, panel["title"]
            assert (below is None and not edges) or (len(edges) == 2 and below == edges[1]), panel["title"]
            filled += below is not None
    long = made.factory.retention.hot.keep.seconds >= 30 * 3600
    assert bool(filled) == bool(made.factory.slos and long)


# Alerts whose number stands in no graph, and why.
NO_LINE = {
    "filesystem_full_in": "its line is that of a bar, of how soon filesystems are full",
    "gpu_near_slowdown": "each board tells its own threshold: the line is a series",
    "gpu_memory_near_limit": "each board tells its own threshold: the line is a series",
    "driver_skew": "a duration, for which versions may differ",
    "kueue_pending": "a duration, for which a queue may be full",
    "pods_unschedulable": "a duration, for which pods may wait",
    "checkpoint_overdue": "a duration, within which a counter has to rise",
    "train_straggler": "the speed of each rank against all others of its job",
    "storm_nodes": "a number of nodes, whatever is the matter with them",
    "nvme_wear": "drives are shown by their alerts: no page shows each of thousands",
}


def test_every_limit_is_a_line_where_its_signal_is_shown(made: Compiled) -> None:
    lines: dict[float, set[str]] = {}
    shown: set[str] = set()
    for _, panel, expr in queries(made):
        names = {*metric_names(parse(expr))}
        shown |= names
        for step in panel.steps:
            lines.setdefault(float("-inf") if step.value is None else step.value, set()).update(names)
    for id_, value in made.factory.limits.items():
        metrics = {metric.name for metric in made.factory.signals[limit_kinds()[id_].signal].metrics}
        if id_ not in NO_LINE and metrics & shown:
            assert lines.get(float(value), set()) & metrics, id_


def asked_by(page: dict[str, Any]) -> list[str]:
    """What the panels of a page and the marks on them ask."""
    panels = [target["expr"] for panel in page["panels"] for target in panel["targets"]]
    return panels + [mark["expr"] for mark in page["annotations"]["list"]]


# -- the files ---------------------------------------------------------------------------------------------------------


def test_providers_of_several_factories_have_names_of_their_own(made: Compiled) -> None:
    """One Grafana may read the files of several: a factory's name ends at a `/`, which no name contains."""
    text = next(a.text for a in made.artifacts if a.path == "grafana/provisioning/dashboards/tocsin.yaml")
    providers = yaml.safe_load(text)["providers"]
    assert len({one["name"] for one in providers}) == len(providers)
    assert {one["name"].partition("/")[0] for one in providers} == {made.factory.name}
    assert {one["folder"] for one in providers} == {dashboard.folder for dashboard in made.plan.dashboards}
    paths = {one["options"]["path"].rpartition(f"/{made.factory.name}/")[2] for one in providers}
    assert paths == {path.split("/")[2] for path in files(made)}


def test_every_folder_is_provisioned(made: Compiled) -> None:
    text = next(a.text for a in made.artifacts if a.path == "grafana/provisioning/dashboards/tocsin.yaml")
    for path in files(made):
        assert f"/{path.split('/')[2]}\n" in text


def test_a_changed_threshold_changes_its_own_lines_only(tmp_path: Path) -> None:
    """The factor at which an objective's first alert fires is the line of its burn rate, and stands nowhere else."""
    text = (ROOT / "specs" / "incident-world.yaml").read_text("utf-8")
    old, new = "{expected: 20/s, min_events: 50}", "{expected: 20/s, min_events: 50}\n    alerts: {windows: %s}"
    windows = "[{long: 1h, factor: %s, severity: page}, {long: 6h, factor: 6, severity: page}]"
    made = []
    for factor in ("13", "12"):
        spec = tmp_path / f"{factor}.yaml"
        spec.write_text(text.replace(old, new % (windows % factor)), "utf-8")
        pages = {a.path: a.text for a in compiled(spec).artifacts if a.path.startswith("grafana/")}
        made.append(pages)
    before, after = made
    assert before.keys() == after.keys()
    changed = {path for path in before if before[path] != after[path]}
    assert changed == {"grafana/dashboards/slos/slos.json"}
    (path,) = changed
    diff = list(difflib.unified_diff(before[path].splitlines(), after[path].splitlines(), n=0, lineterm=""))
    lines = [line for line in diff if line[0] in "+-" and not line.startswith(("+++", "---"))]
    assert [line.split() for line in lines] == [["-", '"value":', "13.0,"], ["+", '"value":', "12.0,"]]

"""Every alert reaches its owner: the own simulation of Alertmanager against amtool, and what the judge finds."""

from __future__ import annotations

import subprocess
from datetime import datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from conftest import ROOT
from routing_world import NOWHERE, VALUES, labels, trees, written
from tocsin import naming
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec
from tocsin.routes import Matcher, Route, inhibitor, taken, told
from tocsin.units import NO_TIME, Duration
from tocsin.verify.notifications import read_cases, read_configuration, read_matcher
from tocsin.verify.reach import judge_reach

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tocsin.artifact import Artifact
    from toolbox import Tool

CONFIGURATION, ROUTE_TESTS = "alertmanager/alertmanager.yml", "alertmanager/routes_test.yml"
GOLDEN = ROOT / "tests" / "cases" / "golden"
SPECS = [*sorted(GOLDEN.glob("*/spec.yaml")), *sorted((ROOT / "specs").glob("*.yaml"))]


def compiled(spec: Path) -> Compiled:
    result = compile_spec(str(spec), Log(), {})
    assert result is not None
    return result


@pytest.fixture(scope="module", params=SPECS, ids=lambda spec: f"{spec.parent.name}-{spec.stem}")
def every(request: pytest.FixtureRequest) -> Compiled:
    return compiled(request.param)


@pytest.fixture(scope="module")
def two() -> Compiled:
    """A factory in which everything is said that can be said of when and to whom."""
    return compiled(GOLDEN / "two-clusters" / "spec.yaml")


# --- the simulation and amtool ----------------------------------------------------------------------------------------


def reached(amtool: Tool, config: Path, alert: dict[str, str]) -> list[str]:
    """The receivers that amtool says an alert reaches."""
    asked = [str(Matcher(name, value)) for name, value in alert.items()]
    command = [str(amtool.path), "config", "routes", "test", f"--config.file={config}", *asked]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[-1].split(",")


@given(root=trees, alerts=labels.flatmap(lambda one: labels.map(lambda other: (one, other))))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_amtool_takes_the_same_routes(
    amtool: Tool, tmp_path: Path, root: Route, alerts: Sequence[dict[str, str]]
) -> None:
    config = tmp_path / "alertmanager.yml"
    config.write_text(written(root), "utf-8")
    for alert in alerts:
        assert reached(amtool, config, alert) == [route.receiver for route in taken(root, alert)]


def test_a_value_is_matched_by_itself_and_by_nothing_else(amtool: Tool, tmp_path: Path) -> None:
    """Whatever it looks like to a template, a regular expression or YAML."""
    root = Route(
        "nobody",
        NOWHERE,
        children=tuple(Route(f"r{index}", NOWHERE, (Matcher("a", value),)) for index, value in enumerate(VALUES)),
    )
    config = tmp_path / "alertmanager.yml"
    config.write_text(written(root), "utf-8")
    for index, value in enumerate(VALUES):
        assert reached(amtool, config, {"a": value}) == [f"r{index}"]
    assert reached(amtool, config, {"a": "aXb"}) == ["nobody"]


@pytest.mark.parametrize("value", VALUES)
def test_a_matcher_is_read_back(value: str) -> None:
    for op in ("=", "!=", "=~", "!~"):
        matcher = Matcher("label", value, op)
        assert read_matcher(str(matcher)) == matcher


# --- every alert there is ---------------------------------------------------------------------------------------------


def files_of(result: Compiled) -> dict[str, Artifact]:
    return {artifact.path: artifact for artifact in result.artifacts}


def test_the_judge_finds_nothing(every: Compiled) -> None:
    log, files = Log(), files_of(every)
    judge_reach(read_configuration(files[CONFIGURATION]), read_cases(files[ROUTE_TESTS]), log)
    assert log.sorted() == []


def test_every_alert_that_a_unit_test_fires_is_among_the_alerts(every: Compiled) -> None:
    """By its name, its owner, severity and layer, and the names of all its labels: as the written tests have them."""
    external = {frozenset(dict(server.external_labels)) for server in every.plan.servers if server.rule_files}
    common = frozenset.intersection(*external) - {"replica", "shard"}
    listed = {kind(alert) for alert, _ in read_cases(files_of(every)[ROUTE_TESTS]).alerts}
    fired = {
        kind({"alertname": case["alertname"], **dict.fromkeys(common, "x"), **one["exp_labels"]})
        for path, artifact in files_of(every).items()
        if path.startswith("tests/")
        for test in yaml.load(artifact.text, yaml.CSafeLoader)["tests"]
        for case in test.get("alert_rule_test", ())
        for one in case["exp_alerts"]
    }
    assert {one[:5] for one in fired} == {one[:5] for one in listed}


def kind(alert: dict[str, str]) -> tuple[str, ...]:
    names = alert.keys() - {"cluster", "region"}  # which a rule has itself or gets from its server
    return (*(alert[label] for label in ("alertname", "owner", "severity", "layer")), ",".join(sorted(names)))


def test_there_is_a_route_test_for_every_owner_severity_layer_and_tenant(every: Compiled) -> None:
    cases = read_cases(files_of(every)[ROUTE_TESTS])
    tested = {tuple(test.get(label, "") for label in LOOKED_AT) for test, _, _ in cases.tests}
    for alert, _ in cases.alerts:
        if alert["alertname"] != naming.WATCHDOG:
            tenants = ["", *every.factory.tenants] if "tenant" in alert else [""]
            for tenant in tenants:
                assert (alert["owner"], alert["severity"], alert["layer"], tenant) in tested


LOOKED_AT = ("owner", "severity", "layer", "tenant")


def test_every_alert_of_ours_reaches_its_own_owner(every: Compiled) -> None:
    """By name, whatever the route tests say: nobody else, but those to whom it is escalated and its tenant."""
    root = every.plan.notifications.root
    for sample in every.plan.notifications.samples:
        alert = sample.labels
        receivers = [route.receiver for route in taken(root, alert)]
        if alert["alertname"] == naming.WATCHDOG:
            assert receivers == ["heartbeat"]
        elif alert["severity"] == "info":
            assert receivers == ["dashboards-only"]
        else:
            tenant = every.factory.tenants.get(alert.get("tenant", ""))
            own = f"{alert['owner']}-{alert['severity']}"
            alone = tenant is not None and tenant.instead and getattr(tenant, alert["severity"])
            assert (own in receivers) is not bool(alone)
            others = [one for one in receivers if one != own]
            assert all(one.endswith("-escalation") or one.startswith("tenant/") for one in others)


# --- when, and by what it is silenced ---------------------------------------------------------------------------------


def said(two: Compiled, at: str, *alerts: dict[str, str]) -> list[tuple[str, ...]]:
    """Who is told of alerts that fire at a moment, by the clocks of Berlin."""
    notifications = two.plan.notifications
    intervals = {interval.name: interval for interval in notifications.intervals}
    moment = datetime.fromisoformat(at).replace(tzinfo=ZoneInfo("Europe/Berlin"))
    return told(notifications.root, intervals, notifications.inhibitions, alerts, moment)


def of(two: Compiled, name: str, **changes: str) -> dict[str, str]:
    """The first alert of a name, with other labels."""
    first = next(one for one in two.plan.notifications.samples if one.labels["alertname"] == name)
    return {**first.labels, **changes}


def test_tickets_wait_for_the_hours_of_their_owner_and_pages_do_not(two: Compiled) -> None:
    alerts = of(two, "GpuThrottled"), of(two, "GpuLost")
    pages = ("hardware-page", "apps-escalation", "boss-escalation")
    assert said(two, "2026-07-06T09:00", *alerts) == [("hardware-ticket",), pages]  # a Monday
    assert said(two, "2026-07-06T19:00", *alerts) == [(), pages]
    assert said(two, "2026-07-10T13:59", *alerts)[0] == ("hardware-ticket",)  # a Friday
    assert said(two, "2026-07-10T14:00", *alerts)[0] == ()


def test_maintenance_mutes_what_it_says_of_whom_it_says(two: Compiled) -> None:
    ticket, page = (of(two, "ErrorBudgetBurn", severity=one, tenant="green") for one in ("ticket", "page"))
    assert said(two, "2026-07-11T23:00", ticket) == [()]  # a Saturday
    assert said(two, "2026-07-12T03:59", ticket) == [()]
    assert said(two, "2026-07-12T04:00", ticket) == [("apps-ticket",)]
    assert said(two, "2026-07-11T23:00", page) == [("apps-page", "boss-escalation")]
    assert said(two, "2027-03-28T12:00", of(two, "GpuLost")) == [()]  # all of it, on this day in New York
    assert said(two, "2027-03-28T12:00", page) == [("apps-page", "boss-escalation")]
    assert said(two, "2027-03-29T12:00", of(two, "GpuLost"))[0][0] == "hardware-page"


@pytest.mark.parametrize(
    ("tenant", "severity", "receivers"),
    [
        ("red", "ticket", ("tenant/red-ticket", "apps-ticket")),
        ("red", "page", ("tenant/red-page", "apps-page", "boss-escalation")),
        ("blue", "ticket", ("tenant/blue-ticket",)),
        ("blue", "page", ("apps-page", "boss-escalation")),
        ("green", "ticket", ("apps-ticket",)),
    ],
)
def test_a_tenant_is_told_beside_the_owner_or_instead(
    two: Compiled, tenant: str, severity: str, receivers: tuple[str, ...]
) -> None:
    assert said(two, "2026-07-06T09:00", of(two, "ErrorBudgetBurn", tenant=tenant, severity=severity)) == [receivers]


SILENCED = [
    ("NodeDown", "DcgmExporterDown", "node"),
    ("NodeDown", "GpuThrottled", "node"),
    ("FabricPacketsLost", "FabricErrorsCorrected", "port"),
    ("NvlinkRecovered", "NvlinkErrorsCorrected", "gpu_uuid"),
    ("GpuEccUncorrected", "GpuXidCorrected", "gpu_uuid"),
    ("GpuRowRemapFailure", "GpuRowRemapPending", "gpu_uuid"),
    ("FabricLinkLost", "FabricPortDown", "port"),
    ("FabricPortDown", "FabricPortSlow", "port"),
    ("DcgmExportersAllDown", "DcgmExporterDown", "cluster"),
]


@pytest.mark.parametrize(("cause", "effect", "where"), SILENCED)
def test_a_cause_silences_its_effects_at_its_own_place(two: Compiled, cause: str, effect: str, where: str) -> None:
    rules = two.plan.notifications.inhibitions
    source = of(two, cause)
    shared = {name: source[name] for name in ("cluster", "node", "gpu_uuid", "device", "port") if name in source}
    target = of(two, effect, **{name: value for name, value in shared.items() if name in of(two, effect)})
    assert inhibitor(rules, target, [source, target]) == source
    assert inhibitor(rules, {**target, where: "another"}, [source]) is None
    assert inhibitor(rules, source, [source, target]) is None
    assert inhibitor(rules, target, [target]) is None


def test_a_storm_silences_pages_of_nodes_of_its_owner_and_cluster(two: Compiled) -> None:
    """And no page of another owner, cluster or tenant, none of no node, no ticket, and not itself."""
    rules = two.plan.notifications.inhibitions
    storm = of(two, "FaultStorm")
    page = of(two, "GpuLost", cluster=storm["cluster"])
    assert page["owner"] == storm["owner"]
    assert inhibitor(rules, page, [storm]) == storm
    told: list[dict[str, str]] = [
        {**page, "owner": "apps"},
        {**page, "cluster": "another"},
        {**page, "tenant": "red"},
        {**page, "severity": "ticket"},
        {name: value for name, value in page.items() if name != "node"},
        {**of(two, naming.WATCHDOG), "cluster": storm["cluster"]},
        {**storm, "signal": "another"},
    ]
    assert [inhibitor(rules, one, [storm, page]) for one in told] == [None] * len(told)


def test_a_storm_waits_for_nothing_and_pages_of_nodes_wait_for_it(two: Compiled) -> None:
    """Whoever a page is escalated to hears of a storm as well, after the same time."""
    root = two.plan.notifications.root
    storm, page = (taken(root, of(two, name)) for name in ("FaultStorm", "GpuLost"))
    assert [route.receiver for route in storm] == [route.receiver for route in page]
    assert len(storm) > 1
    assert (storm[0].group_by, storm[0].wait) == (("cluster",), NO_TIME)
    assert page[0].group_by == ("cluster", "node")
    assert page[0].wait == two.factory.interval + Duration.of(seconds=10)
    assert [route.wait for route in storm[1:]] == [route.wait for route in page[1:]]


def test_a_budget_that_burns_fast_silences_the_ticket_of_the_same_objective(two: Compiled) -> None:
    rules = two.plan.notifications.inhibitions
    burning = [one.labels for one in two.plan.notifications.samples if one.labels["alertname"] == "ErrorBudgetBurn"]
    tickets = [one for one in burning if one["severity"] == "ticket"]
    pages = [one for one in burning if one["severity"] == "page"]
    assert len({one["slo"] for one in tickets}) == 3
    for ticket in tickets:
        (found,) = [one for one in pages if one["slo"] == ticket["slo"]]
        place = found.keys() - {"alertname", "severity", "owner", "layer", "window"}
        page = {**found, **{label: ticket[label] for label in place}}  # their proofs fire each at its own
        others = [one for one in pages if one is not found]
        assert inhibitor(rules, ticket, [*others, page]) == page
        assert inhibitor(rules, ticket, others) is None
        for label in place:
            assert inhibitor(rules, ticket, [{**page, label: "another"}]) is None, label


def test_nothing_silences_a_page_but_a_page(every: Compiled) -> None:
    alerts = [sample.labels for sample in every.plan.notifications.samples]
    placed = [{**one, **{name: "x" for name in one if name not in FIXED}} for one in alerts]  # all at one place
    for alert in placed:
        by = inhibitor(every.plan.notifications.inhibitions, alert, placed)
        assert by is None or alert["severity"] != "page" or by["severity"] == "page"


FIXED = ("alertname", "severity", "owner", "layer")


# --- what the judge says of a plan that is wrong ----------------------------------------------------------------------


BROKEN = {
    "VFY120 a page of the wrong owner": ("receiver: hardware-page\n", "receiver: apps-page\n"),
    "VFY120 nobody goes on": ("continue: true", "continue: false"),
    "VFY121 a route that an earlier one shadows": (
        "matchers: ['severity=\"info\"']",
        "matchers: ['severity=\"page\"']",
    ),
    "VFY121 a route for nobody": ("matchers: ['owner=\"boss\"']", "matchers: ['owner=\"nobody\"']"),
    "VFY121 a receiver that no route names": ("receivers:\n", "receivers:\n- name: lonely\n"),
    "VFY121 an interval that no route names": ("time_intervals:\n- ", "time_intervals:\n- name: lonely\n- "),
    "VFY121 an inhibition about nothing": (
        "source_matchers: ['alertname=\"NodeDown\"']",
        "source_matchers: ['a=\"b\"']",
    ),
    "VFY122 an equal label that is missing": ("  equal: [cluster, node]\n", "  equal: [cluster, node, gpu_uuid]\n"),
    "VFY122 a ticket that silences a page": ("target_matchers: ['severity=\"ticket\"', ", "target_matchers: ["),
    "VFY122 an alert on both sides": (
        "target_matchers: ['alertname=\"FabricPortSlow\"']",
        "target_matchers: ['layer=\"fabric\"']",
    ),
    "VFY122 a group by nothing": ("group_by: [cluster, slo]", "group_by: [cluster, rack]"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_judge_tells_what_is_wrong(two: Compiled, name: str) -> None:
    files = files_of(two)
    old, new = BROKEN[name]
    text = files[CONFIGURATION].text
    assert old in text
    if name.startswith("VFY122 a ticket"):  # a page on a node that would be silenced with its tickets
        text = text.replace("DcgmLabelViolations|", "DcgmLabelViolations|GpuLost|", 1)
    broken = files[CONFIGURATION]._replace(text=text.replace(old, new))
    log = Log()
    judge_reach(read_configuration(broken), read_cases(files[ROUTE_TESTS]), log)
    assert name[:6] in {told.code for told in log.sorted()}


def test_an_alert_that_no_route_test_is_about_is_told(two: Compiled) -> None:
    files = files_of(two)
    cases = read_cases(files[ROUTE_TESTS])
    log = Log()
    judge_reach(
        read_configuration(files[CONFIGURATION]), cases._replace(alerts=(({"alertname": "New"}, NOWHERE),)), log
    )
    assert "VFY120" in {told.code for told in log.sorted()}

"""Drills: the verdict on everything that may come of a fault, and a dozen faults on real servers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from small_world import small_world
from tocsin.diagnostics import Log
from tocsin.drill import FAULTS, Report, as_json, as_list, as_text, drill, possible
from tocsin.drill.choice import Chosen, choose
from tocsin.drill.expectation import Expected, expected, silenced, wanted
from tocsin.drill.faults import Place
from tocsin.drill.judging import Happened, is_over, is_told, judge, strays
from tocsin.fleet.inbox import Message
from tocsin.pipeline import compile_spec
from tocsin.stage import Stage
from toolbox import best

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.drill.judging import Verdict
    from tocsin.pipeline import Compiled

EXAMPLE = ROOT / "specs" / "ai-factory.yaml"
BY_NAME = {fault.name: fault for fault in FAULTS}


def compiled(path: Path) -> Compiled:
    result = compile_spec(str(path), Log(), {})
    assert result is not None
    return result


# --- what has to be told ----------------------------------------------------------------------------------------------


def test_what_is_expected_stands_in_the_plan() -> None:
    plan = compiled(EXAMPLE).plan
    page = expected(plan, "GpuXidReset")
    assert page is not None
    assert (page.labels["owner"], page.labels["severity"], page.hold, page.wait) == ("gpu-platform", "page", 0, 25)
    burn = expected(plan, "ErrorBudgetBurn", "training-progress")
    assert burn is not None
    assert (burn.labels["owner"], burn.labels["severity"], burn.labels["window"], burn.hold) == (
        "ml-platform",
        "page",
        "1h",
        120,
    )
    assert expected(plan, "NoSuchAlert") is None
    assert expected(plan, "ErrorBudgetBurn", "no-such-objective") is None


def test_an_owner_a_tenant_or_both_are_wanted() -> None:
    factory = compiled(ROOT / "tests" / "cases" / "golden" / "two-clusters" / "spec.yaml").factory
    ticket = {"owner": "apps", "severity": "ticket"}
    assert wanted(factory, ticket) == {"apps-ticket"}
    assert wanted(factory, {**ticket, "tenant": "red"}) == {"apps-ticket", "tenant/red-ticket"}
    assert wanted(factory, {**ticket, "tenant": "blue"}) == {"tenant/blue-ticket"}
    assert wanted(factory, {"owner": "apps", "severity": "page", "tenant": "blue"}) == {"apps-page"}
    assert wanted(factory, {"owner": "apps", "severity": "info"}) == set()


def test_tickets_wait_for_hours() -> None:
    plan = compiled(EXAMPLE).plan
    labels = {"alertname": "GpuThrottled", "owner": "gpu-platform", "severity": "ticket"}
    night, day = (datetime(2026, 12, 1, hour, tzinfo=UTC) for hour in (2, 12))
    assert silenced(plan, labels, night) == "hours/gpu-platform"
    assert silenced(plan, labels, day) == ""
    assert silenced(plan, labels, datetime(2026, 12, 6, 2, tzinfo=UTC)) == "maintenance/patch-night"
    assert silenced(plan, {**labels, "severity": "page"}, night) == ""


# --- where it can happen ----------------------------------------------------------------------------------------------


def test_faults_of_one_round_are_on_hosts_of_their_own() -> None:
    result = small_world()
    choice = choose(result, Stage(result, "", "", nodes=len(FAULTS)), FAULTS)
    (round_,) = choice.rounds
    hosts = [chosen.place.host for chosen in round_ if chosen.place.host]
    assert len(hosts) == len(set(hosts)) == len(round_) - 1
    assert dict(choice.left_out) == {
        "disk-filling": "its alert asks for an hour of past, which a fresh server has not got",
        "prometheus-replica-down": "`collection.servers` has no `replicas: 2`",
        "alertmanager-down": "`alerting` has one Alertmanager only",
    }


def test_where_hosts_are_few_there_are_more_rounds() -> None:
    """Each fault of a host has its host in turn; servers die in a round of their own."""
    result = compiled(ROOT / "specs" / "incident-world.yaml")
    choice = choose(result, Stage(result, "", "", nodes=9), FAULTS)
    assert sum(map(len, choice.rounds)) + len(choice.left_out) == len(FAULTS)
    assert len(choice.rounds) > 5
    example = compiled(EXAMPLE)
    rounds = choose(example, Stage(example, "", "", nodes=len(FAULTS), replicas=2), FAULTS).rounds
    dying = [{chosen.fault.name for chosen in round_ if chosen.place.server} for round_ in rounds]
    assert {"prometheus-replica-down", "alertmanager-down"} in dying
    assert [len(names) for names, round_ in zip(dying, rounds, strict=True) if names] == [
        len(round_) for names, round_ in zip(dying, rounds, strict=True) if names
    ]


def test_what_a_spec_has_no_alert_for_is_left_out() -> None:
    result = small_world((", filesystem]", "]"), ("fabric: infiniband, fabric_speed: 400Gb/s", "fabric: none"))
    reasons = possible(result)
    assert reasons["disk-read-only"] == "the spec has no alert FilesystemReadOnly"
    assert reasons["port-down"] == "no group has InfiniBand"
    text = as_list(FAULTS, reasons)
    assert "port-down" in text
    assert "left out: no group has InfiniBand" in text


# --- the verdict ------------------------------------------------------------------------------------------------------

HOST = "gpu-node-01"
LABELS = {"alertname": "GpuXidReset", "severity": "page", "owner": "gpu-platform", "node": HOST}
TEXT = {"summary": f"XID 79 on {HOST}", "description": "GPU-1 worked for job 4711"}


def message(
    number: int, came: float = 105, to: str = "gpu-platform-page", status: str = "firing", **labels: str
) -> Message:
    return Message(to, status, LABELS | labels, TEXT, number, came)


def verdict(*messages: Message, **more: object) -> Verdict:
    """On XID 79 at second 100."""
    place = Place(HOST, marks=(("node", HOST), ("job_id", "4711")))
    chosen = Chosen(
        BY_NAME["xid-79"], place, Expected("GpuXidReset", {"owner": "gpu-platform", "severity": "page"}, 0, 10)
    )
    happened = Happened(chosen, 100, texts=(HOST, "GPU-1", "4711"))._replace(**more)  # type: ignore[arg-type]
    return judge(small_world().factory, happened, messages)


def test_told_once_with_its_place_is_fine() -> None:
    said = verdict(message(1), message(2, to="heartbeat"), message(3, node="gpu-node-02"), message(4, came=99))
    assert (said.status, said.fine, said.receivers, said.notifications, said.seconds) == (
        "told",
        True,
        (("gpu-platform-page", 5),),
        1,
        5,
    )


def test_told_to_nobody() -> None:
    said = verdict(message(1, node="gpu-node-02"))
    assert (said.status, said.note, said.seconds) == ("told to nobody", "not told: gpu-platform", None)
    assert not said.fine


def test_told_to_the_wrong_ones() -> None:
    """The right alert at another's door, or another alert of the same place; an escalation is neither."""
    for wrong in (message(2, to="network-page"), message(2, to="network-page", alertname="FabricPortDown")):
        said = verdict(message(1), wrong)
        assert said.status == "told to the wrong ones"
        assert said.note == f"also told: {wrong.labels['alertname']} to network-page"
    assert verdict(message(1), message(2, to="serving-escalation")).fine


def test_what_was_there_before_is_no_ones_fault() -> None:
    old = message(2, to="network-page", alertname="FabricPortDown")
    assert verdict(message(1), old, known=frozenset({"FabricPortDown"})).fine


def test_told_again_is_a_notification_with_nothing_new() -> None:
    assert verdict(message(1), message(2)).status == "told again"
    assert verdict(message(1), message(2), message(2, gpu_uuid="GPU-2")).fine
    assert verdict(message(1), message(2, status="resolved")).fine


def test_a_text_without_the_place_is_told() -> None:
    assert verdict(message(1), texts=(HOST, "GPU-2")).note == "the text does not name GPU-2"


def test_the_end_is_told_after_the_end() -> None:
    early, late = (message(2, came=came, status="resolved") for came in (109, 111))
    assert verdict(message(1)).over is None
    assert verdict(message(1), early, ended=110).over is False
    assert verdict(message(1), late, ended=110).over is True


def test_hours_hold_a_ticket_back() -> None:
    said = verdict(held="hours/gpu-platform")
    assert (said.status, said.fine, said.note) == ("held back", True, "waits for hours/gpu-platform")


def test_what_must_disturb_nobody() -> None:
    chosen = Chosen(BY_NAME["xid-old"], Place(HOST, marks=(("node", HOST),)), None)
    factory = small_world().factory
    assert judge(factory, Happened(chosen, 100), []).status == "quiet"
    assert judge(factory, Happened(chosen, 100), [message(1)]).status == "told to the wrong ones"


def test_what_is_about_no_fault_is_told_apart() -> None:
    chosen = Chosen(BY_NAME["xid-old"], Place(HOST, marks=(("node", HOST),)), None)
    happened = [Happened(chosen, 100, known=frozenset({"Known"}))]
    other = message(1, node="gpu-node-02")
    early, known = message(2, came=99, node="gpu-node-02"), message(3, node="gpu-node-02", alertname="Known")
    told = [message(4), other, early, known, message(5, to="heartbeat", node="gpu-node-02")]
    assert strays(happened, told) == (("GpuXidReset", "gpu-platform-page"),)


def test_all_who_are_concerned_have_to_be_told() -> None:
    """A job is known by its id, also where the id has its namespace before it."""
    chosen = Chosen(BY_NAME["xid-79"], Place(HOST, marks=(("job_id", "4711"),)), Expected("GpuXidReset", LABELS, 0, 10))
    happened = Happened(chosen, 100, ended=110)
    factory = compiled(ROOT / "tests" / "cases" / "golden" / "two-clusters" / "spec.yaml").factory
    here = {"owner": "apps", "node": "elsewhere", "job_id": "team/4711", "tenant": "red", "severity": "ticket"}
    one, two = (message(1, to=to, **here) for to in ("apps-ticket", "tenant/red-ticket"))
    assert not is_told(factory, happened, [one])
    assert is_told(factory, happened, [one, two])
    assert not is_over(happened, [one, two])
    assert judge(factory, happened, [one]).note == "not told: tenant/red-ticket"


def test_a_report_is_a_table_or_an_object() -> None:
    good, bad = verdict(message(1), message(2, came=112, status="resolved"), ended=110), verdict()
    report = Report(
        "factory", "east", 5, (good, bad), (("disk-filling", "no past"),), (("NodeDown", "a-ticket"),), 61.2
    )
    assert as_text(report).splitlines() == [
        "fault   alert        told               after  times  over",
        "xid-79  GpuXidReset  gpu-platform-page  5.0 s      1  yes   ok",
        "xid-79  GpuXidReset  nobody                        0        told to nobody: not told: gpu-platform",
        "left out: disk-filling: no past",
        "told without a fault: NodeDown to a-ticket",
        "factory, east: 1 of 2 faults were not told as they should be (61 s, 5 times as fast as generated)",
    ]
    said = json.loads(as_json(report))
    assert not said["fine"]
    assert said["faults"][0]["told"] == [{"receiver": "gpu-platform-page", "seconds": 5.0}]
    assert said["faults"][0]["resolved"] is True
    assert said["strays"] == [{"alert": "NodeDown", "receiver": "a-ticket"}]
    assert said["left_out"] == [{"fault": "disk-filling", "reason": "no past"}]


def test_the_table_of_the_readme_is_one_of_the_example() -> None:
    """Its times are those of one drill; its faults, alerts and receivers are the spec's."""
    table = (ROOT / "README.md").read_text("utf-8").partition("\nfault ")[2].partition("```")[0].splitlines()[1:]
    plan = compiled(EXAMPLE).plan
    receivers = {receiver.name for receiver in plan.notifications.receivers}
    assert len(table) >= 8
    for name, alert, told, *_ in (line.split() for line in table):
        assert BY_NAME[name].alert == ("" if alert == "none" else alert)
        assert told in (receivers if BY_NAME[name].alert else {"nobody"})


# --- real servers -----------------------------------------------------------------------------------------------------

SPEED = 15
# One takes two minutes as its objective wants to see a job for so long; the others are like some that are there.
OTHERS = ("training-slow", "row-remap-failure", "link-flap", "symbol-errors")


def held(result: Compiled, names: list[str], speed: int = SPEED) -> Report:
    prometheus, alertmanager = best("prometheus"), best("alertmanager")
    if prometheus is None or alertmanager is None:
        pytest.skip("prometheus or alertmanager not found: run `make tools`")
    faults = [BY_NAME[name] for name in names]
    report = drill(result, prometheus.path, alertmanager.path, faults, fast=speed, any_hour=True)
    print(as_text(report))
    return report


def broken(result: Compiled) -> Compiled:
    """The network team's pages go to nobody, and its tickets to facility: what a hand in the routes may do."""
    told = result.plan.notifications
    receivers = tuple(one._replace(channels=()) if one.name == "network-page" else one for one in told.receivers)
    children = tuple(
        route._replace(receiver="facility-ticket") if route.receiver == "network-ticket" else route
        for route in told.root.children
    )
    root = told.root._replace(children=children)
    plan = result.plan._replace(notifications=told._replace(receivers=receivers, root=root))
    return type(result)(result.factory, plan, result.artifacts)


@pytest.mark.xdist_group("stages")
def test_every_fault_is_told_to_its_owner_once() -> None:
    """With its place, and when it is over. Where routes are broken, the same faults are not told as they should be."""
    result = small_world()
    names = [fault.name for fault in FAULTS if fault.name not in (*OTHERS, *possible(result))]
    assert len(names) == 16
    with ThreadPoolExecutor() as pool:
        good, bad = pool.map(held, (result, broken(result)), (names, ["link-flap", "symbol-errors"]))
    assert {verdict.fault for verdict in good.verdicts} == {*names}
    assert [(one.fault, one.status, one.note) for one in good.verdicts if not one.fine] == []
    assert all(one.over for one in good.verdicts if BY_NAME[one.fault].end and not BY_NAME[one.fault].lasts)
    assert {one.fault: one.status for one in bad.verdicts} == {
        "link-flap": "told to nobody",
        "symbol-errors": "told to the wrong ones",
    }
    assert not bad.fine
    assert good.strays == ()

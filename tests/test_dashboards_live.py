"""Every panel of every dashboard, asked of a real Prometheus with forty hosts behind it, as Grafana asks."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import pytest

from dashboard_lint import VALUES, most, without_variables
from fleet.monitoring import got
from fleet.site import ADAPTERS, Site, site
from grafana_asks import Chosen, Span, path, queried, regex, values_path
from tocsin.factory import DASHBOARD_RANGE
from tocsin.fleet.deadline import until
from tocsin.naming import SLO_BUDGET_LEFT, SLO_OBJECTIVE
from tocsin.promql import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fleet.site import Said

pytestmark = pytest.mark.live

SHOWN = 0.95  # of all panels, at least
# What has nothing to show, and why.
EMPTY = {
    ("gpus", "Host links with fewer lanes"): "the links of the simulated boards have all their lanes",
    ("gpus", "Host links of an old generation"): "the links of the simulated boards are as fast as they can be",
    ("gpus", "Drives and filesystems at fault"): "no simulated drive fails",
    ("cooling", "Targets at fault"): "every exporter of the plant answers",
    ("inference", "Targets at fault"): "the one host that serves answers",
    ("monitoring", "Alerts of the monitoring"): "it is sound",
    ("tenant-vision", "Inference latency"): "the tenant serves no model",
    ("tenant-vision", "Inference latency, spread"): "the tenant serves no model",
    ("tenant-vision", "Inference requests"): "the tenant serves no model",
    ("tenant-vision", "Error ratio"): "the objective of its jobs counts once they have run for ten minutes",
    ("training", "Pace: pace"): "how fast a job usually is, is known after an hour",
}
# What lies beyond its axis, and why.
BEYOND = {
    ("capacity", "Series of the prediction"): "what only events bring is not predicted, and here all has happened"
}
USUAL = 15  # seconds between two scrapes
HEAVY = 6000  # samples that a query of a graph may read then at each of its points: 150 a node

# An alert that fires now for each owner whose pages show none of the faults below.
OWN_ALERTS = {
    "LossAboveTwo": {"owner": "ml-platform", "expr": "max by (cluster, tenant, job_id) (train_loss) > 2"},
    "ChatAnswers": {
        "owner": "serving",
        "expr": "sum by (cluster, tenant, service) (rate(inference_requests_total[1m])) > 1",
    },
    "CoolantAboveThirty": {"owner": "facility", "expr": "max by (cluster) (cdu_supply_celsius) > 30"},
    "JobsWait": {"owner": "ml-platform", "layer": "runtime", "expr": "max by (cluster) (slurm_jobs_pending) > 1"},
}


class Panel(NamedTuple):
    """A panel as it was answered: how many lines or rows, and how many there may be; for how many seconds was waited.

    `samples` are those that its heaviest query reads for one point, `once` is whether it is asked for one only, and
    `beyond` are values outside of its axis.
    """

    page: str
    title: str
    series: int
    bound: float
    seconds: float
    slowest: float
    samples: int
    once: bool
    has: bool
    beyond: list[float]


def amend(said: Said) -> None:
    """More to be shown: waiting for data, jobs that slow down, and how many values labels may have."""
    wait = {"metric": "train_data_wait_seconds_total", "type": "counter", "unit": "seconds", "layer": "application"}
    said["signals"]["define"]["train_data_wait"] = {**wait, "job": "trainer", "labels": ["job_id", "tenant"]}
    said["limits"] = {"train_input_bound": "20%", "slurm_pending": 100}
    said["labels"]["job_id"]["max_values"] = 400
    said["slos"]["chat-availability"]["by"].append("tenant")
    texts = {"severity": "ticket", "summary": "It is so", "description": "It is so, for something to be shown."}
    said["alerts"] = {name: {**texts, **alert} for name, alert in OWN_ALERTS.items()}
    said["slos"]["pace"] = {
        "owner": "ml-platform",
        "objective": "99%",
        "period": "28d",
        "by": ["cluster", "job_id", "tenant"],
        # What it was is known after an hour, and that is more than a test can wait for.
        "slowdown": {"signal": "train_steps", "at_most": "20%", "baseline": "2h", "while": "train_job_running"},
    }


def faults(one: Site) -> None:
    """What befalls the site, so that there is something to be seen of it."""
    hosts = [*one.fleet.nodes]
    one.fleet.xid(hosts[0], 0, 79)
    one.fleet.xid(hosts[1], 3, 48)
    one.fleet.ecc(hosts[1], 3)
    one.fleet.throttle(hosts[2], 1)
    one.fleet.link_down(hosts[3], ADAPTERS[0])
    one.fleet.vanish(hosts[4], 7)
    one.fleet.errors("chat", 0.2)
    for exporter in ("dcgm", "node", "trainer"):
        one.fleet.exporter_down(hosts[5], exporter)


def files(one: Site) -> dict[str, dict[str, Any]]:
    """The dashboards by their names."""
    found = [made for made in one.made.artifacts if made.path.startswith("grafana/dashboards/")]
    return {made.path.rpartition("/")[2].removesuffix(".json"): json.loads(made.text) for made in found}


def filled(one: Site, page: dict[str, Any], span: Span, *, first: bool) -> Chosen:
    """A page's variables: all, or of each the first of those that the earlier ones leave. None is without values."""
    chosen: Chosen = {}
    for variable in queried(page):
        values = one.ask(values_path(variable, chosen, span))
        assert values, (page["uid"], variable["name"], chosen)
        chosen[variable["name"]] = regex(values[:1]) if first else variable["allValue"]
    return chosen


class Answer(NamedTuple):
    """What one query got: series, after how many seconds, and the samples that were read for each point of it."""

    result: list[Any]
    seconds: float
    samples: int


def answers(one: Site, page: dict[str, Any], chosen: Chosen, span: Span) -> Iterator[tuple[str, Answer]]:
    """Every query of a page with its panel's title; those of the annotations have none."""
    asked = [(panel["title"], target) for panel in page["panels"] for target in panel["targets"]]
    asked += [("", {**mark, "instant": False}) for mark in page["annotations"]["list"]]
    for title, target in asked:
        started = time.monotonic()
        status, body = got(one.address, f"/api/v1/{path(target, chosen, span)}")
        took = time.monotonic() - started
        assert status == 200, (page["uid"], title, target["expr"], body)
        answer = json.loads(body)
        assert not answer.get("warnings"), (page["uid"], title, answer["warnings"])
        point = one.ask(f"{path({**target, 'instant': True}, chosen, span)}&stats=all")
        yield title, Answer(answer["data"]["result"], took, point["stats"]["samples"]["totalQueryableSamples"])


def numbers(result: list[Any]) -> list[float]:
    """All numbers of a result, at whatever time."""
    points = [point for series in result for point in series.get("values") or [series["value"]]]
    return [number for _, text in points if (number := float(text)) == number]


def panels(one: Site, name: str, page: dict[str, Any], span: Span, values: dict[str, int]) -> Iterator[Panel]:
    """Every panel of a page, all variables being everything."""
    found: dict[str, list[Answer]] = defaultdict(list)
    for title, answer in answers(one, page, filled(one, page, span, first=False), span):
        found[title].append(answer)
    for panel in page["panels"]:
        results = [answer.result for answer in found[panel["title"]]]
        times = [answer.seconds for answer in found[panel["title"]]]
        shown = [number for result in results for number in numbers(result)]
        bound = sum(most(parse(without_variables(target["expr"])), values) for target in panel["targets"])
        axis = panel["fieldConfig"]["defaults"]
        low, high = axis.get("min", float("-inf")), axis.get("max", float("inf"))
        yield Panel(
            name,
            panel["title"],
            sum(map(len, results)),
            bound,
            sum(times),
            max(times),
            max(answer.samples for answer in found[panel["title"]]),
            all(target["instant"] for target in panel["targets"]),
            bool(shown),
            [number for number in shown if not low <= number <= high][:3],
        )


def here(one: Site) -> dict[str, int]:
    """How many values labels have at this site."""
    return {label: len(one.ask(f"label/{label}/values")) for label in VALUES}


def test_every_panel_is_answered_and_shows_something(tmp_path_factory: pytest.TempPathFactory) -> None:
    with site(tmp_path_factory.mktemp("site"), amend, eventful=True) as one:
        recorded = "query?query=" + quote("gpu:xid_edge:max or gpu:throttled:max")
        until("what is recorded", lambda: one.has(recorded))
        time.sleep(10)  # an edge is one for who has seen what was before
        faults(one)
        until("the faults", lambda: one.has("query?query=" + quote('ALERTS{alertname="FabricLinkLost"}')))
        # Long windows are evaluated every two minutes, and a budget burns for two before anybody is told.
        promised = f"count({SLO_OBJECTIVE}) == {len(one.made.factory.slos)}"
        for what in (promised, SLO_BUDGET_LEFT):
            long = "query?query=" + quote(what)
            until(what, partial(one.has, long), seconds=150)
        burning = "query?query=" + quote('ALERTS{alertname="ErrorBudgetBurn", alertstate="firing"}')
        until("the burning budget", lambda: one.has(burning), seconds=240)
        time.sleep(20)  # a graph has a point each twenty seconds
        end = time.time()
        interval = int(one.made.plan.servers[0].interval.seconds)
        span = Span(end - float(DASHBOARD_RANGE.seconds), end, interval)
        values, found = here(one), list[Panel]()
        for name, page in files(one).items():
            found += panels(one, name, page, span, values)
            narrowed = [*answers(one, page, filled(one, page, span, first=True), span)]  # to one board, one job
            assert any(answer.result for _, answer in narrowed), name
    report(found)
    empty = {(panel.page, panel.title) for panel in found if not panel.has}
    assert sorted(empty ^ EMPTY.keys()) == []
    assert len(EMPTY) <= (1 - SHOWN) * len(found)
    assert [panel for panel in found if panel.series > panel.bound] == []
    assert {(panel.page, panel.title) for panel in found if panel.beyond} <= BEYOND.keys()
    most_read = HEAVY * USUAL / interval
    assert [panel for panel in found if panel.samples > most_read and not panel.once] == []


def report(found: list[Panel]) -> None:
    """What was measured, in words."""
    slowest = max(found, key=lambda panel: panel.slowest)
    print(f"slowest query: {slowest.slowest * 1000:.0f} ms, '{slowest.title}' of {slowest.page}")
    largest = max(found, key=lambda panel: panel.series)
    heaviest = max((panel for panel in found if not panel.once), key=lambda panel: panel.samples)
    print(f"most samples a point: {heaviest.samples}, '{heaviest.title}' of {heaviest.page}")
    print(f"most series: {largest.series} of at most {largest.bound:.0f}, '{largest.title}' of {largest.page}")
    for name in dict.fromkeys(panel.page for panel in found):
        own = [panel for panel in found if panel.page == name]
        total = sum(panel.seconds for panel in own) * 1000
        print(f"{name}: {len(own)} panels, {sum(panel.has for panel in own)} with data, {total:.0f} ms")

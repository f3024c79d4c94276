"""Ways in and ways on: from an alert to the panel of its fault, and from a loss over links to the board that failed."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest

from conftest import ROOT
from dashboard_lint import without_variables
from tocsin.diagnostics import Log
from tocsin.naming import WATCHDOG
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Alert, Record
from tocsin.promql import metric_names, parse, selectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SPECS = ("ai-factory", "incident-world")
Page = dict[str, Any]


@cache
def compiled(spec: str) -> Compiled:
    """An example spec, compiled."""
    found = compile_spec(str(ROOT / "specs" / f"{spec}.yaml"), Log(), {})
    assert found is not None
    return found


@cache
def pages(spec: str) -> dict[str, Page]:
    """The dashboards by their uids."""
    made = [file for file in compiled(spec).artifacts if file.path.startswith("grafana/dashboards/")]
    return {page["uid"]: page for page in (json.loads(file.text) for file in made)}


def alerts(spec: str) -> Iterator[tuple[Alert, str]]:
    """Every alert with its expression; the heartbeat is told to a machine, and opens nothing."""
    for file in compiled(spec).plan.rules:
        for rule in (rule for group in file.groups for rule in group.rules):
            if isinstance(rule, Alert) and rule.name != WATCHDOG:
                yield rule, file.filled(rule.expr)


def variables(page: Page) -> set[str]:
    """The names of a page's variables."""
    return {one["name"] for one in page["templating"]["list"]}


def asked(panel: dict[str, Any]) -> Iterator[str]:
    """What a panel asks, every variable being everything."""
    yield from (without_variables(target["expr"]) for target in panel["targets"])


# -- from an alert -----------------------------------------------------------------------------------------------------

# Alerts that are seen as rows of a page's table of what fires, and in no panel about what they read.
ROWS_ONLY = {
    "FabricCounterFull": "what it is about are the errors' counters, which rise no more: a graph of them shows nothing",
    "JobIdValuesExceeded": "how many values labels have is shown with the capacity and with the monitoring",
}


class Opened(NamedTuple):
    """The page that an alert opens, and the values that the link gives to its variables."""

    page: Page
    values: dict[str, str]


def opened(spec: str, alert: Alert) -> Opened:
    """Where the link of an alert leads, `$labels.x` being the label's name."""
    url = urlsplit(re.sub(r"\{\{ \$labels\.(\w+) \| urlquery \}\}", r"\1", alert.annotations["dashboard_url"]))
    assert f"{url.scheme}://{url.netloc}" == compiled(spec).factory.grafana_url
    uid = url.path.removeprefix("/d/")
    return Opened(pages(spec)[uid], dict(parse_qsl(url.query, strict_parsing=bool(url.query))))


@pytest.mark.parametrize("spec", SPECS)
def test_the_link_of_every_alert_opens_a_page_that_is_there_with_variables_that_it_has(spec: str) -> None:
    found = list(alerts(spec))
    assert len(found) > 40
    for alert, _ in found:
        page, values = opened(spec, alert)
        assert {name.removeprefix("var-") for name in values} <= variables(page), alert.name
        assert all(name.startswith("var-") for name in values), alert.name


@pytest.mark.parametrize("spec", SPECS)
def test_the_page_that_an_alert_opens_has_a_row_for_it(spec: str) -> None:
    """One of the page's tables of what fires selects it, by each label that the alert has for certain."""
    for alert, _ in alerts(spec):
        page, _ = opened(spec, alert)
        tables = [expr for panel in page["panels"] if panel["type"] == "table" for expr in asked(panel)]
        assert any(selects(expr, alert.labels) for expr in tables), (alert.name, page["title"])


def selects(expr: str, labels: dict[str, str]) -> bool:
    """Whether a query asks for alerts with these labels; of others any value may be meant."""
    for selector in selectors(parse(expr)):
        if selector.metric == "ALERTS":
            own = [one for one in selector.matchers if one.label in labels]
            return all(
                (one.op == "=" and labels[one.label] == one.value)
                or (one.op == "=~" and re.fullmatch(one.value, labels[one.label]) is not None)
                or (one.op == "!=" and labels[one.label] != one.value)
                for one in own
            )
    return False


@cache
def recorded(spec: str) -> dict[str, set[str]]:
    """What each recorded series is made of, by all rules that record it."""
    made: dict[str, set[str]] = {}
    for file in compiled(spec).plan.rules:
        for rule in (rule for group in file.groups for rule in group.rules):
            if isinstance(rule, Record):
                made.setdefault(rule.name, set()).update(metric_names(parse(file.filled(rule.expr))))
    return made


def scraped(spec: str, names: Iterable[str]) -> set[str]:
    """The series from which some are made in the end, and these themselves."""
    found: set[str] = set()
    ahead = [*names]
    while ahead:
        if (name := ahead.pop()) not in found:
            found.add(name)
            ahead += recorded(spec).get(name, ())
    return found


@pytest.mark.parametrize("spec", SPECS)
def test_the_page_that_an_alert_opens_shows_what_the_alert_reads(spec: str) -> None:
    told = set()
    for alert, expr in alerts(spec):
        page, _ = opened(spec, alert)
        shown = {name for panel in page["panels"] for query in asked(panel) for name in metric_names(parse(query))}
        if not scraped(spec, shown) & scraped(spec, metric_names(parse(expr))):
            told.add(alert.name)
    assert told == {name for name in ROWS_ONLY if name in {alert.name for alert, _ in alerts(spec)}}


# -- from a loss -------------------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A page as it is opened: the values that stand for its variables."""

    page: Page
    values: dict[str, str]

    def asks(self, title: str) -> list[str]:
        """What a panel asks here."""
        return [
            re.sub(r"\$(\w+)", lambda found: self.values.get(found[1], ".*"), target["expr"])
            for target in panel(self.page, title)["targets"]
        ]


def panel(page: Page, title: str) -> dict[str, Any]:
    """The panel with a title."""
    found: dict[str, Any]
    (found,) = [one for one in page["panels"] if one["title"] == title]
    return found


def follow(place: Place, title: str, link: str, series: dict[str, str]) -> Place:
    """Where a click on a series of a panel leads; the time range is kept, and what the series is called goes along."""
    (found,) = [one for one in panel(place.page, title)["fieldConfig"]["defaults"]["links"] if one["title"] == link]
    path, _, query = found["url"].partition("?")
    *named, source, time = query.split("&")
    assert (source, time) == ("${datasource:queryparam}", "${__url_time_range}")
    page = pages("incident-world")[path.removeprefix("/d/")]
    values = {}
    for part in named:
        got = re.fullmatch(r"var-(\w+)=\$\{__(?:field\.labels|data\.fields)\.(\w+)\}", part)
        assert got, part
        values[got[1]] = series[got[2]]
    assert values.keys() <= variables(page)
    return Place(page, values)


def test_three_clicks_lead_from_a_loss_spike_to_the_xids_of_the_board_that_failed() -> None:
    """The loss of a job, its nodes, a node's boards, and of a board its XIDs; each shows only what was clicked on."""
    (training,) = [page for page in pages("incident-world").values() if page["uid"].endswith("-training")]
    every = Place(training, {})

    for spike in ("Train loss", "Loss against its median"):
        assert follow(every, spike, "Its job", {"job_id": "4711"}) == Place(training, {"job_id": "4711"})
    job = follow(every, "Train loss", "Its job", {"cluster": "east", "job_id": "4711"})
    assert all('job_id=~"4711"' in query for query in job.asks("Its nodes"))

    node = follow(job, "Its nodes", "Its GPUs", {"cluster": "east", "node": "gpu-node-01"})
    assert node.page["uid"].endswith("-gpus")
    assert all('cluster=~"east", node=~"gpu-node-01"' in query for query in node.asks("XIDs of the last hour"))

    row = {"cluster": "east", "node": "gpu-node-01", "gpu_uuid": "GPU-0a", "err_code": "79", "job_id": "4711"}
    board = follow(node, "XIDs of the last hour", "Its GPUs", row)
    for title in ("XIDs of the last hour", "New XID errors", "Hottest GPUs", "GPU utilisation"):
        assert all('gpu_uuid=~"GPU-0a"' in query for query in board.asks(title)), title
    assert follow(board, "XIDs of the last hour", "Its job", row) == job


def test_the_rows_that_are_clicked_on_show_the_labels_that_a_link_takes() -> None:
    """A cell that a table hides, or a label that a query takes away, would leave a variable empty."""
    for page in pages("incident-world").values():
        for one in page["panels"]:
            links = one["fieldConfig"]["defaults"].get("links", [])
            taken = set(re.findall(r"__data\.fields\.(\w+)\}", " ".join(link["url"] for link in links)))
            if one["type"] == "table" and taken:
                organised = one["transformations"][-1]["options"]
                cells = {organised["renameByName"].get(name, name) for name in organised["indexByName"]}
                assert taken <= cells, (page["title"], one["title"])

"""A real Alertmanager of every version: what it inhibits, when it is silent, and whom it tells when a page goes on."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from conftest import ROOT
from routing_world import NOWHERE, inhibitions, labels, trees, written
from tocsin.diagnostics import Log
from tocsin.factory.owners import Channel
from tocsin.fleet.alertmanager import startable
from tocsin.fleet.deadline import until
from tocsin.fleet.inbox import Inbox
from tocsin.fleet.listener import Listener
from tocsin.fleet.program import free_address, running
from tocsin.hours import DAYS, Window
from tocsin.pipeline import compile_spec
from tocsin.plan.notifications import Receiver
from tocsin.routes import Inhibition, Matcher, Route, TimeInterval, inhibitor, is_silent, taken
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tocsin.factory.owners import Setting
    from tocsin.fleet.program import Program
    from toolbox import Tool

SECOND = Duration.of(seconds=1)
SIDES = ("cause", "effect")


class Running:
    """An Alertmanager that reads one file again whenever it is told to."""

    def __init__(self, address: str, config: Path, program: Program) -> None:
        self.address, self.config, self.program = address, config, program
        self.rounds = 0

    def load(self, text: str) -> None:
        """Run by another configuration."""
        self.config.write_text(text, "utf-8")
        assert self.ask("POST", "/-/reload")[0] == 200, self.program.tail()

    def fire(self, alerts: Sequence[dict[str, str]], since: timedelta = timedelta(0)) -> None:
        """Alerts that began so long ago, and do not end."""
        begun = (datetime.now(UTC) - since).isoformat()
        body = [{"labels": one, "startsAt": begun} for one in alerts]
        assert self.ask("POST", "/api/v2/alerts", json.dumps(body))[0] == 200, self.program.tail()

    def alerts(self) -> list[dict[str, Any]]:
        """All that it knows, with who is told and what inhibits them."""
        answer: list[dict[str, Any]] = json.loads(self.ask("GET", "/api/v2/alerts")[1])
        return answer

    def ask(self, method: str, path: str, body: str | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.address, timeout=10)
        with contextlib.closing(connection):
            connection.request(method, path, body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            return response.status, response.read()


@pytest.fixture
def server(alertmanager: Tool, tmp_path: Path) -> Iterator[Running]:
    config, address = tmp_path / "alertmanager.yml", free_address()
    config.write_text(written(Route("nobody", NOWHERE)), "utf-8")
    command = [
        str(startable(alertmanager.path, tmp_path)),
        f"--config.file={config}",
        f"--storage.path={tmp_path}/data",
        f"--web.listen-address={address}",
        "--cluster.listen-address=",
    ]
    with running("alertmanager", command, tmp_path) as program:
        started = Running(address, config, program)
        until("Alertmanager to be ready", partial(_is_ready, started), also=program.tail)
        yield started


def _is_ready(server: Running) -> bool:
    try:
        return server.ask("GET", "/-/ready")[0] == 200
    except OSError:
        return False


def agree(server: Running, root: Route, rules: Sequence[Inhibition], alerts: Sequence[dict[str, str]]) -> None:
    """Wait for the server to tell the same people as the simulation, and to inhibit the same alerts."""
    wanted = {
        frozenset(one.items()): (
            sorted({route.receiver for route in taken(root, one)}),
            inhibitor(rules, one, alerts) is not None,
        )
        for one in alerts
    }

    def shown() -> dict[frozenset[tuple[str, str]], tuple[list[str], bool]]:
        return {
            frozenset(one["labels"].items()): (
                sorted(receiver["name"] for receiver in one["receivers"]),
                bool(one["status"]["inhibitedBy"]),
            )
            for one in server.alerts()
            if frozenset(one["labels"].items()) in wanted
        }

    until("it to agree", lambda: shown() == wanted, also=lambda: f"{shown()}\n{wanted}\n{server.program.tail()}")


@given(
    root=trees,
    rules=st.lists(inhibitions, min_size=1, max_size=3),
    alerts=st.lists(
        st.tuples(labels, st.sampled_from(SIDES)).map(lambda one: {**one[0], "side": one[1]}),
        min_size=2,
        max_size=6,
        unique_by=lambda one: frozenset(one.items()),
    ),
)
@settings(
    max_examples=60,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_it_takes_the_same_routes_and_inhibits_the_same(
    server: Running, root: Route, rules: list[Inhibition], alerts: list[dict[str, str]]
) -> None:
    """Each round has a label of its own, so that the alerts of the others, which do not end, are in nobody's way.

    An alert is a cause or an effect: of one that is both, releases differ, and the compiler writes no such rule.
    """
    server.rounds += 1
    mine = Matcher("round", str(server.rounds))
    source, target = (Matcher("side", side) for side in SIDES)
    rules = [one._replace(source=(*one.source, mine, source), target=(*one.target, mine, target)) for one in rules]
    alerts = [{"alertname": "x", "round": mine.value, **one} for one in alerts]
    server.load(written(root, rules))
    server.fire(alerts)
    agree(server, root, rules, alerts)


def test_it_does_with_every_alert_of_the_example_what_the_simulation_says(server: Running) -> None:
    """All at once, each at the same place: whatever can silence another one does."""
    compiled = compile_spec(str(ROOT / "tests" / "cases" / "golden" / "two-clusters" / "spec.yaml"), Log(), {})
    assert compiled is not None
    notifications = compiled.plan.notifications
    rules = notifications.inhibitions
    fixed = ("alertname", "severity", "owner", "layer", "slo")
    alerts = [
        {name: value if name in fixed else "here" for name, value in sample.labels.items()}
        for sample in notifications.samples
    ]
    alerts = [dict(one) for one in {frozenset(one.items()) for one in alerts}]
    server.load(written(notifications.root, rules, notifications.intervals))
    server.fire(alerts)
    agree(server, notifications.root, rules, alerts)
    inhibited = [one["labels"]["alertname"] for one in server.alerts() if one["status"]["inhibitedBy"]]
    assert {"DcgmExporterDown", "ErrorBudgetBurn", "FabricErrorsCorrected"} <= set(inhibited)


ZONES = ("UTC", "Asia/Kolkata", "America/New_York", "Pacific/Auckland", "Pacific/Marquesas", "Europe/Berlin")


def test_it_is_silent_when_the_simulation_says_so(server: Running) -> None:
    """By the clocks of six zones now: hours of today that have begun, that are over, of yesterday, and on a date."""
    now = datetime.now(UTC)
    intervals = [
        TimeInterval(f"{zone}/{name}", windows, NOWHERE) for zone in ZONES for name, windows in _windows(zone, now)
    ]
    by_name = {interval.name: interval for interval in intervals}
    leaves = [
        Route(
            f"{kind}/{interval.name}",
            NOWHERE,
            (Matcher("alertname", "x"),),
            wait=SECOND,
            goes_on=True,
            **{kind: (interval.name,)},  # type: ignore[arg-type]
        )
        for interval in intervals
        for kind in ("muted", "active")
    ]
    root = Route("nobody", NOWHERE, wait=SECOND, children=tuple(leaves))
    with Inbox() as inbox:
        server.load(written(root, (), intervals, list(_webhooks(inbox, ["nobody", *(one.receiver for one in leaves)]))))
        server.fire([{"alertname": "x"}])
        wanted = {one.receiver for one in leaves if not is_silent(one, by_name, now)}
        assert 0 < len(wanted) < len(leaves)
        seen = until(
            "those who are told",
            lambda: len(inbox.messages()) >= len(wanted) and inbox.messages(),
            also=server.program.tail,
        )
        assert Counter(message.to for message in seen) == Counter(wanted)


def _windows(zone: str, now: datetime) -> Iterator[tuple[str, tuple[Window, ...]]]:
    """Windows whose ends are an hour or more from now, so that the test may take its time."""
    from zoneinfo import ZoneInfo

    here = now.astimezone(ZoneInfo(zone))
    hour, day = here.hour, here.weekday()
    first, last = max(hour - 2, 0) * 60, min(hour + 3, 24) * 60
    yield "now", (Window((day,), None, first, last, zone),)
    yield "other-days", (Window(tuple(set(range(len(DAYS))) - {day}), None, first, last, zone),)
    yield "today", (Window((), here.date(), 0, 1440, zone),)
    yield "last-year", (Window((), here.date().replace(year=here.year - 1, day=1), 0, 1440, zone),)
    if hour < 20:
        yield "later", (Window((day,), None, (hour + 3) * 60, 1440, zone),)


def _webhooks(inbox: Inbox, names: Sequence[str]) -> Iterator[Receiver]:
    for name in names:
        yield Receiver(name, (Channel("webhook", {"url": f"http://{inbox.address}/{name}"}),), NOWHERE)


def test_a_page_that_goes_on_is_told_to_somebody_else_and_one_that_ends_is_not(server: Running) -> None:
    """The time counts from the alert's start, so a restart of Alertmanager does not begin it anew."""
    mine = (Matcher("severity", "page"),)
    wait = Duration.of(minutes=5)
    page = Route("ops-page", NOWHERE, mine, ("alertname",), wait=SECOND, goes_on=True)
    root = Route(
        "nobody", NOWHERE, children=(page, page._replace(receiver="boss-escalation", wait=wait, goes_on=False))
    )
    with Inbox() as inbox:
        server.load(written(root, (), (), list(_webhooks(inbox, ["nobody", "ops-page", "boss-escalation"]))))
        server.fire([{"alertname": "old", "severity": "page"}], since=timedelta(minutes=5, seconds=1))
        server.fire([{"alertname": "new", "severity": "page"}])
        until("the escalation", lambda: len(inbox.messages()) >= 3, also=server.program.tail)
        told = [(message.to, message.labels["alertname"]) for message in inbox.messages()]
        assert sorted(told) == [("boss-escalation", "old"), ("ops-page", "new"), ("ops-page", "old")]


# Kind -> since when, how the compiler names the file of its address, and where its text is in what is posted.
POSTED = {
    "slack": ((0, 25), "api_url_file", ("attachments", 0, "text")),
    "discord": ((0, 28), "webhook_url_file", ("embeds", 0, "description")),
    "teams": ((0, 28), "webhook_url_file", ("attachments", 0, "content", "body", 1, "text")),
}
HOSTILE = {"alertname": "GpuLost", "cluster": "<!channel>", "node": "{{ .Alerts }} $1 .*"}


def test_what_is_posted_is_the_template_filled_in(server: Running, alertmanager: Tool, tmp_path: Path) -> None:
    """The address comes from a file, the text from the hosted templates, and no label is anything but text."""
    kinds = {kind: said for kind, said in POSTED.items() if said[0] <= alertmanager.version}
    posted: dict[str, Any] = {}
    listener = Listener(("127.0.0.1", 0), lambda path, body: posted.update({path: json.loads(body)}) or "ok")
    with contextlib.ExitStack() as stack:
        stack.callback(listener.stop)
        receivers = []
        for kind, (_, key, _) in kinds.items():
            (tmp_path / kind).write_text("http://{}:{}/{}".format(*listener.address, kind), "utf-8")
            settings: dict[str, Setting] = {key: str(tmp_path / kind)}
            if kind == "slack":
                settings["channel"] = "#ops"
            receivers.append(Receiver(kind, (Channel(kind, settings),), NOWHERE))
        leaves = [Route(kind, NOWHERE, wait=SECOND, goes_on=True) for kind in kinds]
        root = Route("nobody", NOWHERE, children=tuple(leaves))
        _define_defaults(tmp_path / "templates" / "default.tmpl")
        hosted = ROOT / "templates" / "alertmanager" / "tocsin.tmpl"
        text = written(root, (), (), [Receiver("nobody", (), NOWHERE), *receivers])
        server.load(f"templates: [{json.dumps(str(hosted))}]\n{text}")
        server.fire([HOSTILE])
        until("all posts", lambda: posted.keys() == {f"/{kind}" for kind in kinds}, also=server.program.tail)
        for kind, (_, _, path) in kinds.items():
            found: Any = posted[f"/{kind}"]
            for step in path:
                found = found[step]
            assert found.startswith("1 alert, 1 firing\n\nGpuLost\nWhere: cluster "), found
            shown = "&lt;!channel&gt;" if kind == "slack" else "<!channel>"
            assert f"cluster {shown}, node {{{{ .Alerts }}}} $1 .*\n" in found


def _define_defaults(file: Path) -> None:
    """What Slack's other fields are made of, where Debian's Alertmanager has no templates of its own."""
    if file.exists():
        fields = "title titlelink pretext text fallback callbackid username color footer iconemoji iconurl channel"
        file.write_text(
            "".join(f'{{{{ define "slack.default.{one}" }}}}{{{{ end }}}}' for one in fields.split()), "utf-8"
        )

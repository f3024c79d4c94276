"""The compiler's intermediate form: what will be written, decided to the last number, but not yet text."""

from typing import NamedTuple

from tocsin.catalog import Metric
from tocsin.factory import Channel
from tocsin.source import Span
from tocsin.units import Duration

NO_TIME = Duration(0)


# --- collection -------------------------------------------------------------------------------------------------------


class Relabel(NamedTuple):
    """One relabelling step; `source` labels joined by `;` are matched by `regex`. An empty `target` drops or keeps."""

    action: str = "replace"
    source: tuple[str, ...] = ()
    regex: str = ""
    target: str = ""
    replacement: str = "$1"


class Target(NamedTuple):
    """One endpoint and the labels that its series will carry."""

    address: str
    labels: tuple[tuple[str, str], ...]


class ScrapeJob(NamedTuple):
    """One job of a server. `targets_file` holds its targets; empty where they stand in the configuration itself.

    A scrape may take `timeout`, or the interval where that is shorter.
    """

    name: str
    interval: Duration
    targets: tuple[Target, ...]
    targets_file: str
    relabel: tuple[Relabel, ...]
    origin: Span
    timeout: Duration = Duration.of(seconds=10)  # Prometheus' default


class Server(NamedTuple):
    """One Prometheus: its file, its identity, its jobs and whom it tells. Paths are relative to the output folder."""

    path: str
    interval: Duration
    external_labels: tuple[tuple[str, str], ...]
    rule_files: tuple[str, ...]
    alertmanagers: tuple[str, ...]
    jobs: tuple[ScrapeJob, ...]
    origin: Span


class CounterFile(NamedTuple):
    """The dcgm-exporter fields of a node group, to be refreshed every `interval`."""

    path: str
    metrics: tuple[Metric, ...]
    interval: Duration
    origin: Span


# --- rules and their tests --------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """A recording rule."""

    name: str
    expr: str
    labels: dict[str, str]
    origin: Span


class Alert(NamedTuple):
    """An alerting rule; its expression must hold for `hold` before it fires."""

    name: str
    expr: str
    hold: Duration
    labels: dict[str, str]
    annotations: dict[str, str]
    origin: Span


class Firing(NamedTuple):
    """One alert as it must fire: all its labels but the name, and its annotations as rendered."""

    labels: dict[str, str]
    annotations: dict[str, str]


class Expectation(NamedTuple):
    """At `at`, the alert fires exactly so often."""

    at: Duration
    alert: str
    firing: tuple[Firing, ...]


class RuleTest(NamedTuple):
    """A promtool unit test: series in promtool's notation, one sample an `interval`, and what must hold when."""

    name: str
    interval: Duration
    series: tuple[tuple[str, str], ...]
    expectations: tuple[Expectation, ...]
    origin: Span


class RuleGroup(NamedTuple):
    """Rules that are evaluated in their order, with their proof; a chain of records and alerts lives in one group."""

    name: str
    rules: tuple[Record | Alert, ...]
    tests: tuple[RuleTest, ...]


class RuleFile(NamedTuple):
    """One file of rules and the file of tests that proves every alert of it."""

    name: str
    groups: tuple[RuleGroup, ...]

    @property
    def path(self) -> str:
        """Where the rules go."""
        return f"rules/{self.name}.yml"

    @property
    def test_path(self) -> str:
        """Where the tests go."""
        return f"tests/{self.name}.yml"


# --- notifications ----------------------------------------------------------------------------------------------------


class Receiver(NamedTuple):
    """Who is told, through which channels, and whether also of the end; no channel is a receiver that stays silent."""

    name: str
    channels: tuple[Channel, ...]
    origin: Span
    tells_end: bool = True


class Route(NamedTuple):
    """A node of the routing tree. Empty timings and groupings are the parent's."""

    receiver: str
    origin: Span
    matchers: tuple[tuple[str, str], ...] = ()
    group_by: tuple[str, ...] = ()
    wait: Duration | None = None
    interval: Duration | None = None
    repeat: Duration | None = None
    children: tuple["Route", ...] = ()


class RouteTest(NamedTuple):
    """An alert with these labels reaches this receiver and no other."""

    labels: tuple[tuple[str, str], ...]
    receiver: str
    origin: Span


class Notifications(NamedTuple):
    """Alertmanager's side."""

    root: Route
    receivers: tuple[Receiver, ...]
    tests: tuple[RouteTest, ...]


# --- dashboards -------------------------------------------------------------------------------------------------------


class Query(NamedTuple):
    """One PromQL query of a panel and how its series are named."""

    expr: str
    legend: str
    instant: bool = False


class Step(NamedTuple):
    """From `value` upwards the colour is `color`; None is the base."""

    value: float | None
    color: str


class Panel(NamedTuple):
    """One panel: `kind` is stat, timeseries or table; `width` in 24ths of the page, `height` in Grafana's rows."""

    kind: str
    title: str
    description: str = ""
    queries: tuple[Query, ...] = ()
    unit: str = "none"
    width: int = 12
    height: int = 8
    steps: tuple[Step, ...] = ()
    minimum: float | None = None
    maximum: float | None = None


class Variable(NamedTuple):
    """A dashboard variable filled by a label's values of a metric."""

    name: str
    label: str
    query: str


class Dashboard(NamedTuple):
    """One dashboard, its panels in reading order."""

    uid: str
    name: str
    folder: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]
    refresh: Duration
    origin: Span


# --- all --------------------------------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """Everything that will be written for one factory."""

    factory: str
    servers: tuple[Server, ...]
    rules: tuple[RuleFile, ...]
    notifications: Notifications
    dashboards: tuple[Dashboard, ...]
    datasource_url: str
    counter_files: tuple[CounterFile, ...]

"""The compiler's intermediate form: what will be written, decided to the last number, but not yet text."""

from typing import Any, NamedTuple

from tocsin.capacity import Loads, Size, TierLoad
from tocsin.catalog import Metric
from tocsin.factory import Channel
from tocsin.routes import Inhibition, Route, TimeInterval
from tocsin.source import Span
from tocsin.units import Duration

NO_TIME = Duration(0)


# --- collection -------------------------------------------------------------------------------------------------------


class Relabel(NamedTuple):
    """One relabelling step; `source` labels joined by `;` are matched by `regex`. An empty `target` drops or keeps.

    With a `modulus` their hash goes to the target, modulo that.
    """

    action: str = "replace"
    source: tuple[str, ...] = ()
    regex: str = ""
    target: str = ""
    replacement: str = "$1"
    modulus: int = 0


class Target(NamedTuple):
    """One endpoint and the labels that its series will carry."""

    address: str
    labels: tuple[tuple[str, str], ...]


class Limits(NamedTuple):
    """Of a job: samples of a scrape, `body` MiB of its page, targets, and of a series its labels and their lengths."""

    samples: int
    body: int
    targets: int
    labels: int
    name_length: int
    value_length: int


class Discovery(NamedTuple):
    """Who tells a job's targets: `kind` is kubernetes, consul, dns or http, `settings` are Prometheus' own fields."""

    kind: str
    settings: dict[str, object]


class ScrapeJob(NamedTuple):
    """One job of a server. `targets_file` holds its targets; empty where they stand in the configuration itself.

    Where there is a `discovery` it tells the targets, and `target_relabel` makes them what ours would be; `targets` are
    those that the spec expects, as far as it knows, and stand nowhere. `watched` is the absolute pattern of target
    files that somebody else writes and removes. `select` leaves the targets that are this server's. With `matches` the
    targets are servers, which are asked for the series of these names. A scrape may take `timeout`, or the interval
    where that is shorter. `histograms` are the settings by which it is asked for native ones, each true.
    """

    name: str
    interval: Duration
    targets: tuple[Target, ...]
    targets_file: str
    relabel: tuple[Relabel, ...]
    origin: Span
    limits: Limits | None = None
    discovery: Discovery | None = None
    target_relabel: tuple[Relabel, ...] = ()
    watched: str = ""
    select: tuple[Relabel, ...] = ()
    matches: tuple[str, ...] = ()
    timeout: Duration = Duration.of(seconds=10)  # Prometheus' default
    histograms: tuple[str, ...] = ()

    @property
    def scrape_timeout(self) -> Duration:
        """How long a scrape may take: Prometheus refuses a timeout above the interval."""
        return min(self.interval, self.timeout)


class RemoteWrite(NamedTuple):
    """A store that a server writes to, and which series. Empty credentials and a queue limit of None are left out.

    `native` is whether native histograms are among them.
    """

    name: str
    url: str
    tenant: str
    token_file: str
    username: str
    password_file: str
    max_shards: int | None
    max_age: Duration | None
    relabel: tuple[Relabel, ...]
    origin: Span
    native: bool = False


class Kept(NamedTuple):
    """How long, and up to which size, a server keeps what it has; an empty `size` is no limit."""

    time: Duration
    size: str


class Server(NamedTuple):
    """One Prometheus: its file, its identity, its jobs and whom it tells. Paths are relative to the output folder.

    `silent_labels` are those external labels that no alert carries, so that those of two servers are one. `size` is
    what it is predicted to hold. `kept` is what its file says of retention: nothing where flags say it.
    """

    path: str
    interval: Duration
    external_labels: tuple[tuple[str, str], ...]
    rule_files: tuple[str, ...]
    alertmanagers: tuple[str, ...]
    jobs: tuple[ScrapeJob, ...]
    origin: Span
    silent_labels: tuple[str, ...]
    size: Size
    remote_writes: tuple[RemoteWrite, ...] = ()
    kept: Kept | None = None


class CounterFile(NamedTuple):
    """The dcgm-exporter fields of a node group, to be refreshed every `interval`; `flags` are further start flags."""

    path: str
    metrics: tuple[Metric, ...]
    interval: Duration
    origin: Span
    flags: tuple[str, ...] = ()


class JobHooks(NamedTuple):
    """What a cluster's scheduler runs where a job starts and ends on a node.

    The scripts keep the node a target of `port` in the folder `targets`, and its jobs in the folder `jobs`.
    """

    cluster: str
    port: int
    targets: str
    jobs: str
    origin: Span


class Row(NamedTuple):
    """What some part of the load comes to; `memory` and `disk` in bytes, `written` in bytes per second."""

    names: tuple[str, ...]
    size: Size
    memory: int
    disk: int
    written: int


class TierRow(NamedTuple):
    """A retention tier: how long it keeps what, and what that comes to."""

    name: str
    keep: Duration
    resolution: str
    load: TierLoad


class Sizes(NamedTuple):
    """The load by job of each cluster, by owner, by server, and by tier; of two replicas one is counted.

    `loads` are the samples that the rules of SLOs load.
    """

    jobs: tuple[Row, ...]
    owners: tuple[Row, ...]
    servers: tuple[Row, ...]
    tiers: tuple[TierRow, ...]
    total: Row
    retention: Duration
    origin: Span
    loads: tuple[Loads, ...] = ()


class ArgumentFile(NamedTuple):
    """Arguments that a program is started with, beside those of its place (paths, addresses)."""

    path: str
    note: str
    arguments: tuple[str, ...]
    origin: Span


class SettingsFile(NamedTuple):
    """Settings of a program: `settings` is a tree of mappings, lists, texts, numbers and truth values."""

    path: str
    note: str
    settings: object
    origin: Span


# --- rules and their tests --------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """A recording rule."""

    name: str
    expr: str
    labels: dict[str, str]
    origin: Span


class Alert(NamedTuple):
    """An alerting rule; its expression must hold for `hold` before it fires, and it fires on for `keep` after."""

    name: str
    expr: str
    hold: Duration
    labels: dict[str, str]
    annotations: dict[str, str]
    origin: Span
    keep: Duration = NO_TIME


class Firing(NamedTuple):
    """One alert as it must fire: all its labels but the name, and its annotations as rendered."""

    labels: dict[str, str]
    annotations: dict[str, str]


class Expectation(NamedTuple):
    """At `at`, the alert fires exactly so often."""

    at: Duration
    alert: str
    firing: tuple[Firing, ...]


class Reading(NamedTuple):
    """At `at`, an expression has exactly these samples, each the series' name with its labels and the value."""

    at: Duration
    expr: str
    samples: tuple[tuple[str, str], ...]


class RuleTest(NamedTuple):
    """A promtool unit test: series in promtool's notation, one sample an `interval`, and what must hold when.

    Rules are evaluated every `pace`, which is the interval where it is not said. What is proven `once` holds in all
    files of the same groups, whatever stands for the blanks: the first of them has the test.
    """

    name: str
    interval: Duration
    series: tuple[tuple[str, str], ...]
    expectations: tuple[Expectation, ...]
    origin: Span
    readings: tuple[Reading, ...] = ()
    pace: Duration | None = None
    once: bool = False


class RuleGroup(NamedTuple):
    """Rules that are evaluated in their order, with their proof; a chain of records and alerts lives in one group.

    They are evaluated every `interval`, or as often as all others.
    """

    name: str
    rules: tuple[Record | Alert, ...]
    tests: tuple[RuleTest, ...]
    interval: Duration | None = None


class RuleFile(NamedTuple):
    """One file of rules and the file of tests that proves every alert of it.

    The rules of a file that is `per_node` look at one node at a time: they hold on a shard, which has some nodes whole.
    Files that differ in some texts only have the same groups, with blanks: `blanks` says what stands for what in this
    one, which comes from `origin`. Blanks and what stands for them are such that they need the same quotes in YAML.
    `beside` are files whose records its tests need, each with one group of its name.
    Those of one that is `everywhere` look at the server itself.
    """

    name: str
    groups: tuple[RuleGroup, ...]
    per_node: bool = False
    blanks: tuple[tuple[str, str], ...] = ()
    origin: Span | None = None

    def filled(self, text: str) -> str:
        """A text of the groups without blanks."""
        for blank, value in self.blanks:
            text = text.replace(blank, value)
        return text

    beside: tuple[str, ...] = ()
    everywhere: bool = False

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


class RouteTest(NamedTuple):
    """An alert with these labels reaches these receivers, in this order, and no other."""

    labels: tuple[tuple[str, str], ...]
    receivers: tuple[str, ...]
    origin: Span


class Sample(NamedTuple):
    """An alert as it comes to Alertmanager, for all that differ from it in the values of labels only."""

    labels: dict[str, str]
    origin: Span


class Member(NamedTuple):
    """One Alertmanager of several that are one: its name as a file, and the flags by which it finds the others."""

    name: str
    flags: tuple[str, ...]
    origin: Span


class Notifications(NamedTuple):
    """Alertmanager's side. `samples` are the alerts that there are, by which routes and inhibitions are judged."""

    root: Route
    receivers: tuple[Receiver, ...]
    tests: tuple[RouteTest, ...]
    members: tuple[Member, ...]
    intervals: tuple[TimeInterval, ...] = ()
    inhibitions: tuple[Inhibition, ...] = ()
    samples: tuple[Sample, ...] = ()


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


class Column(NamedTuple):
    """A column of a table: a label, or `Value #A` for the values of the first query, `#B` for the second's."""

    name: str
    heading: str


class Link(NamedTuple):
    """A way from a series to another dashboard: its variables by name, with the label that each takes its value from.

    The time range goes along.
    """

    title: str
    uid: str
    variables: tuple[tuple[str, str], ...]


class Meaning(NamedTuple):
    """What a value is called where it is a state."""

    value: str
    text: str
    color: str


class Panel(NamedTuple):
    """One panel: `width` in 24ths of the page, `height` in Grafana's rows.

    `kind` is stat, gauge, bargauge, timeseries, table, heatmap, status-history or state-timeline. A table has
    `columns`, and the rows of several queries are one where the label `joined` is the same; all its numbers have the
    one unit. A heatmap has a query for each of its rows, or the buckets of a histogram. `band` are the legends of two
    lines, the upper and the lower one, between which a graph is filled.
    """

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
    columns: tuple[Column, ...] = ()
    joined: str = ""
    links: tuple[Link, ...] = ()
    meanings: tuple[Meaning, ...] = ()
    band: tuple[str, str] | None = None


class Variable(NamedTuple):
    """A dashboard variable filled by a label's values of a metric."""

    name: str
    label: str
    query: str


class Dashboard(NamedTuple):
    """One dashboard, its panels in reading order; it opens with what was within `range`.

    `tags` are what others find it by, `runbooks` the pages of those who own what it shows, by owner. The alerts that
    are marked on its graphs are those with the labels that `marked` matches.
    """

    uid: str
    name: str
    folder: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]
    refresh: Duration
    range: Duration
    origin: Span
    tags: tuple[str, ...] = ()
    runbooks: tuple[tuple[str, str], ...] = ()
    marked: str = 'cluster=~"$cluster"'


class Page(NamedTuple):
    """A dashboard that a team or a mixin brings: `model` is all of it, as Grafana reads it."""

    name: str
    folder: str
    model: dict[str, Any]
    origin: Span


# --- all --------------------------------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """Everything that will be written for one factory. `first_steps` are what to do about its own alerts, by name."""

    factory: str
    servers: tuple[Server, ...]
    rules: tuple[RuleFile, ...]
    notifications: Notifications
    dashboards: tuple[Dashboard, ...]
    datasource_url: str
    counter_files: tuple[CounterFile, ...]
    sizes: Sizes
    arguments: tuple[ArgumentFile, ...] = ()
    settings: tuple[SettingsFile, ...] = ()
    job_hooks: tuple[JobHooks, ...] = ()
    pages: tuple[Page, ...] = ()
    first_steps: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def tests(self) -> int:
        """How many unit tests of rules are written."""
        forms: set[int] = set()
        count = 0
        for file in self.rules:
            is_first = id(file.groups) not in forms
            forms.add(id(file.groups))
            count += sum(is_first or not test.once for group in file.groups for test in group.tests)
        return count

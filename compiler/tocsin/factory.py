"""The spec, resolved: every name found, every default filled in, immutable, in the order of the names."""

from collections.abc import Collection
from fractions import Fraction
from typing import Any, NamedTuple

from tocsin.burn import Pair, Windows
from tocsin.catalog import DEEP_JOB, ExporterKind, GpuModel, Metric, XidClass
from tocsin.discovery import Source
from tocsin.hours import Window
from tocsin.indicators import Indicator
from tocsin.pattern import matches
from tocsin.promql import Expr
from tocsin.source import Span
from tocsin.units import Duration
from tocsin.versions import Version

DASHBOARD_RANGE = Duration.of(hours=6)  # how far back a dashboard looks when it is opened: most of a shift
LAYERS = ("silicon", "fabric", "runtime", "application", "facility")


Setting = str | int | bool | dict[str, "Setting"]


class Channel(NamedTuple):
    """One integration of a receiver: `kind` as in the spec, `settings` Alertmanager's fields, secrets as files."""

    kind: str
    settings: dict[str, Setting]


class Step(NamedTuple):
    """Pages that still fire `after` so long are told to the owner `to` as well."""

    after: Duration
    to: str
    origin: Span


class Owner(NamedTuple):
    """A team and how it is reached; `runbooks` ends in a slash. No `hours` are all hours, for its tickets."""

    name: str
    page: tuple[Channel, ...]
    ticket: tuple[Channel, ...]
    runbooks: str
    origin: Span
    hours: tuple[Window, ...] = ()
    escalation: tuple[Step, ...] = ()


class Maintenance(NamedTuple):
    """In these windows the owners are not told what `mutes` says: page, ticket, or both."""

    name: str
    windows: tuple[Window, ...]
    owners: tuple[str, ...]
    mutes: tuple[str, ...]
    origin: Span


class Label(NamedTuple):
    """A label of the schema; `values` is a closed list, `pattern` an anchored regular expression, both may be None.

    `max_values` is how many values it may have at a time, None where that is not bounded.
    """

    name: str
    values: Collection[str] | None
    pattern: str | None
    origin: Span
    max_values: int | None = None

    def allows(self, value: str) -> bool:
        """Whether a value lies in the label's domain; a label without one allows all."""
        if self.values is not None:
            return value in self.values
        return self.pattern is None or matches(self.pattern, value)


class Signal(NamedTuple):
    """A signal that this factory collects, with its one owner."""

    id: str
    layer: str
    owner: str
    meaning: str
    metrics: tuple[Metric, ...]
    mandatory: bool
    label: str
    origin: Span


class NodeGroup(NamedTuple):
    """Nodes of one kind. `port_speed` is bytes per second of each fabric port, None where it is not stated.

    `devices` are the adapters that belong to the fabric; none named means all that the exporter shows. A board whose
    `sharing` is mig has `shares` instances; where it is time_slicing, so many pods take turns on it.
    """

    name: str
    hosts: tuple[str, ...]
    gpu: GpuModel
    gpus: int
    fabric: str
    devices: tuple[str, ...]
    port_speed: Fraction | None
    origin: Span
    sharing: str = "none"
    shares: int = 1


class Job(NamedTuple):
    """An application's endpoints, scraped every `interval`; no hosts and port 0 where the discovery tells them."""

    name: str
    workload: str
    hosts: tuple[str, ...]
    port: int
    tenant: str
    interval: Duration
    origin: Span


class Exporter(NamedTuple):
    """An exporter of a cluster, scraped every `interval`.

    It listens at `port` of every node, or at `addresses`; `hosts` are those that a proxy is asked for.
    """

    kind: ExporterKind
    flavour: str
    port: int
    addresses: tuple[str, ...]
    hosts: tuple[str, ...]
    interval: Duration
    origin: Span


class Cluster(NamedTuple):
    """A cluster and everything in it that is scraped; `ports` of the exporters on its nodes, by their jobs.

    `discovery` is static, file or the kind of `source`, which is None where the targets are the spec's own hosts.
    `scheduler` is slurm or kubernetes; there the first of `job_labels` that a pod has names its job.
    """

    name: str
    region: str
    discovery: str
    source: Source | None
    ports: dict[str, int]
    groups: tuple[NodeGroup, ...]
    jobs: tuple[Job, ...]
    origin: Span
    exporters: tuple[Exporter, ...] = ()
    cooling: str = "air"
    scheduler: str = "slurm"
    job_labels: tuple[str, ...] = ()

    @property
    def nodes(self) -> int:
        """How many nodes its groups list."""
        return len({host for group in self.groups for host in group.hosts})

    @property
    def on_pods(self) -> bool:
        """Whether pods do its work, rather than jobs that a scheduler puts on its nodes itself."""
        return self.scheduler == "kubernetes"


def paces(clusters: Collection[Cluster], exporter: str, default: Duration) -> list[Duration]:
    """How often each cluster scrapes what an exporter or a job shows; `default` is that of the nodes' exporters."""
    found = []
    for cluster in clusters:
        found += [job.interval for job in cluster.jobs if job.name == exporter]
        found += [one.interval for one in cluster.exporters if one.kind.job == exporter]
        found += [default] if exporter in cluster.ports else []
    return found


class Deep(NamedTuple):
    """Signals that are scraped only where a job is active, every `interval`, from an exporter of their own.

    `refresh` is how often that exporter reads its boards. `targets` is a folder that Prometheus and the nodes of Slurm
    share, `jobs` the folder of dcgm-exporter's job mapping on each of these. `signals` by id, with the place that asks
    for each.
    """

    signals: dict[str, Span]
    interval: Duration
    refresh: Duration
    port: int
    targets: str
    jobs: str
    origin: Span


class Slo(NamedTuple):
    """An objective over what its indicator counts; `kind` is the indicator's key in the spec.

    `objective` is the share of good events, `expected` events per second, `least` the events that a long window must
    have to be judged, `idle` what no events are: good, bad, or to be ignored. `pairs` are its burn-rate alerts, which
    look at its `windows`.
    """

    id: str
    owner: str
    layer: str
    objective: Fraction
    period: Duration
    by: tuple[str, ...]
    kind: str
    indicator: Indicator
    pairs: tuple[Pair, ...]
    windows: Windows
    expected: Fraction | None
    least: Fraction
    idle: str
    origin: Span

    @property
    def budget(self) -> Fraction:
        """The share of events that may be bad."""
        return 1 - self.objective


class OwnRecord(NamedTuple):
    """A recording rule of the spec, or of a mixin that it names.

    `on_nodes` is whether it reads what exporters on the nodes show, `elsewhere` whether what others do.
    """

    name: str
    owner: str
    layer: str
    text: str
    expr: Expr
    on_nodes: bool
    elsewhere: bool
    origin: Span
    labels: dict[str, str]


class OwnFiring(NamedTuple):
    """An alert that must fire: the labels and the value of its expression."""

    labels: dict[str, str]
    value: Fraction


class OwnTest(NamedTuple):
    """A world and what an alert must do in it: series in promtool's notation, then what fires at which time."""

    story: str
    interval: Duration
    series: tuple[tuple[str, str], ...]
    expectations: tuple[tuple[Duration, tuple[OwnFiring, ...]], ...]


class OwnAlert(NamedTuple):
    """An alerting rule of the spec or of a mixin; `signal` is empty where it is about none.

    `keep` is for how long it fires on, `labels` and `annotations` are what a mixin has beside ours. The rest is as of a
    record.
    """

    name: str
    owner: str
    layer: str
    signal: str
    severity: str
    text: str
    expr: Expr
    hold: Duration
    summary: str
    description: str
    tests: tuple[OwnTest, ...]
    on_nodes: bool
    elsewhere: bool
    origin: Span
    keep: Duration
    labels: dict[str, str]
    annotations: dict[str, str]


class OwnGroup(NamedTuple):
    """Rules of a mixin that are evaluated in their order, every `interval` or as often as all others."""

    name: str
    interval: Duration | None
    rules: tuple[OwnRecord | OwnAlert, ...]


class Mixin(NamedTuple):
    """Rules that others wrote, with our owners, layers and severities."""

    name: str
    groups: tuple[OwnGroup, ...]
    origin: Span


class OwnDashboard(NamedTuple):
    """A dashboard that a team or a mixin brings, as JSON that Grafana takes; `source` is the file that it stands in.

    `name` is that of its file and its uid, `mixin` the mixin that it is of, empty where it is a team's own.
    """

    name: str
    owner: str
    folder: str
    source: str
    mixin: str
    model: dict[str, Any]
    origin: Span


class Tenant(NamedTuple):
    """A tenant, its accounts at the scheduler, and its namespaces of Kubernetes.

    It is told of what names it through `page` and `ticket`, where it has them: beside the owner or `instead` of it.
    """

    name: str
    accounts: tuple[str, ...]
    namespaces: tuple[str, ...]
    origin: Span
    page: tuple[Channel, ...] = ()
    ticket: tuple[Channel, ...] = ()
    instead: bool = False


class Servers(NamedTuple):
    """How each cluster's load is spread. `shards` is None where it follows from `max_series`.

    `levels` are the levels of federation above the clusters; `address` has `{server}` and `{cluster}` in it.
    """

    shards: int | None
    max_series: Fraction | None
    replicas: int
    levels: tuple[str, ...]
    address: str
    origin: Span


class Targets(NamedTuple):
    """The versions that the output must run on; `long_term` is the kind of store, empty where there is none."""

    prometheus: Version
    alertmanager: Version
    grafana: Version
    dcgm_exporter: Version
    long_term: str = ""


class Alerting(NamedTuple):
    """`heartbeat` is told every `every` that alerting is alive; `fallback` owns what no rule of ours raised."""

    alertmanagers: tuple[str, ...]
    fallback: str
    heartbeat: Channel
    every: Duration
    origin: Span


class Store(NamedTuple):
    """Where a tier's series are written to. Credentials are files; `max_shards` and `max_age` limit the queue."""

    url: str
    tenant: str
    enterprise: bool
    token_file: str
    username: str
    password_file: str
    max_shards: int | None
    max_age: Duration | None


class Tier(NamedTuple):
    """A retention tier. `series` is all, recorded, signals or restricted; `metrics` the series names of the last two.

    Without a `store` it is what the servers themselves keep, or what a Thanos sidecar uploads of it.
    """

    name: str
    resolution: str
    keep: Duration
    size: str
    series: str
    metrics: tuple[str, ...]
    store: Store | None
    origin: Span


def is_local(tier: Tier) -> bool:
    """Whether a Prometheus can keep the tier on its own disk: all that it scrapes, as it scrapes it."""
    return tier.resolution == "full" and tier.series == "all" and tier.store is None


class Logs(NamedTuple):
    """How long Loki keeps lines: all of them, and those of the selector."""

    keep: Duration
    errors: Duration
    selector: str
    object_store: str
    origin: Span


class Retention(NamedTuple):
    """`hot` is what the scraping servers keep, `tiers` what is kept beyond, by length; `restricted` names series."""

    hot: Tier
    tiers: tuple[Tier, ...]
    restricted: tuple[str, ...]
    logs: Logs | None

    def of_recorded(self, period: Duration) -> Tier | None:
        """The first tier that holds the recorded series for a period."""
        holding = (tier for tier in (self.hot, *self.tiers) if tier.series in ("all", "recorded"))
        return next((tier for tier in holding if tier.keep >= period), None)


class Factory(NamedTuple):
    """Everything the compiler knows of one AI factory."""

    name: str
    targets: Targets
    owners: dict[str, Owner]
    layers: dict[str, str]
    labels: dict[str, Label]
    clusters: dict[str, Cluster]
    interval: Duration
    on_violation: str
    servers: Servers
    other_series: dict[str, int]
    entities: dict[str, int]
    signals: dict[str, Signal]
    slos: dict[str, Slo]
    tenants: dict[str, Tenant]
    alerting: Alerting
    grafana_url: str
    datasource_url: str
    origin: Span
    metrics: dict[str, Metric]
    retention: Retention
    refresh: Duration
    deep: Deep | None
    maintenance: dict[str, Maintenance]

    @property
    def on_pods(self) -> bool:
        """Whether some cluster's work is done by pods."""
        return any(cluster.on_pods for cluster in self.clusters.values())

    @property
    def of_pods(self) -> frozenset[str]:
        """The jobs whose series name a pod: those of boards that pods work on, and of pods that are found as such."""
        found = {
            job.name
            for cluster in self.clusters.values()
            if cluster.on_pods and cluster.discovery == "kubernetes"
            for job in cluster.jobs
        }
        return frozenset(found | ({"dcgm", DEEP_JOB} if self.on_pods else set()))

    @property
    def has_instances(self) -> bool:
        """Whether some boards are split into MIG instances."""
        return any(group.sharing == "mig" for cluster in self.clusters.values() for group in cluster.groups)

    records: dict[str, OwnRecord]
    alerts: dict[str, OwnAlert]
    # Of alerts, by id, in base units; none of those that are off.
    limits: dict[str, Fraction]
    xid_classes: tuple[XidClass, ...]
    mixins: dict[str, Mixin]
    dashboards: tuple[OwnDashboard, ...]

    @property
    def own_records(self) -> tuple[OwnRecord, ...]:
        """The recording rules of the spec and of its mixins, each behind those that it reads, as far as it can be."""
        rules = (rule for mixin in self.mixins.values() for group in mixin.groups for rule in group.rules)
        return (*self.records.values(), *(rule for rule in rules if isinstance(rule, OwnRecord)))

    def owner_of(self, layer: str) -> str:
        """The owner of a layer."""
        return self.layers[layer]

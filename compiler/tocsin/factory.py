"""The spec, resolved: every name found, every default filled in, immutable, in the order of the names."""

from collections.abc import Collection
from fractions import Fraction
from typing import NamedTuple

from tocsin.catalog import ExporterKind, GpuModel, Metric
from tocsin.pattern import matches
from tocsin.promql import Selector
from tocsin.source import Span
from tocsin.units import Duration
from tocsin.versions import Version

LAYERS = ("silicon", "fabric", "runtime", "application", "facility")


class Channel(NamedTuple):
    """One integration of a receiver: `kind` is pagerduty, slack or webhook, `settings` its fields, secrets as files."""

    kind: str
    settings: dict[str, str]


class Owner(NamedTuple):
    """A team and how it is reached; `runbooks` ends in a slash."""

    name: str
    page: tuple[Channel, ...]
    ticket: tuple[Channel, ...]
    runbooks: str
    origin: Span


class Label(NamedTuple):
    """A label of the schema; `values` is a closed list, `pattern` an anchored regular expression, both may be None."""

    name: str
    values: Collection[str] | None
    pattern: str | None
    origin: Span

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

    `devices` are the adapters that belong to the fabric; none named means all that the exporter shows.
    """

    name: str
    hosts: tuple[str, ...]
    gpu: GpuModel
    gpus: int
    fabric: str
    devices: tuple[str, ...]
    port_speed: Fraction | None
    origin: Span


class Job(NamedTuple):
    """An application's endpoints, scraped every `interval`."""

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
    """A cluster and everything in it that is scraped; `ports` of the exporters on its nodes, by their jobs."""

    name: str
    region: str
    discovery: str
    ports: dict[str, int]
    groups: tuple[NodeGroup, ...]
    jobs: tuple[Job, ...]
    origin: Span
    exporters: tuple[Exporter, ...] = ()
    cooling: str = "air"


class Slo(NamedTuple):
    """An objective over a ratio of events. Exactly one of `bad` and `good` is given.

    `objective` is the share of good events, `expected` events per second, `min_events` a count in a long window.
    """

    id: str
    owner: str
    layer: str
    objective: Fraction
    period: Duration
    by: tuple[str, ...]
    bad: Selector | None
    good: Selector | None
    total: Selector
    expected: Fraction | None
    min_events: Fraction | None
    origin: Span

    @property
    def budget(self) -> Fraction:
        """The share of events that may be bad."""
        return 1 - self.objective


class Tenant(NamedTuple):
    """A tenant and its accounts at the scheduler."""

    name: str
    accounts: tuple[str, ...]
    origin: Span


class Targets(NamedTuple):
    """The versions that the output must run on."""

    prometheus: Version
    alertmanager: Version
    grafana: Version
    dcgm_exporter: Version


class Alerting(NamedTuple):
    """`heartbeat` is told every `every` that alerting is alive; `fallback` owns what no rule of ours raised."""

    alertmanagers: tuple[str, ...]
    fallback: str
    heartbeat: Channel
    every: Duration
    origin: Span


class Factory(NamedTuple):
    """Everything the compiler knows of one AI factory."""

    name: str
    targets: Targets
    owners: dict[str, Owner]
    layers: dict[str, str]
    labels: dict[str, Label]
    clusters: dict[str, Cluster]
    interval: Duration
    signals: dict[str, Signal]
    slos: dict[str, Slo]
    tenants: dict[str, Tenant]
    alerting: Alerting
    grafana_url: str
    datasource_url: str
    origin: Span
    metrics: dict[str, Metric]

    def owner_of(self, layer: str) -> str:
        """The owner of a layer."""
        return self.layers[layer]

"""The spec, resolved: every name found, every default filled in, immutable, in the order of the names."""

from fractions import Fraction
from typing import NamedTuple

from tocsin.catalog import DEEP_JOB
from tocsin.catalog.kinds import Metric, XidClass
from tocsin.factory.clusters import Cluster
from tocsin.factory.owners import Alerting, Maintenance, Owner, Tenant
from tocsin.factory.retention import Retention
from tocsin.factory.rules import Mixin, OwnAlert, OwnDashboard, OwnRecord
from tocsin.factory.servers import Servers, Targets
from tocsin.factory.signals import Deep, Label, Signal
from tocsin.factory.slos import Slo
from tocsin.source import Span
from tocsin.units import Duration

DASHBOARD_RANGE = Duration.of(hours=6)  # how far back a dashboard looks when it is opened: most of a shift


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
    records: dict[str, OwnRecord]
    alerts: dict[str, OwnAlert]
    # Of alerts, by id, in base units; none of those that are off.
    limits: dict[str, Fraction]
    xid_classes: tuple[XidClass, ...]
    mixins: dict[str, Mixin]
    dashboards: tuple[OwnDashboard, ...]

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

    @property
    def own_records(self) -> tuple[OwnRecord, ...]:
        """The recording rules of the spec and of its mixins, each behind those that it reads, as far as it can be."""
        return (*self.records.values(), *(record for mixin in self.mixins.values() for record in mixin.records))

    def owner_of(self, layer: str) -> str:
        """The owner of a layer."""
        return self.layers[layer]

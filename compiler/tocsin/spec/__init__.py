"""The language, as written: one model a section. References are still names, defaults are filled in later."""

from typing import Literal

from pydantic import Field

from tocsin.spec.alerting import Alerting
from tocsin.spec.clusters import Cluster
from tocsin.spec.collection import Collection
from tocsin.spec.grafana import Grafana
from tocsin.spec.labels import LabelRule
from tocsin.spec.limits import Xid
from tocsin.spec.maintenance import Maintenance
from tocsin.spec.mixins import Mixin, OwnDashboard
from tocsin.spec.owners import Owner
from tocsin.spec.retention import Logs, Tier
from tocsin.spec.rules import AlertName, AlertRule, RecordName, RecordRule
from tocsin.spec.scalars import LabelName, Measure, Name, Section, SignalId, Text
from tocsin.spec.signals import Layer, Signals
from tocsin.spec.slos import Slo
from tocsin.spec.targets import Targets
from tocsin.spec.tenants import Tenant


class Spec(Section):
    """The root of the language."""

    version: Literal[1]
    factory: Name
    include: list[Text] = Field(default=[])
    targets: Targets
    owners: dict[Name, Owner]
    layers: dict[Layer, Name]
    labels: dict[LabelName, LabelRule]
    clusters: dict[Name, Cluster]
    collection: Collection = Collection.model_construct()
    retention: dict[Name, Tier] = Field(default={}, min_length=1)
    logs: Logs | None = None
    signals: Signals
    limits: dict[SignalId, Measure] = Field(default={})
    xid: Xid = Xid.model_construct()
    slos: dict[Name, Slo] = Field(default={})
    alerts: dict[AlertName, AlertRule] = Field(default={})
    records: dict[RecordName, RecordRule] = Field(default={})
    tenants: dict[Name, Tenant] = Field(default={})
    maintenance: dict[Name, Maintenance] = Field(default={})
    mixins: dict[Name, Mixin] = Field(default={})
    dashboards: dict[Name, OwnDashboard] = Field(default={})
    alerting: Alerting
    grafana: Grafana


SHARED = (
    "owners",
    "clusters",
    "signals",
    "slos",
    "tenants",
    "maintenance",
    "alerts",
    "records",
    "mixins",
    "dashboards",
)  # the sections that an included file may hold

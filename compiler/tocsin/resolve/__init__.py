"""Document in, factory out: names become things. What refers to nothing is told and left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.factory import Factory
from tocsin.factory.owners import Alerting
from tocsin.resolve.brought import resolve_brought
from tocsin.resolve.channels import webhook
from tocsin.resolve.clusters import resolve_clusters
from tocsin.resolve.deep import resolve_deep
from tocsin.resolve.labels import resolve_labels, resolve_tenants
from tocsin.resolve.limits import resolve_limits, resolve_xid
from tocsin.resolve.owners import known_owner, resolve_layers, resolve_maintenance, resolve_owners
from tocsin.resolve.retention import resolve_retention
from tocsin.resolve.rules import resolve_alerts, resolve_records
from tocsin.resolve.scheduler import require_jobs
from tocsin.resolve.servers import resolve_entities, resolve_other_series, resolve_servers
from tocsin.resolve.signals import Known, resolve_signals
from tocsin.resolve.slos import resolve_slos
from tocsin.resolve.targets import resolve_targets

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory.owners import Owner
    from tocsin.factory.servers import Targets


def resolve(document: Document, log: Log) -> Factory:
    """The factory that a document means. It is whole only where nothing was told; `check` copes with the rest."""
    spec, places = document.spec, document.places
    targets = resolve_targets(document, log)
    owners = resolve_owners(document, targets, log)
    layers = resolve_layers(document, owners, log)
    tenants = resolve_tenants(document, targets, log)
    labels = resolve_labels(document, tenants, log)
    deep = resolve_deep(document, log)
    clusters = resolve_clusters(document, tenants, deep, log)
    require_jobs(document, targets, log)
    known = Known(owners, layers, labels, clusters, targets, deep.signals if deep else {})
    signals = resolve_signals(document, known, log)
    slos = resolve_slos(document, owners, clusters, signals, log)
    records = resolve_records(document, known, signals, log)
    alerts = resolve_alerts(document, known, signals, records, log)
    mixins, dashboards = resolve_brought(document, known, signals, records, alerts, log)
    return Factory(
        name=spec.factory,
        targets=targets,
        owners=owners,
        layers=layers,
        labels=labels,
        clusters=clusters,
        interval=spec.collection.intervals.default,
        on_violation=spec.collection.on_violation,
        servers=resolve_servers(document, log),
        other_series=resolve_other_series(document, log),
        entities=resolve_entities(document, log),
        signals=signals,
        slos=slos,
        tenants=tenants,
        alerting=_alerting(document, owners, targets, log),
        grafana_url=spec.grafana.url.rstrip("/"),
        datasource_url=spec.grafana.datasource,
        origin=places.key("factory"),
        metrics={metric.name: metric for signal in signals.values() for metric in signal.metrics},
        retention=resolve_retention(document, targets, signals, slos, log),
        refresh=spec.collection.refresh or spec.collection.intervals.default,
        deep=deep,
        maintenance=resolve_maintenance(document, owners, log),
        records=records,
        alerts=alerts,
        limits=resolve_limits(document, signals, log),
        xid_classes=resolve_xid(document, log),
        mixins=mixins,
        dashboards=dashboards,
    )


def _alerting(document: Document, owners: dict[str, Owner], targets: Targets, log: Log) -> Alerting:
    alerting, places = document.spec.alerting, document.places
    known_owner(document, owners, alerting.fallback, ("alerting", "fallback"), log)
    return Alerting(
        alertmanagers=tuple(alerting.alertmanagers),
        fallback=alerting.fallback,
        heartbeat=webhook(alerting.heartbeat.webhook, document, ("alerting", "heartbeat", "webhook"), targets, log),
        every=alerting.heartbeat.every,
        origin=places.key("alerting"),
    )

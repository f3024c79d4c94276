"""Retention: tiers as written become tiers with the series names that they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.catalog import signal_kinds
from tocsin.diagnostics import near
from tocsin.factory.retention import Logs, Retention, Store, Tier, is_local
from tocsin.resolve.targets import require
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.catalog.kinds import Metric
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory.servers import Targets
    from tocsin.factory.signals import Signal
    from tocsin.factory.slos import Slo
    from tocsin.source import Span
    from tocsin.spec import retention as written

DEFAULT_KEEP = Duration.of(days=15)  # Prometheus' own default


def resolve_retention(
    document: Document, targets: Targets, signals: dict[str, Signal], slos: dict[str, Slo], log: Log
) -> Retention:
    """The tiers by their length, in whatever order they are written; without any, one that lasts for every SLO.

    The servers' own is the shortest of those that a Prometheus can keep; where none is, the shortest stands for it.
    """
    spec, places = document.spec, document.places
    metrics = [metric for signal in signals.values() for metric in signal.metrics]
    restricted = tuple(_series(metric for metric in metrics if metric.sensitivity == "restricted"))
    tiers = []
    for name, tier in spec.retention.items():
        chosen = tuple(_series(_chosen(document, name, tier.signals or [], signals, log)))
        store = _store(document, targets, name, tier.store, log) if tier.store else None
        metrics_of = restricted if tier.series == "restricted" else chosen
        tiers.append(_tier(tier, name, metrics_of, store, places.key("retention", name)))
    if not tiers:
        longest = max([DEFAULT_KEEP, *(slo.period for slo in slos.values())])
        tiers = [Tier("hot", "full", longest, "", "all", (), None, places.key("retention"))]
    logs = None
    if spec.logs is not None:
        said = spec.logs
        logs = Logs(said.keep, said.errors, said.selector, said.object_store, places.key("logs"))
    tiers.sort(key=lambda tier: (tier.keep, tier.name))
    hot = next(filter(is_local, tiers), tiers[0])
    return Retention(hot, tuple(tier for tier in tiers if tier is not hot), restricted, logs)


def _tier(tier: written.Tier, name: str, metrics: tuple[str, ...], store: Store | None, origin: Span) -> Tier:
    series = "signals" if tier.signals else tier.series or "all"
    return Tier(name, tier.resolution, tier.keep, tier.size or "", series, metrics, store, origin)


def _chosen(document: Document, name: str, wanted: list[str], signals: dict[str, Signal], log: Log) -> Iterable[Metric]:
    """The metrics of the signals that a tier names; one that is not collected is told."""
    found: list[Metric] = []
    for index, id_ in enumerate(wanted):
        if id_ in signals:
            found += signals[id_].metrics
        elif not document.is_broken("signals"):
            close = near(id_, signals)
            hint = f"did you mean '{close}'?" if close else "name one that is mandatory, defined or always collected"
            hint = "add it to `signals.mandatory`" if id_ in signal_kinds() else hint
            place = document.places.value("retention", name, "signals", index)
            log.error("RET108", f"the factory does not collect a signal called '{id_}'", place, hint)
    return found


def _series(metrics: Iterable[Metric]) -> list[str]:
    """The series names of metrics, sorted, each once."""
    return sorted({name for metric in metrics for name in metric.series})


def _store(document: Document, targets: Targets, tier: str, store: written.Store, log: Log) -> Store:
    if store.queue.max_age is not None:
        path = ("retention", tier, "store", "queue", "max_age")
        require("remote_write.sample_age_limit", targets, "`max_age` of a queue", document.places, path, log)
    basic = store.basic_auth
    return Store(
        url=store.url,
        tenant=store.tenant or "",
        enterprise=store.edition == "enterprise",
        token_file=store.bearer_token_file or "",
        username=basic.username if basic else "",
        password_file=basic.password_file if basic else "",
        max_shards=store.queue.max_shards,
        max_age=store.queue.max_age,
    )

"""Retention: what each store can do, and that nothing looks back further than what it reads is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.check.stores import check_stores
from tocsin.diagnostics import Related
from tocsin.factory import DASHBOARD_RANGE
from tocsin.factory.retention import is_local
from tocsin.promql import PromqlError, parse_selector
from tocsin.stores import LOKI_LEAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory
    from tocsin.factory.retention import Tier
    from tocsin.factory.slos import Slo
    from tocsin.units import Duration

_RANK = {"full": 0, "5m": 1, "1h": 2}


def check_retention(factory: Factory, document: Document, log: Log) -> None:
    """The tiers, then their stores, then what looks back on them."""
    if document.is_broken("retention") or document.is_broken("targets", "long_term"):
        return
    hot, tiers = factory.retention.hot, factory.retention.tiers
    if is_local(hot):
        _check_length(hot, tiers, document, log)
        check_stores(factory, document, log)
        _check_looks(factory, document, log)
        _check_dashboards(factory, document, log)
    else:
        what = "no tier is what Prometheus itself keeps: full resolution, all series, no store of its own"
        hint = "add one such as `hot: {resolution: full, keep: 7d}`"
        log.error("RET101", what, document.places.key("retention"), hint)
    for tier in factory.retention.tiers:
        _check_held(factory, tier, document, log)
    _check_logs(factory, document, log)


def _check_dashboards(factory: Factory, document: Document, log: Log) -> None:
    """Some tier with the series of the panels lasts as long as these look back."""
    longest = max(
        (tier for tier in (factory.retention.hot, *factory.retention.tiers) if tier.series == "all"),
        key=lambda tier: tier.keep,
    )
    if longest.keep < DASHBOARD_RANGE:
        what = f"the panels of the dashboard look back {DASHBOARD_RANGE}, and no tier keeps their series that long"
        hint = f"write {DASHBOARD_RANGE} or longer, or add a tier of all series"
        log.error("RET114", what, document.places.value("retention", longest.name, "keep"), hint)


def _check_length(hot: Tier, tiers: Sequence[Tier], document: Document, log: Log) -> None:
    """What is thinner or elsewhere lasts as long as what is finer or here; restricted series stand apart."""
    for tier in tiers:
        finer = [
            t
            for t in (hot, *tiers)
            if tier.series == t.series == "all" and _RANK[t.resolution] < _RANK[tier.resolution]
        ]
        before = max([hot, *finer], key=lambda tier: tier.keep)
        if tier.keep < before.keep and tier.series != "restricted":
            what = (
                f"`{tier.name}` keeps {tier.keep}, less than `{before.name}`, which keeps {before.keep} of all it holds"
            )
            place = document.places.value("retention", tier.name, "keep")
            there = [Related(document.places.value("retention", before.name, "keep"), "the finer tier")]
            log.error("RET102", what, place, f"write {before.keep} or longer, or leave the tier out", there)


def _check_held(factory: Factory, tier: Tier, document: Document, log: Log) -> None:
    path = ("retention", tier.name)
    written = document.spec.retention[tier.name]
    if written.signals and written.series:
        what = f"`{tier.name}` says twice what it holds, by `signals` and by `series`"
        log.error("RET107", what, document.places.key(*path, "series"), "leave out one of them")
    elif tier.series == "restricted" and not tier.metrics:
        what = f"`{tier.name}` would hold nothing: no metric of the factory is restricted"
        hint = "mark one by `sensitivity: restricted` under `signals.define`, or remove the tier"
        log.error("RET107", what, document.places.value(*path, "series"), hint)
    elif tier.series == "signals":
        _check_signals(factory, tier, document, log)


def _check_signals(factory: Factory, tier: Tier, document: Document, log: Log) -> None:
    for index, id_ in enumerate(document.spec.retention[tier.name].signals or ()):
        signal = factory.signals.get(id_)
        if signal is None:
            continue  # told already
        place = document.places.value("retention", tier.name, "signals", index)
        if not signal.metrics:
            what = f"`{id_}` has no series of its own that could be kept: it is the label `{signal.label}` of others"
            log.error("RET107", what, place, "name the signals whose series carry the label")
        elif any(metric.sensitivity == "restricted" for metric in signal.metrics):
            what = f"`{id_}` is restricted: a tier of chosen signals does not hold it"
            hint = "give it a tier with `series: restricted` and a store of its own"
            log.error("RET112", what, place, hint)


def _check_looks(factory: Factory, document: Document, log: Log) -> None:
    """Every range that the rules of an SLO read lies within a tier that has it."""
    hot, places = factory.retention.hot, document.places
    widest = max(factory.slos.values(), key=_longest, default=None)
    if widest is not None and hot.keep < _longest(widest):
        window = _longest(widest)
        what = f"`{hot.name}` keeps {hot.keep}, but the burn-rate alerts of {widest.id} look back {window}"
        there = [Related(widest.origin, "the SLO with the longest window")]
        hint = f"keep it for {window} or longer, or write shorter `alerts.windows`: "
        hint += "these alerts are evaluated where the series are scraped"
        log.error("RET109", what, places.value("retention", hot.name, "keep"), hint, there)
    for slo in factory.slos.values():
        if factory.retention.of_recorded(slo.period) is None:
            holding = [t for t in (hot, *factory.retention.tiers) if t.series in ("all", "recorded")]
            longest = max(holding, key=lambda tier: tier.keep)
            what = (
                f"the budget is told over {slo.period}, but `{longest.name}` keeps recorded series for {longest.keep}"
            )
            hint = f"keep a tier of all or recorded series for {slo.period}, or shorten the period"
            there = [Related(places.value("retention", longest.name, "keep"), "the longest that holds them")]
            log.error("RET109", what, places.value("slos", slo.id, "period"), hint, there)


def _longest(slo: Slo) -> Duration:
    return max(pair.long for pair in slo.pairs)


def _check_logs(factory: Factory, document: Document, log: Log) -> None:
    logs, places = factory.retention.logs, document.places
    if logs is None:
        return
    for key, period in (("keep", logs.keep), ("errors", logs.errors)):
        if period < LOKI_LEAST:
            what = f"Loki keeps lines for {LOKI_LEAST} at least, `{key}` is {period}"
            log.error("RET106", what, places.value("logs", key), f"write {LOKI_LEAST} or longer")
    if logs.errors < logs.keep:
        what = f"errors are kept for {logs.errors}, less than all lines, which are kept for {logs.keep}"
        log.error("RET102", what, places.value("logs", "errors"), "write at least as long as `keep`")
    try:
        selector = parse_selector(logs.selector)
    except PromqlError as error:
        hint = error.hint or 'a stream is chosen by its labels: {level="error"}'
        log.error("PQL101", error.message, places.inside(("logs", "selector"), error.start, error.end), hint)
        return
    if selector.metric is not None:
        place = places.inside(("logs", "selector"), selector.start, selector.start + len(selector.metric))
        log.error("PQL101", "a stream of logs has labels and no metric", place, f"leave out {selector.metric}")

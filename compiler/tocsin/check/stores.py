"""Stores: what Prometheus, Thanos, Mimir, Cortex and VictoriaMetrics can do for a tier, and what only another could."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.diagnostics import Related
from tocsin.stores import BY_TENANT, FIVE_MINUTES_FOR_1H, NAMES, RAW_FOR_5M, SIDECAR_LEAST, VICTORIA_LEAST

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Places
    from tocsin.factory import Factory
    from tocsin.factory.retention import Retention, Store, Tier


def check_stores(factory: Factory, document: Document, log: Log) -> None:
    """Every tier beyond the servers' own has a store that can do what the tier says."""
    retention, kind = factory.retention, factory.targets.long_term
    if not kind or not retention.tiers:
        _check_kind(retention, kind, document, log)
        return
    for tier in retention.tiers:
        if _check_keys(tier, kind, document, log):
            _check_resolution(tier, kind, document, log)
            _check_day(tier, kind, document, log)
    _check_shared(retention, kind, document, log)
    _doubt_restricted(retention, log)
    if kind == "thanos":
        _check_hours(retention, document, log)
        _check_bucket(retention, document, log)


def _check_kind(retention: Retention, kind: str, document: Document, log: Log) -> None:
    if retention.tiers:
        what = f"nothing is said of the store that keeps `{retention.tiers[0].name}`"
        hint = f"add `long_term` to `targets`: {', '.join(NAMES)}"
        log.error("RET110", what, retention.tiers[0].origin, hint)
    elif kind:
        what = f"{NAMES[kind]} would have nothing to keep: there is no tier beyond what Prometheus itself keeps"
        hint = "add one under `retention`, or remove `long_term`"
        log.error("RET110", what, document.places.value("targets", "long_term"), hint)


def _check_keys(tier: Tier, kind: str, document: Document, log: Log) -> bool:
    """Whether the tier has a store where it needs one, with the keys that such a store has."""
    path, places = ("retention", tier.name), document.places
    if tier.size and kind != "prometheus":
        what = f"{NAMES[kind]} has no limit of size for a tier"
        log.error("RET111", what, places.key(*path, "size"), "remove it; what Prometheus itself keeps may have one")
    if tier.store is None:
        if kind == "thanos" and tier.series == "all":
            return True  # what the sidecar uploads: whole blocks, with all that is in them
        _tell_homeless(tier, kind, log)
        return False
    written = document.spec.retention[tier.name].store
    if tier.store.tenant and kind not in BY_TENANT:
        what = f"{NAMES[kind]} takes no tenant in a header"
        log.error("RET111", what, places.key(*path, "store", "tenant"), "give the tier a store of its own by its `url`")
    if written and written.edition and kind != "victoriametrics":
        what = f"{NAMES[kind]} has no editions"
        log.error("RET111", what, places.key(*path, "store", "edition"), "remove it")
    if kind in BY_TENANT and not tier.store.tenant:
        what = f"in {NAMES[kind]} retention belongs to a tenant, and `{tier.name}` names none"
        log.error("RET104", what, places.key(*path, "store"), f"add `tenant: {tier.name}` to its `store`")
        return False
    return True


def _tell_homeless(tier: Tier, kind: str, log: Log) -> None:
    if kind == "thanos":
        what = f"Thanos has no retention by series: `{tier.name}` cannot share the bucket of the sidecar"
        hint = "give it a bucket of its own, behind Thanos Receive: `store: {url: http://receive:19291/api/v1/receive}`"
    elif kind in BY_TENANT:
        what = f"{NAMES[kind]} has no retention by series, but by tenant, and `{tier.name}` names none"
        hint = f"give it a tenant: `store: {{url: http://{kind}/api/v1/push, tenant: {tier.name}}}`"
    else:
        what = f"`{tier.name}` needs a store of its own: {NAMES[kind]} has one retention for all that it holds"
        port = 8428 if kind == "victoriametrics" else 9090
        hint = f"name one: `store: {{url: http://{tier.name}:{port}/api/v1/write}}`"
    log.error("RET104", what, tier.origin, hint)


def _check_resolution(tier: Tier, kind: str, document: Document, log: Log) -> None:
    if tier.resolution == "full" or kind == "thanos" or (tier.store and tier.store.enterprise):
        return
    hint = "keep full resolution, or keep recorded series only; Thanos and VictoriaMetrics Enterprise could"
    if kind == "victoriametrics":
        hint = "only its Enterprise edition can (`edition: enterprise` in its `store`); Thanos could"
    what = f"{NAMES[kind]} does not downsample: `{tier.name}` cannot have a resolution of {tier.resolution}"
    log.error("RET103", what, document.places.value("retention", tier.name, "resolution"), hint)


def _check_day(tier: Tier, kind: str, document: Document, log: Log) -> None:
    if kind == "victoriametrics" and tier.keep < VICTORIA_LEAST:
        what = f"VictoriaMetrics keeps data for {VICTORIA_LEAST} at least, `{tier.name}` says {tier.keep}"
        place = document.places.value("retention", tier.name, "keep")
        log.error("RET106", what, place, f"write {VICTORIA_LEAST} or longer")


def _check_hours(retention: Retention, document: Document, log: Log) -> None:
    """What Thanos needs of the servers: raw blocks until thinner ones are made, and until they are uploaded."""
    hot = retention.hot
    place = document.places.value("retention", hot.name, "keep")
    made = next((tier for tier in retention.tiers if tier.resolution != "full"), None)
    if made and hot.keep < RAW_FOR_5M:
        what = f"5m blocks are made of raw ones after {RAW_FOR_5M}, but these are kept for {hot.keep}"
        there = [Related(made.origin, "the tier that is made of them")]
        log.error("RET106", what, place, f"write {RAW_FOR_5M} or longer", there)
    elif hot.keep < SIDECAR_LEAST and any(tier.store is None for tier in retention.tiers):
        what = f"beside a Thanos sidecar Prometheus has to keep {SIDECAR_LEAST}, `{hot.name}` says {hot.keep}"
        log.error("RET106", what, place, f"write {SIDECAR_LEAST} or longer")


def _check_shared(retention: Retention, kind: str, document: Document, log: Log) -> None:
    """One home has one retention; only VictoriaMetrics Enterprise has filters."""
    homes: dict[str, Tier] = {}
    for tier in retention.tiers:
        if tier.store is None:
            continue
        home = tier.store.tenant or tier.store.url  # the tenants of two addresses are set in one file
        first = homes.setdefault(home, tier)
        if first is tier or _may_share(first, tier, tier.store):
            continue
        where = "tenant" if kind in BY_TENANT else "store"
        what = f"`{first.name}` and `{tier.name}` are in one {where}, which has one retention for all its series"
        hint = f"give `{tier.name}` a {where} of its own"
        if kind == "victoriametrics" and (first.series, tier.series) == ("all", "signals"):
            hint += "; only the Enterprise edition has retention filters (`edition: enterprise` in both)"
        place = document.places.key("retention", tier.name, "store")
        log.error("RET105", what, place, hint, [Related(first.origin, "the other one")])


def _may_share(first: Tier, tier: Tier, store: Store) -> bool:
    """Retention filters tell chosen series from all the others."""
    both = first.store is not None and first.store.enterprise and store.enterprise
    return both and (first.series, tier.series) == ("all", "signals")


def _doubt_restricted(retention: Retention, log: Log) -> None:
    """Restricted series are left out of what is written to shared stores; whether that is all is worth a word."""
    lost = retention.restricted
    if lost and not any(tier.series == "restricted" or tier.store is None for tier in retention.tiers):
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        what = f"no tier holds restricted series: {lost[0]}{more} is gone after {retention.hot.keep}"
        hint = "add a tier with `series: restricted` and a store or tenant of its own, if they are to last"
        log.warning("RET113", what, retention.tiers[0].origin, hint)


def _check_bucket(retention: Retention, document: Document, log: Log) -> None:
    """What the sidecars upload: one bucket, with one retention for each resolution."""
    shared = [tier for tier in retention.tiers if tier.store is None]
    if not shared:
        return
    places = document.places
    levels: dict[str, Tier] = {}
    for tier in shared:
        first = levels.setdefault(tier.resolution, tier)
        if first is not tier:
            what = f"`{first.name}` and `{tier.name}` are both the {tier.resolution} blocks of one bucket"
            place = places.value("retention", tier.name, "resolution")
            hint = "leave one of them out, or give one a store of its own"
            log.error("RET105", what, place, hint, [Related(first.origin, "the other one")])
    _check_five_minutes(levels, places, log)
    kept_apart = next((tier for tier in retention.tiers if tier.series == "restricted"), None)
    if kept_apart:
        what = f"the sidecar uploads whole blocks for `{shared[0].name}`, restricted series included"
        hint = "give it a store too (Thanos Receive): what is written to it leaves them out"
        log.error(
            "RET112", what, shared[0].origin, hint, [Related(kept_apart.origin, "they are to be kept apart here")]
        )


def _check_five_minutes(levels: dict[str, Tier], places: Places, log: Log) -> None:
    fine, coarse = levels.get("5m"), levels.get("1h")
    if fine and coarse and fine.keep < FIVE_MINUTES_FOR_1H:
        what = (
            f"1h blocks are made of 5m ones after {FIVE_MINUTES_FOR_1H}, but `{fine.name}` keeps these for {fine.keep}"
        )
        place = places.value("retention", fine.name, "keep")
        there = [Related(coarse.origin, "the tier that is made of them")]
        log.error("RET106", what, place, f"write {FIVE_MINUTES_FOR_1H} or longer", there)

"""Thanos: the bucket that sidecars upload to, and one behind a Receive for each tier that holds less than all.

Sources of the arguments: thanos.io/tip/components/ sidecar.md, receive.md, compact.md, store.md, query.md, rule.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.lower.tiers import PERIOD_PACE
from tocsin.plan.programs import ArgumentFile
from tocsin.stores import FIVE_MINUTES_FOR_1H

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.retention import Tier
    from tocsin.plan.rules import RuleFile
    from tocsin.plan.servers import Server
    from tocsin.units import Duration

COPY = "receive"  # the label of a copy behind a Receive: queries take it for a replica
_NOTE = "How Thanos is started, beside the arguments of its place (paths, addresses)."


def arguments(factory: Factory, servers: Sequence[Server], periods: Mapping[str, RuleFile]) -> Iterator[ArgumentFile]:
    """One file a component and bucket."""
    hot, tiers = factory.retention.hot, factory.retention.tiers
    shared = [tier for tier in tiers if tier.store is None]
    if shared:
        bucket = _bucket("")
        yield _file("sidecar", ("sidecar", bucket), shared[0])
        yield _file("compact", ("compact", "--wait", *_levels(hot.keep, shared), bucket), shared[0])
        yield _file("store", ("store", bucket), shared[0])
    for tier in tiers:
        if tier.store:
            bucket = _bucket(f"-{tier.name}")
            levels = _levels(tier.keep if tier.resolution == "full" else hot.keep, [tier])
            yield _file(f"receive-{tier.name}", ("receive", f'--label={COPY}="{tier.name}"', bucket), tier)
            yield _file(f"compact-{tier.name}", ("compact", "--wait", *levels, bucket), tier)
            yield _file(f"store-{tier.name}", ("store", bucket), tier)
    yield _file("query", ("query", *_query(servers, tiers)), tiers[0])
    for tier in tiers:
        if tier.name in periods:
            yield _file(f"rule-{tier.name}", _rule(factory, tier, periods[tier.name]), tier)


def _file(name: str, found: tuple[str, ...], tier: Tier) -> ArgumentFile:
    return ArgumentFile(f"long_term/thanos/{name}.yml", _NOTE, found, tier.origin)


def _bucket(suffix: str) -> str:
    return f"--objstore.config-file=/etc/thanos/bucket{suffix}.yml"


def _levels(raw: Duration, tiers: Sequence[Tier]) -> Iterator[str]:
    """Retention of each level of a bucket. None is left out: that would be 0d, which is for ever."""
    kept = {tier.resolution: tier.keep for tier in tiers}
    raw = kept.get("full", raw)
    if kept.keys() == {"full"}:
        yield "--downsampling.disable"
        five = hour = raw
    else:
        five = kept.get("5m") or max(raw, FIVE_MINUTES_FOR_1H)
        hour = kept.get("1h") or five
    for level, period in (("raw", raw), ("5m", five), ("1h", hour)):
        yield f"--retention.resolution-{level}={period}"


def _query(servers: Sequence[Server], tiers: Sequence[Tier]) -> Iterator[str]:
    if any("replica" in dict(server.external_labels) for server in servers):
        yield "--query.replica-label=replica"
    if any(tier.store for tier in tiers):
        yield f"--query.replica-label={COPY}"
    if any(tier.resolution != "full" for tier in tiers):
        yield "--query.auto-downsampling"
        # Rules ask for one moment: without this they would see raw blocks only, and of a period no more than those.
        yield "--query.instant.default.max_source_resolution=1h"


def _rule(factory: Factory, tier: Tier, file: RuleFile) -> tuple[str, ...]:
    return (
        "rule",
        f"--rule-file={file.path}",
        f"--eval-interval={PERIOD_PACE}",
        f"--query={factory.datasource_url}",
        f'--label=ruler="{factory.name}"',
        _bucket(f"-{tier.name}" if tier.store else ""),
    )

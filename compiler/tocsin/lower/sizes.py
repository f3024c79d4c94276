"""Sizes: what the factory's servers will hold and take in, by job, owner, server and retention tier."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tocsin import capacity
from tocsin.plan.sizes import Row, Sizes, TierRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.capacity import Size
    from tocsin.factory import Factory
    from tocsin.factory.retention import Tier
    from tocsin.plan.servers import Server
    from tocsin.units import Duration


def sizes(factory: Factory, servers: Sequence[Server], retention: Duration) -> Sizes:
    """The tables, each by its names; jobs count what is recorded as if it were one."""
    jobs: dict[tuple[str, ...], Size] = defaultdict(lambda: capacity.NOTHING)
    owners: dict[tuple[str, ...], Size] = defaultdict(lambda: capacity.NOTHING)
    for cluster in factory.clusters.values():
        for part in capacity.parts(factory, cluster):
            size = capacity.of([part])
            jobs[part.cluster, part.job] += size
            owners[(part.owner,)] += size
    total = sum(jobs.values(), capacity.NOTHING)
    return Sizes(
        jobs=_rows(jobs, retention),
        owners=_rows(owners, retention),
        servers=tuple(_server(server, retention) for server in servers),
        tiers=tuple(_tier(factory, tier) for tier in (factory.retention.hot, *factory.retention.tiers)),
        total=_row(("all",), total, retention),
        retention=retention,
        origin=factory.servers.origin,
        loads=tuple(capacity.loads(factory)),
    )


def _tier(factory: Factory, tier: Tier) -> TierRow:
    return TierRow(tier.name, tier.keep, tier.resolution, capacity.tier_load(factory, tier))


def _server(server: Server, retention: Duration) -> Row:
    row = _row((server.path,), server.size, retention)
    return row._replace(disk=max(row.disk, capacity.LEAST_LOG))


def _rows(found: Mapping[tuple[str, ...], Size], retention: Duration) -> tuple[Row, ...]:
    return tuple(_row(names, size, retention) for names, size in sorted(found.items()))


def _row(names: tuple[str, ...], size: Size, retention: Duration) -> Row:
    return Row(names, size, capacity.memory(size), capacity.disk(size, retention), capacity.written(size))

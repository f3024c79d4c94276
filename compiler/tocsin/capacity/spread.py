"""Over how many servers a cluster's load goes, which they are, and how large each is."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

from tocsin.capacity.load import (
    ITSELF,
    META_SERIES,
    NOTHING,
    RECORDED,
    Part,
    Size,
    of,
    of_itself,
    of_objective,
    size_of,
    watched,
)
from tocsin.catalog import EXPORTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.units import Duration

PEERS = "prometheus_peers"  # the job of servers that watch each other; `_` keeps it apart from jobs of the spec
SINGLE, ABOVE = "prometheus", "cluster"  # a cluster's only server, and the one above its shards
REPLICAS = "ab"


def parts(factory: Factory, cluster: Cluster) -> Iterator[Part]:
    """Everything of a cluster that makes series, its servers included, where these watch each other."""
    yield from watched(factory, cluster)
    servers = peers(factory, cluster)
    yield of_itself(factory, cluster.name, tuple(dict.fromkeys(servers.values())), factory.interval)
    if len(servers) > 1:
        fallback, every = factory.alerting.fallback, factory.interval
        yield Part(cluster.name, PEERS, fallback, every, tuple(servers), META_SERIES, counted=True, spread=False)


def shard_of(node: str, shards: int) -> int:
    """The shard of a node as Prometheus' `hashmod` finds it: the last eight bytes of the name's MD5, modulo the shards.

    Found by running promtool 2.42 and 3.5, in whose source it stands (model/relabel).
    """
    from hashlib import md5  # `check` of one server a cluster stays fast without it

    return int.from_bytes(md5(node.encode(), usedforsecurity=False).digest()[8:], "big") % shards


def shards(factory: Factory, cluster: Cluster) -> int | None:
    """The number of a cluster's shards; None where no number of them keeps `max_series`."""
    wanted = factory.servers
    if wanted.max_series is None:
        return wanted.shards or 1
    all_ = list(watched(factory, cluster))
    itself = of([of_itself(factory, cluster.name, (SINGLE,), factory.interval)])
    if (of(all_) + itself).series + META_SERIES * wanted.replicas <= wanted.max_series:
        return 1
    nodes = {host for group in cluster.groups for host in group.hosts}
    least = ceil(of(part for part in all_ if part.spread).series / wanted.max_series) if wanted.max_series else 65
    for count in range(max(2, least), min(len(nodes), 64) + 1):
        if all((size + itself).series <= wanted.max_series for size in _spread(all_, count)):
            return count
    return None


def _spread(all_: Iterable[Part], count: int) -> list[Size]:
    sizes = [NOTHING] * count
    for part in all_:
        if part.spread:
            for shard, number in enumerate(_on_shards(part.hosts, count)):
                sizes[shard] += size_of(part, number)
    return sizes


@lru_cache(maxsize=1024)
def _on_shards(nodes: tuple[str, ...], count: int) -> tuple[int, ...]:
    """How many of the nodes are on each shard."""
    found = Counter(shard_of(node, count) for node in nodes)
    return tuple(found[shard] for shard in range(count))


def peers(factory: Factory, cluster: Cluster) -> dict[str, str]:
    """Every server of a cluster, each replica by its own name, and the name that it shares with the other one."""
    count = shards(factory, cluster) or 1
    names = [SINGLE] if count == 1 else [*(f"shard-{index}" for index in range(count)), ABOVE]
    if factory.servers.replicas == 1:
        return dict(zip(names, names, strict=True))
    return {named(name, replica): name for name in names for replica in REPLICAS}


def named(server: str, replica: str) -> str:
    """The name of a server's replica; its own where there is but one."""
    if not replica:
        return server
    return f"replica-{replica}" if server == SINGLE else f"{server}-replica-{replica}"


def servers(factory: Factory, cluster: Cluster) -> tuple[Size, ...]:
    """The sizes of a cluster's servers: of its only one; or of every shard and, last, of the one above them."""
    count, all_ = shards(factory, cluster) or 1, list(parts(factory, cluster))
    if count == 1:
        return (of(all_),)
    # What the server above reads of each shard: two series a node, and of each exporter how many targets answer.
    read = _read(factory, [cluster], count, count * _counts(cluster), factory.interval)
    itself = of([of_itself(factory, cluster.name, (SINGLE,), factory.interval)])
    beside = of(part for part in all_ if not part.spread and part.job != ITSELF)
    return (*(shard + itself for shard in _spread(all_, count)), beside + read + itself)


def federated(factory: Factory, clusters: Sequence[Cluster], below: int, interval: Duration) -> Size:
    """The size of a server that reads what was recorded of some clusters from so many servers."""
    objectives = sum(of_objective(factory, cluster, slo) for cluster in clusters for slo in factory.slos.values())
    counts = [(shards(factory, cluster) or 1, _counts(cluster)) for cluster in clusters]
    answers = sum(count * exporters for count, exporters in counts if count > 1)
    itself = of([of_itself(factory, "", (ABOVE,), interval)])
    return _read(factory, clusters, below, objectives + answers, interval) + itself


def _counts(cluster: Cluster) -> int:
    """What a shard counts: targets that answer, by exporter, and those that a source told of what stands everywhere."""
    return len(cluster.ports) + (len(EXPORTERS) if cluster.source else 0)


def _read(factory: Factory, clusters: Sequence[Cluster], below: int, others: int, interval: Duration) -> Size:
    at_node = sum(
        count for signal, entity, count in RECORDED.values() if entity == "node" and signal in factory.signals
    )
    nodes = sum(len(group.hosts) for cluster in clusters for group in cluster.groups)
    series = at_node * nodes + others + META_SERIES * below
    return Size(below, series, Fraction(series) / interval.seconds)

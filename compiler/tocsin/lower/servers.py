"""Servers: one Prometheus a cluster, or shards and one above them; each twice where wanted; and those above clusters.

A node's exporters are all on one shard, which `hashmod` of the node's name finds: rules that look at one node at a time
are true there. What looks further, applications and their SLOs included, is the business of the server above.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.lower.itself import itself
from tocsin.lower.limits import limited
from tocsin.lower.scraping import node_jobs, other_jobs
from tocsin.plan.rules import Record
from tocsin.plan.servers import Relabel, ScrapeJob, Server, Target
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tocsin.capacity import Size
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.plan.rules import RuleFile
    from tocsin.source import Span

# The jobs of servers that read others; `_` keeps them apart from jobs of the spec.
_EDGE_JOB, _REGION_JOB = "federate_clusters", "federate_regions"
_HASH = "__tmp_hash"
# What is worth reading from afar: a few series a node, an SLO and a job, not one of each board and port.
_LEVELS = ("job:", "node:", "slo:")
# Nobody is paged by what is read from afar, and half a minute keeps clear of Prometheus' five of staleness.
_AFAR = Duration.of(seconds=30)


def cluster_servers(factory: Factory, cluster: Cluster, rules: Sequence[RuleFile]) -> Iterator[Server]:
    """The servers of a cluster. `rules` are those that hold for it."""
    *shards, last = capacity.servers(factory, cluster)
    on_nodes = node_jobs(factory, cluster)
    jobs = limited(factory, cluster, [*on_nodes, *other_jobs(factory, cluster)])
    nodes, others = jobs[: len(on_nodes)], jobs[len(on_nodes) :]
    watching = list(_watches_peers(factory, cluster))
    for replica in _replicas(factory):
        one = _server(factory, cluster, replica)
        if not shards:
            yield one(capacity.SINGLE, [*nodes, *others, *watching], rules, last)
            continue
        on_shards, above = (
            [file for file in rules if file.per_node is per_node or file.everywhere] for per_node in (True, False)
        )
        for index, size in enumerate(shards):
            jobs = [job._replace(select=_of_shard(index, len(shards))) for job in nodes]
            yield one(f"shard-{index}", jobs, on_shards, size, shard=str(index))
        reads = _reads_shards(factory, cluster, len(shards), replica, recorded(on_shards))
        yield one(capacity.ABOVE, [*others, reads, *watching], above, last)


def upper_servers(factory: Factory, rules: Sequence[RuleFile]) -> Iterator[Server]:
    """The servers above the clusters, each of which reads what those right below it recorded, and has no rules."""
    names = recorded(rules)
    regions = sorted({cluster.region for cluster in factory.clusters.values()})
    for replica in _replicas(factory) if factory.servers.levels else ():
        edges = [_edge(factory, cluster, replica) for cluster in factory.clusters.values()]
        by_region = {region: [edge for edge in edges if edge.labels[1] == ("region", region)] for region in regions}
        if "regional" in factory.servers.levels:
            for region, below in by_region.items():
                yield _upper(
                    factory, f"regional-{region}", {"region": region}, replica, job=_EDGE_JOB, below=below, names=names
                )
        if "global" in factory.servers.levels:
            job, below = _EDGE_JOB, edges
            if "regional" in factory.servers.levels:
                job = _REGION_JOB
                addresses = {
                    region: _address(factory, region, capacity.named("regional", replica)) for region in regions
                }
                below = [Target(address, (("region", region),)) for region, address in addresses.items()]
            yield _upper(factory, "global", {"factory": factory.name}, replica, job=job, below=below, names=names)


def recorded(rules: Sequence[RuleFile]) -> tuple[str, ...]:
    """The recorded names that are read by the server above."""
    found = {rule.name for file in rules for group in file.groups for rule in group.rules if isinstance(rule, Record)}
    return tuple(sorted(name for name in found if name.startswith(_LEVELS)))


def _replicas(factory: Factory) -> str | tuple[str]:
    return capacity.REPLICAS if factory.servers.replicas > 1 else ("",)


def _of_shard(index: int, count: int) -> tuple[Relabel, ...]:
    return (
        Relabel("hashmod", source=("node",), target=_HASH, modulus=count),
        Relabel("keep", source=(_HASH,), regex=str(index)),
    )


def _address(factory: Factory, cluster: str, server: str) -> str:
    return factory.servers.address.replace("{server}", server).replace("{cluster}", cluster)


def _server(factory: Factory, cluster: Cluster, replica: str) -> Callable[..., Server]:
    """What makes the servers of a cluster that are replicas of this name, or of none."""

    def one(name: str, jobs: list[ScrapeJob], rules: Sequence[RuleFile], size: Size, **own: str) -> Server:
        labels = {"cluster": cluster.name, "region": cluster.region, **own, **_replica_label(replica)}
        address = _address(factory, cluster.name, capacity.named(name, replica))
        return Server(
            path=f"prometheus/{cluster.name}/{capacity.named(name, replica)}.yml",
            interval=factory.interval,
            external_labels=tuple(labels.items()),
            rule_files=tuple(sorted(file.path for file in rules)),
            alertmanagers=factory.alerting.alertmanagers,
            jobs=(*jobs, itself(factory, address, {"cluster": cluster.name}, factory.interval)),
            origin=cluster.origin,
            silent_labels=tuple(label for label in ("replica", "shard") if label in labels),
            size=size,
        )

    return one


def _replica_label(replica: str) -> dict[str, str]:
    return {"replica": replica} if replica else {}


def _reads_shards(factory: Factory, cluster: Cluster, count: int, replica: str, names: tuple[str, ...]) -> ScrapeJob:
    targets = tuple(
        Target(
            _address(factory, cluster.name, capacity.named(f"shard-{index}", replica)),
            (("cluster", cluster.name), ("shard", str(index))),
        )
        for index in range(count)
    )
    return _reads(naming.SHARD_JOB, factory.interval, targets, factory.servers.origin, names)


def _watches_peers(factory: Factory, cluster: Cluster) -> Iterator[ScrapeJob]:
    """Only whether they answer is kept."""
    servers = capacity.peers(factory, cluster)
    if len(servers) > 1:
        targets = tuple(
            Target(
                _address(factory, cluster.name, name), (("cluster", cluster.name), ("server", server), ("peer", name))
            )
            for name, server in servers.items()
        )
        nothing = (Relabel("drop", source=("__name__",), regex=".+"),)
        yield _reads(capacity.PEERS, factory.interval, targets, factory.servers.origin)._replace(relabel=nothing)


def _reads(
    name: str, interval: Duration, targets: tuple[Target, ...], origin: Span, matches: tuple[str, ...] = ()
) -> ScrapeJob:
    return ScrapeJob(
        name=name,
        interval=interval,
        targets=targets,
        targets_file="",
        relabel=(),
        origin=origin,
        matches=matches,
    )


def _edge(factory: Factory, cluster: Cluster, replica: str) -> Target:
    server = capacity.ABOVE if (capacity.shards(factory, cluster) or 1) > 1 else capacity.SINGLE
    labels = (("cluster", cluster.name), ("region", cluster.region))
    return Target(_address(factory, cluster.name, capacity.named(server, replica)), labels)


def _upper(
    factory: Factory,
    name: str,
    labels: dict[str, str],
    replica: str,
    *,
    job: str,
    below: Sequence[Target],
    names: tuple[str, ...],
) -> Server:
    interval, origin = max(factory.interval, _AFAR), factory.servers.origin
    clusters = [cluster for cluster in factory.clusters.values() if labels.get("region") in (None, cluster.region)]
    place, server = next(iter(labels.values())), name.partition("-")[0]
    address = _address(factory, place, capacity.named(server, replica))
    return Server(
        path=f"prometheus/_federation/{capacity.named(name, replica)}.yml",
        interval=interval,
        external_labels=tuple({**labels, **_replica_label(replica)}.items()),
        rule_files=(),
        alertmanagers=(),
        jobs=(_reads(job, interval, tuple(below), origin, names), itself(factory, address, labels, interval)),
        origin=origin,
        silent_labels=(),
        size=capacity.federated(factory, clusters, len(below), interval),
    )

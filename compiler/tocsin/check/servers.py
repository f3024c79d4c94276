"""Shards: there are enough nodes for them, each keeps its size, and no rule needs what is spread over several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity
from tocsin.check.queries import metric_of
from tocsin.units import amount

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster

_PATH = ("collection", "servers")


def check_servers(factory: Factory, document: Document, log: Log) -> None:
    """Says nothing where something else is wrong: what could not be read is not counted."""
    if log.failed:
        return
    spread = [cluster for cluster in factory.clusters.values() if _check_size(factory, cluster, document, log) > 1]
    exporters = {exporter for cluster in spread for exporter in cluster.ports}
    for slo in factory.slos.values():
        for key, selector in slo.indicator.selectors.items():
            metric = metric_of(factory, selector)
            if metric.exporter in exporters:
                what = f"{metric.name} is spread over the shards of {spread[0].name}: no server can sum it up"
                hint = "with more than one shard an SLO counts events of an application's own job"
                log.error("SRV106", what, document.places.value("slos", slo.id, slo.kind, key), hint)


def _check_size(factory: Factory, cluster: Cluster, document: Document, log: Log) -> int:
    """The number of shards of a cluster; 1 where that cannot be."""
    nodes = {host for group in cluster.groups for host in group.hosts}
    shards, most = capacity.shards(factory, cluster), factory.servers.max_series
    if shards is not None and shards > len(nodes):
        what = f"{cluster.name} has {len(nodes)} nodes for {shards} shards"
        hint = "a node's targets are on one shard: write fewer shards, or `max_series`"
        log.error("SRV104", what, document.places.value(*_PATH, "shards"), hint)
        return 1
    if most is None:
        return shards or 1
    if shards is None or any(size.series > most for size in capacity.servers(factory, cluster)):
        where = "its applications and SLOs on one server" if shards else f"{len(nodes)} nodes on up to 64 shards"
        what = f"no number of shards keeps {amount(most)} series a server in {cluster.name}: {where}"
        hint = "raise `max_series`; `tocsin capacity` without it shows what there is"
        log.error("SRV105", what, document.places.value(*_PATH, "max_series"), hint)
    return shards or 1

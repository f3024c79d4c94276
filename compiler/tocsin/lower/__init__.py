"""Factory in, plan out: all the thinking, none of the text. A factory that passed its checks cannot fail here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.lower.above import above
from tocsin.lower.collection import collection
from tocsin.lower.cooling import cooling
from tocsin.lower.dashboards import dashboards
from tocsin.lower.deep import deep_counters, job_hooks
from tocsin.lower.disks import disks
from tocsin.lower.drivers import drivers
from tocsin.lower.fabric import errors
from tocsin.lower.heat import heat, lanes
from tocsin.lower.itself import monitoring
from tocsin.lower.jobs import jobs
from tocsin.lower.memory import memory
from tocsin.lower.mixins import mixins
from tocsin.lower.native import with_histograms
from tocsin.lower.nodedown import node_down
from tocsin.lower.nvlink import nvlink
from tocsin.lower.objectives import objectives, periods
from tocsin.lower.own_rules import own_rules
from tocsin.lower.pages import pages
from tocsin.lower.peers import peers
from tocsin.lower.ports import ports
from tocsin.lower.presence import presence
from tocsin.lower.roce import roce
from tocsin.lower.routing import notifications
from tocsin.lower.scheduling import scheduling
from tocsin.lower.scraping import counter_files
from tocsin.lower.servers import cluster_servers, upper_servers
from tocsin.lower.serving import serving
from tocsin.lower.sizes import sizes
from tocsin.lower.steps import steps
from tocsin.lower.stores import store_arguments, store_settings
from tocsin.lower.storms import storms
from tocsin.lower.throttling import clocks, throttling
from tocsin.lower.tiers import long_term_servers, server_arguments, with_tiers
from tocsin.lower.traffic import hbm, pcie
from tocsin.lower.training import training
from tocsin.lower.watchdog import watchdog
from tocsin.lower.xid import xid
from tocsin.plan import Plan
from tocsin.plan.rules import RuleFile

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.factory import Factory
    from tocsin.plan.rules import RuleGroup
    from tocsin.plan.servers import Server

# The rule groups of each layer's file. A group is left out where the factory does not collect its signal.
LAYERS: dict[str, tuple[Callable[[Factory], RuleGroup | None], ...]] = {
    "silicon": (node_down, presence, xid, throttling, memory, pcie, hbm, heat, lanes, clocks, disks, drivers),
    "fabric": (errors, roce, ports, nvlink),
    "runtime": (jobs,),
}

# The same of what speaks of more than one node: it is scraped, and asked, above the shards.
BESIDE_NODES: dict[str, tuple[Callable[[Factory], RuleGroup | None], ...]] = {
    "applications": (training, serving),
    "schedulers": (scheduling,),
    "facility": (cooling,),
}


def lower(factory: Factory) -> Plan:
    """Everything that will be written for a factory."""
    shared = [_file(factory, name, groups, per_node=True) for name, groups in LAYERS.items()]
    shared += [_file(factory, name, groups, per_node=False) for name, groups in BESIDE_NODES.items()]
    shared += [*own_rules(factory), *mixins(factory), watchdog(factory), *monitoring(factory), *objectives(factory)]
    shared = [file for file in shared if file.groups]
    rules = list(shared)
    servers: list[Server] = []
    for cluster in factory.clusters.values():
        own = [collection(factory, cluster), *above(factory, cluster), *peers(factory, cluster)]
        own += storms(factory, cluster, [*shared, *own])
        servers += cluster_servers(factory, cluster, [*shared, *own])
        rules += own
    servers += upper_servers(factory, rules)
    later = periods(factory)
    tiered = with_histograms(factory, (*with_tiers(factory, servers, rules), *long_term_servers(factory, later)))
    shown = dashboards(factory)
    return Plan(
        factory=factory.name,
        servers=tiered,
        rules=(*rules, *later.values()),
        notifications=notifications(factory, rules, servers),
        dashboards=shown,
        datasource_url=factory.datasource_url,
        counter_files=(*counter_files(factory), *deep_counters(factory)),
        sizes=sizes(factory, servers, factory.retention.hot.keep),
        arguments=(*server_arguments(factory, tiered), *store_arguments(factory, tiered, later)),
        settings=store_settings(factory, rules, later),
        job_hooks=job_hooks(factory),
        pages=pages(factory, shown),
        first_steps=steps(factory, rules),
    )


def _file(
    factory: Factory, name: str, makers: tuple[Callable[[Factory], RuleGroup | None], ...], *, per_node: bool
) -> RuleFile:
    groups = (make(factory) for make in makers)
    return RuleFile(name, tuple(group for group in groups if group is not None), per_node=per_node)

"""What a factory costs before it is collected: its load, what that costs, and over how many servers it goes."""

from tocsin.capacity.cost import LEAST_LOG, MEMORY, RETENTION, WIRE, disk, memory, per_day, written
from tocsin.capacity.entities import bound
from tocsin.capacity.load import ALERTMANAGER, ITSELF, NOTHING, OTHER_SERIES, RECORDED, RULES, Part, Size, of
from tocsin.capacity.queries import MOST_SAMPLES, Loads, Query, loads
from tocsin.capacity.spread import (
    ABOVE,
    PEERS,
    REPLICAS,
    SINGLE,
    federated,
    named,
    parts,
    peers,
    servers,
    shard_of,
    shards,
)
from tocsin.capacity.tiers import TierLoad, tier_load

__all__ = [
    "ABOVE",
    "ALERTMANAGER",
    "ITSELF",
    "LEAST_LOG",
    "MEMORY",
    "MOST_SAMPLES",
    "NOTHING",
    "OTHER_SERIES",
    "PEERS",
    "RECORDED",
    "REPLICAS",
    "RETENTION",
    "RULES",
    "SINGLE",
    "WIRE",
    "Loads",
    "Part",
    "Query",
    "Size",
    "TierLoad",
    "bound",
    "disk",
    "federated",
    "loads",
    "memory",
    "named",
    "of",
    "parts",
    "peers",
    "per_day",
    "servers",
    "shard_of",
    "shards",
    "tier_load",
    "written",
]

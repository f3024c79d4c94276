"""What a factory costs before it is collected: its load, what that costs, and over how many servers it goes."""

from tocsin.capacity.cost import LEAST_LOG, RETENTION, WIRE, disk, memory, per_day, written
from tocsin.capacity.entities import bound
from tocsin.capacity.load import NOTHING, OTHER_SERIES, RECORDED, RULES, Part, Size, of
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

__all__ = [
    "ABOVE",
    "LEAST_LOG",
    "NOTHING",
    "OTHER_SERIES",
    "PEERS",
    "RECORDED",
    "REPLICAS",
    "RETENTION",
    "RULES",
    "SINGLE",
    "WIRE",
    "Part",
    "Size",
    "bound",
    "disk",
    "federated",
    "memory",
    "named",
    "of",
    "parts",
    "peers",
    "per_day",
    "servers",
    "shard_of",
    "shards",
    "written",
]

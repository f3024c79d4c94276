"""What a factory costs before it is collected: its load, what that costs, and over how many servers it goes."""

from tocsin.capacity.cost import LEAST_LOG, RETENTION, WIRE, disk, memory, per_day, written
from tocsin.capacity.load import HISTOGRAM_SERIES, NOTHING, OTHER_SERIES, RECORDED, Part, Size, of
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

__all__ = [
    "ABOVE",
    "HISTOGRAM_SERIES",
    "LEAST_LOG",
    "MOST_SAMPLES",
    "NOTHING",
    "OTHER_SERIES",
    "PEERS",
    "RECORDED",
    "REPLICAS",
    "RETENTION",
    "SINGLE",
    "WIRE",
    "Loads",
    "Part",
    "Query",
    "Size",
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
    "written",
]

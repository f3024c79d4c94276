"""`collection.servers` and `collection.budget`: how the load is spread, and how much of it there may be."""

from typing import Literal

from pydantic import Field

from tocsin.spec.scalars import Amount, Section, Text


class Servers(Section):
    """The Prometheus servers of every cluster.

    `shards` is their number, or follows from `max_series`, the most that one may hold. `address` is where a server is
    reached by others, with `{server}` and `{cluster}` for its names.
    """

    shards: int | None = Field(default=None, ge=1, le=64)
    max_series: Amount | None = None
    replicas: Literal[1, 2] = 1
    federation: list[Literal["edge", "regional", "global"]] = Field(default=[])
    address: Text = "prometheus-{server}.{cluster}:9090"


class Budget(Section):
    """What all servers together may take in, each replica counted once."""

    samples_per_second: Amount | None = None
    series: Amount | None = None

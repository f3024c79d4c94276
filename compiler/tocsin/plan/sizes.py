"""What the planned load comes to."""

from typing import NamedTuple

from tocsin.capacity import Loads, Size, TierLoad
from tocsin.source import Span
from tocsin.units import Duration


class Row(NamedTuple):
    """What some part of the load comes to; `memory` and `disk` in bytes, `written` in bytes per second."""

    names: tuple[str, ...]
    size: Size
    memory: int
    disk: int
    written: int


class TierRow(NamedTuple):
    """A retention tier: how long it keeps what, and what that comes to."""

    name: str
    keep: Duration
    resolution: str
    load: TierLoad


class Sizes(NamedTuple):
    """The load by job of each cluster, by owner, by server, and by tier; of two replicas one is counted.

    `loads` are the samples that the rules of SLOs load.
    """

    jobs: tuple[Row, ...]
    owners: tuple[Row, ...]
    servers: tuple[Row, ...]
    tiers: tuple[TierRow, ...]
    total: Row
    retention: Duration
    origin: Span
    loads: tuple[Loads, ...] = ()

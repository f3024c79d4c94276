"""A server that has the month and evaluates rules on it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import slo_peer
from slo_month import Month, Server, backfill, month, now, raw, recorded, serving, units
from slo_specs import SLO, compiled, groups
from tocsin import capacity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tocsin.capacity import Loads
    from tocsin.pipeline import Compiled
    from toolbox import Tool

INSTANCES = 20
FAST = "2s"  # the groups' interval: what is recorded once is recorded soon


@dataclass(frozen=True, slots=True)
class World:
    """The server, what it has, and our rules as they were written, what they are said to load."""

    server: Server
    month: Month
    groups: list[dict[str, Any]]
    loads: Loads


def fill(prometheus: Tool, promtool: Tool, folder: Path, every: int) -> tuple[Month, Compiled]:
    """Blocks in `folder` of the month, scraped every so many seconds, and of what the units recorded of it."""
    result = compiled(SLO, folder, instances=INSTANCES)
    one = month(now(), INSTANCES, every)
    backfill(promtool, folder, raw(one))
    with serving(prometheus, folder) as server:
        past = recorded(server, one, [*units(groups(result)), slo_peer.ratio("5m")])
    backfill(promtool, folder, past)
    return one, result


@contextlib.contextmanager
def evaluated(prometheus: Tool, folder: Path, some: Sequence[Mapping[str, Any]]) -> Iterator[Server]:
    """A server on these blocks that evaluates some groups, all of them at once and soon again."""
    with serving(prometheus, folder, [{**group, "interval": FAST} for group in some]) as server:
        yield server


@contextlib.contextmanager
def world(prometheus: Tool, promtool: Tool, folder: Path, every: int) -> Iterator[World]:
    """The world with a scrape every so many seconds."""
    one, result = fill(prometheus, promtool, folder, every)
    (loads,) = capacity.loads(result.factory)
    with evaluated(prometheus, folder, groups(result)) as server:
        yield World(server, one, groups(result), loads)

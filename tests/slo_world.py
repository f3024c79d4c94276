"""A server that has the month and evaluates on it our rules, and others' if they are wanted."""

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


@contextlib.contextmanager
def world(
    prometheus: Tool, promtool: Tool, folder: Path, every: int, others: Sequence[Mapping[str, Any]] = ()
) -> Iterator[World]:
    """The world with a scrape every so many seconds; `others` are groups that are evaluated beside ours."""
    result = compiled(SLO, folder, instances=INSTANCES)
    ours, (loads,) = groups(result), capacity.loads(result.factory)
    one = month(now(), INSTANCES, every)
    backfill(promtool, folder, raw(one))
    with serving(prometheus, folder) as server:
        past = recorded(server, one, [*units(ours), slo_peer.ratio("5m")])
    backfill(promtool, folder, past)
    with serving(prometheus, folder, [{**group, "interval": FAST} for group in (*ours, *others)]) as server:
        yield World(server, one, ours, loads)

"""What the rules of an SLO cost a real Prometheus, beside rules of Sloth's shape and the counters over the period.

As a program, it prints the seconds as JSON: of each evaluation those of one of all groups, and those of a minute.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import slo_peer
from slo_specs import groups
from slo_world import evaluated, fill
from tocsin.fleet.deadline import until
from tocsin.units import Duration
from toolbox import best

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from slo_month import Server

ROUNDS = 9
SCRAPED = 15  # seconds between two scrapes: what specs say that say nothing
EVERY = Duration.of(minutes=1)  # of groups that name no interval; that of the spec, and Prometheus' own default
RAW = {"name": "raw", "rules": [{"record": "raw:period", "expr": slo_peer.RAW}]}


def seconds(server: Server, names: set[str]) -> list[dict[str, float]]:
    """How long each group took, as Prometheus says itself: as many evaluations of each, without the first."""
    seen: dict[str, dict[str, float]] = {name: {} for name in names}

    def enough() -> bool:
        for group in server.ask("rules")["groups"]:
            if group["evaluationTime"]:
                seen[group["name"]][group["lastEvaluation"]] = group["evaluationTime"]
        return all(len(one) > ROUNDS for one in seen.values())

    until(f"{ROUNDS} evaluations of each group", enough)
    return [{name: list(seen[name].values())[number] for name in names} for number in range(1, ROUNDS + 1)]


def a_minute(some: Sequence[Mapping[str, Any]], took: Mapping[str, float]) -> float:
    """The seconds that groups take a minute, each as often as it is evaluated."""
    return sum(took[group["name"]] * float(Duration.of(minutes=1) / _interval(group)) for group in some)


def _interval(group: Mapping[str, Any]) -> Duration:
    """As it is written, in whole minutes."""
    text = group.get("interval")
    return EVERY if text is None else Duration.of(minutes=int(text.removesuffix("m")))


def main() -> int:
    """Measure, and print."""
    prometheus, promtool = best("prometheus"), best("promtool")
    if prometheus is None or promtool is None:
        print("no prometheus or no promtool found", file=sys.stderr)
        return 1
    said = {}
    with tempfile.TemporaryDirectory(prefix="tocsin-slo-cost-") as folder:
        _, result = fill(prometheus, promtool, Path(folder), SCRAPED)
        for part, some in {"ours": groups(result), "peer": slo_peer.groups(), "raw": [RAW]}.items():
            # One after the other: beside the counters of a month everything is slow.
            with evaluated(prometheus, Path(folder), some) as server:
                rounds = seconds(server, {group["name"] for group in some})
            once = [sum(took.values()) for took in rounds]
            said[part] = {"once": once, "a minute": [a_minute(some, took) for took in rounds]}
    print(json.dumps(said))
    return 0


if __name__ == "__main__":
    sys.exit(main())

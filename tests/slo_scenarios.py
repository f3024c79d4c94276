"""Worlds for the rules of a ratio: a few instances of a service whose counters do what counters do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promql_reference import Marker
from slo_reference import Counter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from promql_reference import Sample

LENGTH = 100  # samples, one a minute
TRAFFIC = (0, 1, 3, 20, 500)  # requests a minute
SHARES = (0.0, 0.0, 0.01, 0.1, 0.3, 0.7, 1.0)  # of them that fail


def scenario(random: Random) -> tuple[Counter, ...]:
    """One to three instances; all fail together, and each of them and of their series has a life of its own."""
    phases = _phases(random)
    counters = []
    for number in range(random.randint(1, 3)):
        life = _life(random)
        instance = f"web-{number}:8000"
        counters += [Counter(instance, bad, _samples(random, phases, life, bad=bad)) for bad in (False, True)]
    return tuple(counters)


def _phases(random: Random) -> list[tuple[int, float]]:
    """At each minute so many requests, and the share that fails."""
    out: list[tuple[int, float]] = []
    while len(out) < LENGTH:
        out += [(random.choice(TRAFFIC), random.choice(SHARES))] * random.randint(1, 30)
    return out[:LENGTH]


def _life(random: Random) -> list[str]:
    """What becomes of an instance at each minute: it is up, it restarts, a scrape is missed, or it is down."""
    out = ["up"] * LENGTH
    for _ in range(random.choice((0, 0, 1, 2))):
        begin = random.randrange(LENGTH)
        what = random.choice(("restarts", "missed", "down", "down"))
        length = {"restarts": 1, "missed": random.randint(1, 3), "down": random.randint(1, 25)}[what]
        out[begin : begin + length] = [what] * len(out[begin : begin + length])
    return out


def _samples(random: Random, phases: Sequence[tuple[int, float]], life: Sequence[str], *, bad: bool) -> list[Sample]:
    """The series of an instance; one of errors is often born by the first of them, some end and come back."""
    value = random.choice((0, 0, 7, 40_000))
    born = random.choice((0, 0, random.randrange(LENGTH)))
    lazy = bad and random.random() < 0.5
    if lazy:
        value = 0
    out: list[Sample] = []
    for at, ((traffic, share), what) in enumerate(zip(phases, life, strict=True)):
        failed = sum(random.random() < share for _ in range(traffic)) if traffic < 100 else round(traffic * share)
        value = 0 if what == "restarts" else value + (failed if bad else traffic - failed)
        there = at >= born and not (lazy and value == 0) and what in ("up", "restarts")
        if there:
            out.append(float(value))
        else:
            out.append(Marker.STALE if what != "missed" and out and isinstance(out[-1], float) else None)
    return out


def notation(samples: Sequence[Sample]) -> str:
    """In promtool's notation."""
    words = {None: "_", Marker.STALE: "stale"}
    return " ".join(words[one] if one is None or isinstance(one, Marker) else repr(one) for one in samples)

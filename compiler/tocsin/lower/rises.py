"""How often an error counter rises, whatever the amount: one burst is one event.

A counter that was reset, or that begins anew above zero, did not rise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.lower.proofs import series
from tocsin.plan.rules import Reading
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tocsin.plan.rules import RuleTest

# A counter that has risen twice in the quarter of an hour before minute 55, as it would not in half of that time or in
# twice of it: a reset lies before, then come a reset and a rise in the first half, and a rise in the second.
_TWICE, _SEEN = "9x29 5x11 1x1 2x5 3x20", Duration.of(minutes=55)
_NUMBER = "9"  # of ports that have no other story


def risen(series_: str) -> str:
    """How often a counter rose within a quarter of an hour: every change but those that took it down."""
    return f"changes({series_}[15m]) - resets({series_}[15m])"


def error_of(metric: str) -> str:
    """What a counter of ports counts, as a label says it."""
    return metric.removeprefix("node_infiniband_").removesuffix("_total")


def counted(
    test: RuleTest, records: Mapping[str, str], ports: Sequence[dict[str, str]], strangers: Sequence[dict[str, str]]
) -> RuleTest:
    """A test of alerts that proves what is counted as well: on some ports every metric, on strangers none.

    `records` say of each metric as what its rises are recorded. The ports' alerts are of no matter after minute 40.
    """
    inputs = tuple(
        series(metric, {**port, "port": _NUMBER, "job": "node"}, _TWICE)
        for metric in records
        for port in (*ports, *strangers)
    )
    return test._replace(series=test.series + inputs, readings=tuple(_readings(list(records.values()), ports)))


def _readings(records: Sequence[str], ports: Sequence[dict[str, str]]) -> Iterator[Reading]:
    for record in dict.fromkeys(records):
        places = ({label: port[label] for label in ("cluster", "node", "device")} for port in ports)
        count = str(records.count(record))
        samples = tuple((series("", place, "")[0], count) for place in places)
        yield Reading(_SEEN, f'count by (cluster, node, device) ({record}{{port="{_NUMBER}"}} == 2)', samples)

"""A month of uneven traffic in the blocks of a real Prometheus: busy days with few errors, quiet nights with many.

Each day of 12 hours has 100 requests per second of which 0.01 % fail, each night has 1 of which 20 % do: 0.21 of 101
in all. A mean of the ratios would say 0.1.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import yaml

from fleet.monitoring import asked, is_ready
from slo_specs import METRIC
from tocsin import naming
from tocsin.burn import UNIT
from tocsin.fleet.deadline import until
from tocsin.fleet.program import free_address, running

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from toolbox import Tool

DAY, HALF_DAY = 86400, 43200
PERIOD = 30 * DAY  # seconds
LENGTH = 31 * DAY
STEP = 60  # seconds between two evaluations of the rules in the past
MICRO = 10**6  # counters are kept in millionths of a request: whole numbers, however the traffic is divided
BY_DAY, BY_NIGHT = (100 * MICRO, MICRO // 100), (1 * MICRO, MICRO // 5)  # all requests and failed ones per second
POINTS = 10_000  # of one answer; Prometheus gives at most 11,000
BLOCK = "1458h"  # the whole month in a block or two: promtool reads its input once a block


@dataclass(frozen=True, slots=True)
class Counter:
    """One instance's counts: at each of `at` (seconds since 1970) so many good requests and so many bad ones."""

    instance: str
    at: Sequence[int]
    good: Sequence[int]
    bad: Sequence[int]


@dataclass(frozen=True, slots=True)
class Month:
    """The counters of all instances, and the second at which they end."""

    counters: tuple[Counter, ...]
    end: int

    def counted(self, end: int) -> tuple[int, int]:
        """The failed requests and all of the period before a second, as the scrapes tell them: no rate, no window."""
        bad = good = 0
        for counter in self.counters:
            last, first = _last(counter.at, end), _last(counter.at, end - PERIOD)
            bad += counter.bad[last] - counter.bad[first]
            good += counter.good[last] - counter.good[first]
        return bad, bad + good


def _last(at: Sequence[int], moment: int) -> int:
    """The scrape before or at that moment."""
    return min((moment - at[0]) // (at[1] - at[0]), len(at) - 1)


def month(end: int, instances: int, every: int) -> Month:
    """So many instances with an equal share of the traffic, scraped every so many seconds, one after the other."""
    begin = end - LENGTH
    counters = []
    for number in range(instances):
        at = range(begin + number * every // instances, end + 1, every)
        total, failed = number * MICRO // instances, number * MICRO // instances
        good, bad = [], []
        for moment in at:
            good.append(total // MICRO - failed // MICRO)
            bad.append(failed // MICRO)
            all_, errors = BY_DAY if moment % DAY >= HALF_DAY else BY_NIGHT
            total, failed = total + all_ * every // instances, failed + errors * every // instances
        counters.append(Counter(f"web-{number + 1}:8000", at, good, bad))
    return Month(tuple(counters), end)


@dataclass(frozen=True, slots=True)
class Server:
    """A Prometheus that has the month."""

    address: str

    def ask(self, path: str, **parameters: object) -> Any:
        """`data` of an answer of its API."""
        return asked(self.address, f"/api/v1/{path}?{urlencode(parameters)}")

    def value(self, expr: str, at: float) -> float:
        """The value of the only series that an expression yields at a time."""
        (series,) = self.ask("query", query=expr, time=at)["result"]
        return float(series["value"][1])

    def samples(self, expr: str, at: float) -> int:
        """How many samples Prometheus loads for an expression at a time, as it counts them itself."""
        answer = self.ask("query", query=expr, time=at, stats="all")
        return int(answer["stats"]["samples"]["totalQueryableSamples"])

    def past(self, expr: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
        """The values of the only series that an expression yields, every STEP."""
        for start in range(begin, end + 1, POINTS * STEP):
            last = min(start + (POINTS - 1) * STEP, end)
            (series,) = self.ask("query_range", query=expr, start=start, end=last, step=STEP)["result"]
            yield from ((int(at), value) for at, value in series["values"])


@contextlib.contextmanager
def serving(prometheus: Tool, folder: Path, groups: Sequence[Mapping[str, Any]] = ()) -> Iterator[Server]:
    """A Prometheus on the blocks in `folder`, evaluating these groups."""
    (folder / "rules.yml").write_text(yaml.safe_dump({"groups": list(groups)}), encoding="utf-8")
    (folder / "prometheus.yml").write_text("rule_files: [rules.yml]\n", encoding="utf-8")
    address = free_address()
    command = [
        str(prometheus.path),
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/data",
        "--storage.tsdb.retention.time=90d",
        f"--web.listen-address={address}",
    ]
    with running("prometheus", command, folder) as program:
        until("Prometheus to be ready", partial(is_ready, address), also=program.tail)
        yield Server(address)


def backfill(promtool: Tool, folder: Path, families: Mapping[str, Sequence[str]]) -> None:
    """Blocks in `folder` of samples in the text of OpenMetrics, by the name of their metric."""
    text = folder / "samples.txt"
    with text.open("w", encoding="utf-8") as file:
        for lines in families.values():
            file.write("\n".join(lines) + "\n")
        file.write("# EOF\n")
    command = [promtool.path, "tsdb", "create-blocks-from", "openmetrics", f"--max-block-duration={BLOCK}", "-q"]
    done = subprocess.run([*command, text, folder / "data"], capture_output=True, text=True, check=False)
    text.unlink()
    assert done.returncode == 0, done.stdout + done.stderr


def raw(one: Month) -> dict[str, list[str]]:
    """The counters as they were scraped."""
    lines = []
    for counter in one.counters:
        for code, values in (("200", counter.good), ("500", counter.bad)):
            labels = f'{METRIC}{{cluster="east",job="web",instance="{counter.instance}",code="{code}"}}'
            lines += [f"{labels} {value} {at}" for value, at in zip(values, counter.at, strict=True)]
    return {METRIC: lines}


def recorded(server: Server, one: Month, rules: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What rules would have recorded in all that time, as Prometheus itself says; each of one series."""
    found = {}
    for rule in rules:
        labels = ",".join(f'{name}="{value}"' for name, value in {"cluster": "east", **rule["labels"]}.items())
        begin = (one.end - LENGTH + int(UNIT.seconds)) // STEP * STEP + STEP
        values = server.past(rule["expr"], begin, one.end)
        found[rule["record"]] = [f"{rule['record']}{{{labels}}} {value} {at}" for at, value in values]
    return found


def units(groups: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rules that count events in the unit, from which long windows are summed up."""
    names = (naming.slo_total(UNIT), naming.slo_errors(UNIT))
    return [rule for group in groups for rule in group["rules"] if rule.get("record") in names]


def now() -> int:
    """The last full minute."""
    return int(time.time()) // 60 * 60

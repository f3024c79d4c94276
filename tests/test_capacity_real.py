"""The prediction meets reality: forty hosts of eight GPUs and all around them, scraped with the generated files."""

from __future__ import annotations

import contextlib
import http.client
import re
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from fleet.site import Site, site
from tocsin import capacity

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.live

SECONDS = 60  # for which is counted what comes in: as long as the longest interval of an exporter
BUCKETS = 10  # that prometheus_client's default has and the service's own histogram has not


def meters(address: str) -> dict[str, float]:
    """Prometheus' numbers about itself, those of a name added up."""
    with contextlib.closing(http.client.HTTPConnection(address, timeout=30)) as connection:
        connection.request("GET", "/metrics")
        body = connection.getresponse().read().decode()
    found: dict[str, float] = {}
    for name, value in re.findall(r"^([a-z_]+)(?:\{.*\})? (\S+)$", body, re.MULTILINE):
        found[name] = found.get(name, 0) + float(value)
    return found


def by_job(one: Site) -> dict[str, int]:
    """The series that Prometheus has of each job now; recorded ones and alerts have a name or owner of ours."""
    scraped = 'count by (job) ({job!="", __name__!~".*:.*:.*|ALERTS.*"})'
    found = one.ask(f"query?query={quote(scraped)}")["result"]
    return {one["metric"]["job"]: int(one["value"][1]) for one in found}


def of_alerts(one: Site) -> int:
    """The series of alerts but the watchdog's: a sound site has none, and they wait where a busy machine is late."""
    told = 'count(last_over_time({__name__=~"ALERTS.*", alertname!="Watchdog"}[15m]))'
    return sum(int(found["value"][1]) for found in one.ask(f"query?query={quote(told)}")["result"])


def test_prediction_and_reality_agree(tmp_path: Path) -> None:
    """Series within 2 %, samples per second within 5 %; no more bytes are written on than predicted, and not half."""
    with site(tmp_path) as one:
        predicted = one.made.plan.servers[0].size
        time.sleep(10)  # two intervals: the last chains of rules have their values
        before, started, bytes_before = meters(one.address), time.monotonic(), sum(one.written)
        time.sleep(SECONDS)
        after, took = meters(one.address), time.monotonic() - started
        written = sum(one.written) - bytes_before
        found, late = by_job(one), of_alerts(one)

    def grown(name: str) -> float:
        return after[name] - before[name]

    series = after["prometheus_tsdb_head_series"] - late
    samples = grown("prometheus_tsdb_head_samples_appended_total") / took
    each = written / grown("prometheus_remote_storage_samples_total")
    print(f"series {series:.0f}, predicted {predicted.series}; {late} more of alerts that wait")
    print(f"samples/s {samples:.0f}, predicted {float(predicted.samples):.0f}")
    print(f"bytes a sample on the wire {each:.1f}, planned {capacity.WIRE}")
    assert abs(series / predicted.series - 1) <= 0.02
    assert abs(samples / float(predicted.samples) - 1) <= 0.05
    planned = {row.names[1]: row.size.series for row in one.made.plan.sizes.jobs}
    assert {job: planned[job] for job in found} == found | {"serving": found["serving"] + BUCKETS}
    assert planned.keys() - found.keys() == {capacity.RULES}
    assert capacity.WIRE / 2 < each <= capacity.WIRE

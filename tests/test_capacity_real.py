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

pytestmark = pytest.mark.xdist_group("servers")

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


def test_prediction_and_reality_agree(tmp_path: Path) -> None:
    """Series within 2 %, samples per second within 5 %; no more bytes are written on than predicted, and not half."""
    with site(tmp_path) as one:
        predicted = one.made.plan.servers[0].size
        time.sleep(10)  # two intervals: the last chains of rules have their values
        before, started, bytes_before = meters(one.address), time.monotonic(), sum(one.written)
        time.sleep(SECONDS)
        after, took = meters(one.address), time.monotonic() - started
        written = sum(one.written) - bytes_before
        found = by_job(one)

    def grown(name: str) -> float:
        return after[name] - before[name]

    series, samples = after["prometheus_tsdb_head_series"], grown("prometheus_tsdb_head_samples_appended_total") / took
    each = written / grown("prometheus_remote_storage_samples_total")
    print(f"series {series:.0f}, predicted {predicted.series}")
    print(f"samples/s {samples:.0f}, predicted {float(predicted.samples):.0f}")
    print(f"bytes a sample on the wire {each:.1f}, planned {capacity.WIRE}")
    assert abs(series / predicted.series - 1) <= 0.02
    assert abs(samples / float(predicted.samples) - 1) <= 0.05
    planned = {row.names[1]: row.size.series for row in one.made.plan.sizes.jobs}
    assert {job: planned[job] for job in found} == found | {"serving": found["serving"] + BUCKETS}
    assert planned.keys() - found.keys() == {capacity.RULES}
    assert capacity.WIRE / 2 < each <= capacity.WIRE

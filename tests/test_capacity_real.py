"""The prediction meets reality: forty hosts of eight GPUs and all around them, scraped with the generated files."""

from __future__ import annotations

import contextlib
import errno
import http.client
import json
import re
import time
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from fleet.monitoring import asked
from fleet.spec import MANDATORY, spec
from tocsin import capacity
from tocsin.catalog import carriers, exporter_kinds
from tocsin.diagnostics import Log
from tocsin.fleet.deadline import until
from tocsin.fleet.estate import COOLING, COUNTS, FLAVOUR, Estate
from tocsin.fleet.fleet import Fleet, usual
from tocsin.fleet.listener import Listener
from tocsin.fleet.program import free_address, running
from tocsin.pipeline import compile_spec
from tocsin.write import write
from toolbox import best

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.pipeline import Compiled

pytestmark = pytest.mark.xdist_group("servers")

NODES, GPUS, ADAPTERS = 40, 8, ["mlx5_0", "mlx5_1"]
SECONDS = 60  # for which is counted what comes in: as long as the longest interval of an exporter
GROUPS = 24  # of rules
BUCKETS = 10  # that prometheus_client's default has and the service's own histogram has not
COOLANT = {"type": "gauge", "unit": "litres/min", "layer": "facility", "job": "cdu"}


def compiled(fleet: Fleet, estate: Estate, address: str, store: str, folder: Path) -> Compiled:
    """A spec of every exporter and every signal, which says what nobody else can know, compiled and written.

    `address` is where the server will listen, `store` where it writes to.
    """
    targets = {"prometheus": "3.5", "alertmanager": "0.33", "dcgm_exporter": "4.9"}
    targets |= {"long_term": "prometheus"}
    said = json.loads(spec(fleet, targets, estate.alertmanager, "127.0.0.1:1", "5s"))
    said["retention"] = {
        "hot": {"keep": "30d"},
        "all": {"keep": "60d", "store": {"url": f"http://{store}/api/v1/write"}},
    }
    said["collection"]["servers"] = {"address": "{server}.{cluster}:" + address.rpartition(":")[2]}
    for group in said["clusters"]["east"]["nodes"].values():
        group["fabric_devices"] = ADAPTERS
    said["clusters"]["east"]["exporters"] |= estate.exporters
    said["collection"] |= {"other_series": {"node": 1, "trainer": 1}, "entities": {**COUNTS, "rule_group": GROUPS}}
    known = {f"{kind.id} {FLAVOUR}" if kind.flavours else kind.id for kind in exporter_kinds().values()}
    collected = {signal for signal, names in carriers().items() if known & {*names}}
    said["signals"]["collect"] = sorted(collected - {*MANDATORY})
    said["signals"]["define"] |= {name: {**COOLANT, "metric": name} for name in COOLING}
    path, log = folder / "spec.yaml", Log()
    path.write_text(json.dumps(said), encoding="utf-8")
    result = compile_spec(str(path), log, {})
    assert result is not None, log.sorted()
    write(result.artifacts, folder / "out")
    return result


def meters(address: str) -> dict[str, float]:
    """Prometheus' numbers about itself, those of a name added up."""
    with contextlib.closing(http.client.HTTPConnection(address, timeout=30)) as connection:
        connection.request("GET", "/metrics")
        body = connection.getresponse().read().decode()
    found: dict[str, float] = {}
    for name, value in re.findall(r"^([a-z_]+)(?:\{.*\})? (\S+)$", body, re.MULTILINE):
        found[name] = found.get(name, 0) + float(value)
    return found


def by_job(address: str) -> dict[str, int]:
    """The series that Prometheus has of each job now; recorded ones and alerts have a name or owner of ours."""
    scraped = 'count by (job) ({job!="", __name__!~".*:.*:.*|ALERTS.*"})'
    found = asked(address, f"/api/v1/query?query={quote(scraped)}")
    return {one["metric"]["job"]: int(one["value"][1]) for one in found["result"]}


def has(address: str, name: str, least: float) -> bool:
    try:
        return meters(address).get(name, 0) >= least
    except OSError:
        return False


def test_prediction_and_reality_agree(tmp_path: Path) -> None:
    """Series within 2 %, samples per second within 5 %; no more bytes are written on than predicted, and not half."""
    tool = best("prometheus")
    if tool is None:
        pytest.skip("prometheus not found: run `make tools`")
    with contextlib.ExitStack() as stack:
        try:
            fleet = stack.enter_context(Fleet(usual(NODES, GPUS)))
            estate = stack.enter_context(Estate(fleet))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                pytest.skip("this system has no loopback addresses beside 127.0.0.1")
            raise
        taken: list[int] = []
        sink = Listener(("127.0.0.1", 0), lambda _path, body: taken.append(len(body)) or "")  # type: ignore[func-returns-value]
        stack.callback(sink.stop)
        address = free_address()
        result = compiled(fleet, estate, address, f"127.0.0.1:{sink.address[1]}", tmp_path)
        for node in fleet.nodes.values():
            node.beside = estate.of_node(node.host)
            node.collect((tmp_path / "out/exporters/dcgm" / f"east-h100x{GPUS}.csv").read_text("utf-8"))
        config = tmp_path / "out/prometheus/east/prometheus.yml"
        command = [str(tool.path), f"--config.file={config}", f"--storage.tsdb.path={tmp_path}/data"]
        program = stack.enter_context(running("prometheus", [*command, f"--web.listen-address={address}"], tmp_path))

        predicted = result.plan.servers[0].size
        least = 0.97 * predicted.series
        until("its series", partial(has, address, "prometheus_tsdb_head_series", least), also=program.tail)
        time.sleep(10)  # two intervals: the last chains of rules have their values
        before, started, bytes_before = meters(address), time.monotonic(), sum(taken)
        time.sleep(SECONDS)
        after, took = meters(address), time.monotonic() - started
        written = sum(taken) - bytes_before
        found = by_job(address)

    def grown(name: str) -> float:
        return after[name] - before[name]

    series, samples = after["prometheus_tsdb_head_series"], grown("prometheus_tsdb_head_samples_appended_total") / took
    each = written / grown("prometheus_remote_storage_samples_total")
    print(f"series {series:.0f}, predicted {predicted.series}")
    print(f"samples/s {samples:.0f}, predicted {float(predicted.samples):.0f}")
    print(f"bytes a sample on the wire {each:.1f}, planned {capacity.WIRE}")
    assert abs(series / predicted.series - 1) <= 0.02
    assert abs(samples / float(predicted.samples) - 1) <= 0.05
    planned = {row.names[1]: row.size.series for row in result.plan.sizes.jobs}
    assert {job: planned[job] for job in found} == found | {"serving": found["serving"] + BUCKETS}
    assert planned.keys() - found.keys() == {capacity.RULES}
    assert capacity.WIRE / 2 < each <= capacity.WIRE

"""Storms on real servers: so many nodes fault at once that they are one page, which nobody's death takes away."""

from __future__ import annotations

import json
import re
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT
from small_world import small_world
from tocsin.diagnostics import Log
from tocsin.fleet.deadline import until
from tocsin.pipeline import compile_spec
from tocsin.stage import Stage
from tocsin.stage.servers import get
from toolbox import best

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.fleet.inbox import Message
    from tocsin.pipeline import Compiled

pytestmark = pytest.mark.xdist_group("stages")

NODES, GPUS = 200, 8
CHANGES = (
    ('"gpu-node-[01-24]"', '"gpu-node-[001-200]"'),
    ('"gpu-node-[01-16]"', '"gpu-node-[001-160]"'),
    ('"gpu-node-[23-24]"', '"gpu-node-[199-200]"'),
    ("model: h100, count: 2", f"model: h100, count: {GPUS}"),
    ('["127.0.0.1:9093"]', '["alertmanager-1:9093", "alertmanager-2:9093"]'),
    ("collection:", 'collection:\n  servers: {replicas: 2, address: "prometheus-{server}.{cluster}:9090"}'),
)
STORM, ROWS = "FaultStorm", "DCGM_FI_DEV_ROW_REMAP_FAILURE"
# How many alerts would have been told but for what inhibits them, and which of several Alertmanagers one is.
HELD_BACK = 'alertmanager_notifications_suppressed_total{reason="inhibition"}'
POSITION = "alertmanager_peer_position"


def stage_of(result: Compiled, folder: Path, **more: Any) -> Stage:
    """A stage whose servers have looked for an hour: who has not, does not know what is new."""
    tools = {name: best(name) for name in ("prometheus", "alertmanager", "promtool")}
    paths = {name: tool.path for name, tool in tools.items() if tool is not None}
    if paths.keys() != tools.keys():
        pytest.skip("prometheus, alertmanager or promtool not found: run `make tools`")
    stage = Stage(result, paths["prometheus"], paths["alertmanager"], folder, any_hour=True, **more)
    now = int(time.time())
    samples = "".join(
        f'up{{job="{job}",cluster="east",instance="past"}} 1 {at}\n'
        for job in ("prometheus", "federate_shards")
        for at in range(now - 3600, now)
    )
    past = folder / "past.om"
    past.write_text(f"# TYPE up gauge\n{samples}# EOF\n", "utf-8")
    for server in stage.scene.servers:
        data = folder / "run" / server.path.rpartition("/")[2].removesuffix(".yml") / "data"
        command = [paths["promtool"], "tsdb", "create-blocks-from", "openmetrics", past, data]
        subprocess.run(command, check=True, capture_output=True)
    return stage


def is_seen(stage: Stage, within: str) -> bool:
    """Whether every server has seen every node four times."""
    seen = [f'count(count_over_time(up{{job="{job}"}}[{within}]) >= 4)' for job in ("dcgm", "node")]
    expr = " and ".join(f"{one} == {len(stage.scene.hosts)}" for one in seen)
    return all(stage.query(f"{expr} and sum(up) == count(up)", address) for address in stage.servers.values())


def posts(stage: Stage, alert: str = STORM) -> dict[int, Message]:
    """The notifications of an alert that fires, by their numbers."""
    return {one.number: one for one in stage.inbox.messages(alert) if one.status == "firing"}


def inhibited(stage: Stage, name: str, alert: str) -> list[dict[str, str]]:
    """The labels of the alerts of a name that an Alertmanager knows and tells nobody."""
    every = json.loads(get(stage.alertmanagers[name], "/api/v2/alerts")[1])
    own = [one for one in every if one["labels"]["alertname"] == alert]
    return [one["labels"] for one in own if one["status"]["inhibitedBy"]]


def figure(stage: Stage, name: str, series: str) -> float:
    """What an Alertmanager says of itself; nothing is 0."""
    found = re.search(f"^{re.escape(series)} (\\S+)$", get(stage.alertmanagers[name], "/metrics")[1], re.MULTILINE)
    return float(found[1]) if found else 0


def test_a_storm_is_one_page_and_what_is_left_of_it_is_told(tmp_path: Path) -> None:
    """Twelve nodes fault, one of them for two owners; nine are repaired, which is the end of the storm."""
    with stage_of(small_world(), tmp_path, nodes=12, fast=10) as stage:
        hosts = stage.scene.hosts
        assert len(hosts) >= 12
        until("a past of every node", lambda: is_seen(stage, "30s"))
        for host in hosts:
            stage.site.field(host, 0, ROWS, 1)
        stage.site.flap(hosts[0])
        until("the storm", lambda: posts(stage), seconds=30)
        until("all to be held back", lambda: figure(stage, "alertmanager-1", HELD_BACK) >= len(hosts))
        until("the page of another owner", lambda: posts(stage, "FabricLinkLost"))
        (storm,) = posts(stage).values()
        assert storm.to == "gpu-platform-page"
        assert re.fullmatch(r"1\d nodes of east fault at once", storm.annotations["summary"])
        assert posts(stage, "GpuRowRemapFailure") == {}
        left = hosts[9:]
        for host in hosts[:9]:
            stage.site.field(host, 0, ROWS, 0)
        until("its end", lambda: [one for one in stage.inbox.messages(STORM) if one.status == "resolved"])
        until("what is left", lambda: len(posts(stage, "GpuRowRemapFailure")) >= len(left))
        told = [one.labels["node"] for one in stage.inbox.messages("GpuRowRemapFailure")]
        assert sorted(told) == sorted(left)
        assert len(posts(stage)) == 1


def test_a_storm_on_two_shards_is_one_page(tmp_path: Path) -> None:
    """Four nodes make it, of which no shard has as many; they are counted above."""
    result = compile_spec(str(ROOT / "tests" / "cases" / "golden" / "shards" / "spec.yaml"), Log(), {})
    assert result is not None
    with stage_of(result, tmp_path, nodes=6, fast=10) as stage:
        shards = [address for name, address in stage.servers.items() if name.startswith("shard")]
        seen = 'min(count_over_time(up{job="dcgm"}[30s])) >= 4'
        until("a past of every node", lambda: all(stage.query(seen, address) for address in shards))
        of_shard = [{labels["node"] for labels, _ in stage.query('up{job="dcgm"}', address)} for address in shards]
        hosts = [host for nodes in of_shard for host in sorted(nodes)[:2]]
        assert len(hosts) == len(set(hosts)) == 4
        for host in hosts:
            stage.site.xid(host, 0, 79)
        (storm,) = until("the storm", lambda: posts(stage)).values()
        assert storm.annotations["summary"] == "4 nodes of east fault at once"
        until("all to be held back", lambda: figure(stage, "alertmanager-1", HELD_BACK) >= len(hosts))
        told = {(one.to, one.labels["alertname"]) for one in stage.inbox.messages()}
        assert told == {("ops-page", STORM), ("heartbeat", "Watchdog")}
        assert len(posts(stage)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("victim", "later", "most"), [("first", 0, 2), ("first", 1, 1), ("second", 0, 1), ("replica-a", 0, 1)]
)
def test_a_storm_is_one_page_whoever_dies(victim: str, later: float, most: int, tmp_path: Path) -> None:
    """At the generated pace every board of two hundred nodes faults, and a server dies as soon as anybody is told.

    Of two Alertmanagers the first one tells. Where it dies at that very moment it has not said so to the second one,
    which then has to tell it again; a second later it has.
    """
    with stage_of(small_world(*CHANGES), tmp_path, nodes=NODES, replicas=2) as stage:
        until("a past of every node", lambda: is_seen(stage, "5m"), seconds=180)
        order = sorted(stage.alertmanagers, key=lambda name: figure(stage, name, POSITION))
        victim = {"first": order[0], "second": order[1]}.get(victim, victim)
        began = time.monotonic()
        for host in stage.scene.hosts:
            for gpu in range(GPUS):
                stage.site.xid(host, gpu, 79)
        first = until("the storm", lambda: next(iter(posts(stage).values()), None))
        until("the moment", lambda: time.monotonic() >= first.came + later)
        stage.kill(victim)
        boards = {board.uuid for node in stage.site.nodes.values() for board in node.boards}
        assert len(boards) == NODES * GPUS
        alive = next(name for name in order if name != victim)
        until("all to be held back", lambda: figure(stage, alive, HELD_BACK) >= len(boards))
        assert {labels["gpu_uuid"] for labels in inhibited(stage, alive, "GpuXidReset")} == boards
        told = posts(stage)
        print(f"{victim}: told {len(told)} times, first after {first.came - began:.0f} s")
        assert len(told) <= most
        assert {(one.to, one.labels["alertname"]) for one in stage.inbox.messages()} == {
            ("gpu-platform-page", STORM),
            ("heartbeat", "Watchdog"),
        }

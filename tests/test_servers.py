"""Shards, replicas and levels: what the plan says of them, and what real servers make of it."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from conftest import ROOT
from fleet.spec import spec
from tocsin import capacity
from tocsin.diagnostics import Log
from tocsin.fleet.alertmanager import startable
from tocsin.fleet.deadline import until
from tocsin.fleet.fleet import Fleet
from tocsin.fleet.node import Node
from tocsin.fleet.program import free_address, running
from tocsin.fleet.workload import Service, Trainer
from tocsin.pipeline import Compiled, compile_spec
from tocsin.write import write
from toolbox import best

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tocsin.plan.servers import Server
    from toolbox import Tool

SHARDS = ROOT / "tests" / "cases" / "golden" / "shards" / "spec.yaml"
ON_NODE = re.compile(r"(?:by|on|ignoring|without) ?\(([^)]*)\)")


def compiled(path: Path) -> Compiled:
    log = Log()
    result = compile_spec(str(path), log, {})
    assert result is not None, log.sorted()
    return result


# --- the plan ---------------------------------------------------------------------------------------------------------


def test_rules_of_a_shard_look_at_one_node_at_a_time() -> None:
    """A shard has some nodes whole: whatever is grouped or matched there has the node among its labels."""
    plan = compiled(SHARDS).plan
    rules = [rule for file in plan.rules if file.per_node for group in file.groups for rule in group.rules]
    assert len(rules) > 20
    for rule in rules:
        if rule.name in (
            "job:up:sum",
            "job:nodes_told:count",
            "cluster:label_values:count",
        ):  # what all shards have is for the server above
            continue
        assert "absent" not in rule.expr, rule.name
        for labels in ON_NODE.findall(rule.expr):
            assert "node" in labels.split(", "), f"{rule.name}: {rule.expr}"


def test_each_rule_of_a_cluster_is_evaluated_once() -> None:
    """By every shard or by the server above, never by both, but for those about the server itself."""
    plan = compiled(SHARDS).plan
    servers = {server.path: set(server.rule_files) for server in plan.servers}
    shard, above = (servers[f"prometheus/east/{name}-replica-a.yml"] for name in ("shard-0", "cluster"))
    assert shard == servers["prometheus/east/shard-1-replica-b.yml"]
    assert shard & above == {"rules/monitoring-prometheus.yml"}
    names = ("above-east", "monitoring-alertmanager", "servers-east", "slo-answered", "storms-east", "watchdog")
    assert above - shard == {f"rules/{name}.yml" for name in names}
    whole = {path.replace("-west", "-east") for path in servers["prometheus/west/replica-a.yml"]}
    assert whole == (shard | above) - {f"rules/{name}-east.yml" for name in ("above", "paged", "storms")}


def test_only_recorded_series_are_read_from_afar() -> None:
    plan = compiled(SHARDS).plan
    names = {rule.name for file in plan.rules for group in file.groups for rule in group.rules}
    reading = [job for server in plan.servers for job in server.jobs if job.matches]
    assert len(reading) == 2 + 4 + 2
    for job in reading:
        assert set(job.matches) <= names
        assert all(":" in name for name in job.matches)


def test_every_alertmanager_knows_all_others() -> None:
    members = compiled(SHARDS).plan.notifications.members
    assert {member.name: member.flags[1:] for member in members} == {
        "am-1": ("--cluster.peer=am-2:9094", "--cluster.peer=am-2:9095"),
        "am-2-0": ("--cluster.peer=am-1:9094", "--cluster.peer=am-2:9095"),
        "am-2-1": ("--cluster.peer=am-1:9094", "--cluster.peer=am-2:9094"),
    }


def test_as_many_shards_as_the_size_asks_for_and_no_more() -> None:
    """One less would let a shard hold more than it may, or a single server would do."""
    factory = compiled(SHARDS).factory
    east, most = factory.clusters["east"], factory.servers.max_series
    assert most is not None
    count = capacity.shards(factory, east)
    assert count == 2
    assert all(size.series <= most for size in capacity.servers(factory, east))
    assert capacity.of(capacity.parts(factory, east)).series > most
    assert capacity.shards(factory, factory.clusters["west"]) == 1


def test_shards_together_are_the_whole() -> None:
    factory = compiled(SHARDS).factory
    east = factory.clusters["east"]
    *shards, above = capacity.servers(factory, east)
    parts = list(capacity.parts(factory, east))
    spread = capacity.of(part for part in parts if part.spread)
    (three,) = (part for part in parts if part.job == capacity.ITSELF)
    itself = capacity.of([three._replace(hosts=three.hosts[:1])])
    assert len(three.hosts) == 3
    assert sum(shards, capacity.NOTHING) == spread + itself + itself
    rest = capacity.of(part for part in parts if not part.spread and part is not three)
    read = 6 * 2 + 2 * (2 + 2 + 5)  # of nodes, of exporters and what their source tells, and of what it asks
    assert above.series == rest.series + itself.series + read


# --- real servers -----------------------------------------------------------------------------------------------------

HOSTS = [f"127.0.0.{number}" for number in range(11, 19)]
real = pytest.mark.xdist_group("servers")


def loopback(
    fleet: Fleet, alertmanager: str, servers: dict[str, object], folder: Path, peers: Sequence[str] = ()
) -> Compiled:
    """The fleet, compiled for servers of this kind, written to `out` in the folder."""
    said = json.loads(spec(fleet, {"prometheus": "2.42", "alertmanager": "0.25"}, alertmanager, "127.0.0.1:1"))
    said["collection"]["servers"] = servers
    said["alerting"]["alertmanagers"] += peers
    path = folder / "spec.yaml"
    path.write_text(json.dumps(said), encoding="utf-8")
    result = compiled(path)
    write(result.artifacts, folder / "out")
    return result


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    nodes = [Node(host, gpus=2) for host in HOSTS]
    nodes[0].trainer, nodes[-1].service = Trainer("4711", "vision"), Service("chat")
    with Fleet(nodes) as fleet:
        yield fleet


class Prometheus:
    """A running server of a plan."""

    def __init__(self, address: str) -> None:
        self.address = address

    def ask(self, path: str, **parameters: str) -> Any:
        status, body = get(self.address, f"/api/v1/{path}?{urlencode(parameters)}")
        assert status == 200, body
        return json.loads(body)["data"]

    def query(self, expr: str) -> dict[tuple[tuple[str, str], ...], float]:
        result = self.ask("query", query=expr)["result"]
        return {tuple(sorted(series["metric"].items())): float(series["value"][1]) for series in result}


def get(address: str, path: str) -> tuple[int, str]:
    with contextlib.closing(http.client.HTTPConnection(address, timeout=30)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def is_ready(address: str) -> bool:
    try:
        return get(address, "/-/ready")[0] == 200
    except OSError:
        return False


@contextlib.contextmanager
def started(tool: Tool, servers: list[Server], folder: Path, addresses: dict[str, str]) -> Iterator[list[Prometheus]]:
    """Servers of a plan by the files that were written for them, found where `addresses` says."""
    with contextlib.ExitStack() as stack:
        running_ = []
        for server in servers:
            file, data = folder / "out" / server.path, folder / server.path.replace("/", "-")
            text = file.read_text("utf-8")
            for named, there in addresses.items():
                text = text.replace(named, there)
            text = text.replace("localhost:9]", f"'{addresses[name_of(server)]}']")
            file.write_text(text.replace(": 30s", ": 1s").replace(": 10s", ": 1s"), encoding="utf-8")
            address = addresses[name_of(server)]
            command = (
                str(tool.path),
                f"--config.file={file}",
                f"--storage.tsdb.path={data}",
                f"--web.listen-address={address}",
                "--rules.alert.resend-delay=1s",
            )
            program = stack.enter_context(running("prometheus", command, data))
            until("Prometheus to be ready", partial(is_ready, address), also=program.tail)
            running_.append(Prometheus(address))
        yield running_


def name_of(server: Server) -> str:
    """A server as its address names it: `shard-0.east`, `regional.loopback`."""
    folder, name = server.path.removesuffix(".yml").split("/")[1:]
    if folder == "_federation":
        level, _, region = name.partition("-")
        return f"{level}.{region}"
    return f"{name}.{folder}"


@real
def test_every_target_is_where_it_was_predicted(prometheus: Tool, fleet: Fleet, tmp_path: Path) -> None:
    """Each node's exporters are targets of the shard of its name, in the predicted number, and of no other."""
    result = loopback(fleet, "127.0.0.1:1", {"shards": 3, "address": "{server}.{cluster}:9"}, tmp_path)
    shards = list(result.plan.servers)[:3]
    with started(prometheus, shards, tmp_path, {name_of(one): free_address() for one in shards}) as running_:
        for index, (server, one) in enumerate(zip(shards, running_, strict=True)):
            predicted = {
                (job, host) for host in HOSTS for job in ("dcgm", "node") if capacity.shard_of(host, 3) == index
            } | {("prometheus", "")}
            active = until("its targets", partial(targets_of, one))
            assert active == predicted
            assert len(active) == server.size.targets
    assert Counter(capacity.shard_of(host, 3) for host in HOSTS).keys() == {0, 1, 2}, "every shard has some"


def targets_of(one: Prometheus) -> set[tuple[str, str]]:
    return {
        (target["labels"]["job"], target["labels"].get("node", "")) for target in one.ask("targets")["activeTargets"]
    }


@real
def test_what_shards_record_arrives_at_the_top(fleet: Fleet, tmp_path: Path) -> None:
    """Through the server above the shards, which sees every node and the SLO, the region's and the global one."""
    tool = best("prometheus")
    if tool is None:
        pytest.skip("prometheus not found: run `make tools`")
    wanted = {"shards": 2, "federation": ["edge", "regional", "global"], "address": "{server}.{cluster}:9"}
    servers = list(loopback(fleet, "127.0.0.1:1", wanted, tmp_path).plan.servers)
    named = [name_of(server) for server in servers]
    assert named == ["shard-0.east", "shard-1.east", "cluster.east", "regional.loopback", "global."]
    addresses = {name: free_address() for name in named}
    files = {f"{name}:9": address for name, address in addresses.items()}
    with started(tool, servers, tmp_path, files | addresses) as (shard, other, cluster, region, top):
        expected = "count(node:gpus_expected:count)"
        for index, one in enumerate((shard, other)):
            mine = [host for host in HOSTS if capacity.shard_of(host, 2) == index]
            assert 0 < len(mine) < len(HOSTS)
            until("its nodes", lambda one=one, mine=mine: count(one, expected) == len(mine))
        for one in (shard, other, cluster, region, top):
            until("its own page", lambda one=one: count(one, 'up{job="prometheus"}') == 1)
            assert count(one, "count(prometheus_tsdb_head_series)") == 1
            assert count(one, 'count({job="prometheus", __name__=~"go_.*"})') == 0
        for one in (cluster, region, top):
            until("every node", lambda one=one: count(one, expected) == 8)
            until("the SLO", lambda one=one: count(one, 'count(slo:total:rate5m{slo="chat-availability"})') == 1)
        at = {dict(labels)["shard"] for labels in top.query("node:gpus_expected:count")}
        assert at == {"0", "1"}
        until("all boards", lambda: count(top, "sum(node:gpus_present:count)") == 16)
        assert count(top, 'count({__name__=~"DCGM.*|gpu:.*"})') == 0
        sums = cluster.query("sum by (job) (job:up:sum)")
        assert sums == {(("job", "dcgm"),): 8, (("job", "node"),): 8}
        firing = [alert for alert in cluster.ask("alerts")["alerts"] if alert["state"] == "firing"]
        assert [alert["labels"]["alertname"] for alert in firing] == ["Watchdog"]


def count(one: Prometheus, expr: str) -> float:
    return sum(one.query(expr).values())


@real
def test_what_both_replicas_tell_is_told_once(fleet: Fleet, tmp_path: Path) -> None:
    """Two replicas see the same fault at different times; Alertmanager has one alert, whose labels name neither."""
    tool, other = best("prometheus"), best("alertmanager")
    if tool is None or other is None:
        pytest.skip("prometheus or alertmanager not found: run `make tools`")
    there = free_address()
    replicas = list(loopback(fleet, there, {"replicas": 2, "address": "{server}.{cluster}:9"}, tmp_path).plan.servers)
    command = (
        str(startable(other.path, tmp_path)),
        f"--config.file={tmp_path}/out/alertmanager/alertmanager.yml",
        f"--storage.path={tmp_path}/alertmanager-data",
        f"--web.listen-address={there}",
        "--cluster.listen-address=",
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(running("alertmanager", command, tmp_path))
        addresses = {name_of(one): free_address() for one in replicas}
        files = {f"{name}:9": address for name, address in addresses.items()}
        both = stack.enter_context(started(tool, replicas, tmp_path, files | addresses))
        for one in both:
            until("some scrapes", partial(one.query, "min(count_over_time(up[5m])) >= 5"))
        fleet.ecc(HOSTS[0], 1)
        for one in both:
            until("the alert", partial(one.query, 'ALERTS{alertname="GpuEccUncorrected", alertstate="firing"}'))
            until("its peers", partial(one.query, 'count(up{job="prometheus_peers"} == 1) == 2'))
            assert count(one, 'count({job="prometheus_peers", __name__!~"up|scrape_.*"})') == 0
            before = sent(one)
            until("both alerts to be told again", lambda one=one, before=before: sent(one) >= before + 2)
        alerts = json.loads(get(there, "/api/v2/alerts")[1])
        assert Counter(alert["labels"]["alertname"] for alert in alerts) == {"Watchdog": 1, "GpuEccUncorrected": 1}
        assert not [alert for alert in alerts if "replica" in alert["labels"]]


@real
def test_alertmanagers_find_each_other_by_their_flags(alertmanager: Tool, fleet: Fleet, tmp_path: Path) -> None:
    """Two on one host, each started with the flags of its file; both know of two."""
    plan = loopback(fleet, "127.0.0.1:1", {}, tmp_path, peers=["127.0.0.1:2"]).plan
    config = tmp_path / "out" / "alertmanager" / "alertmanager.yml"
    ports = {f":{9094 + index}": free_address()[9:] for index in range(2)}
    with contextlib.ExitStack() as stack:
        addresses = []
        for member in plan.notifications.members:
            flags = (config.parent / "flags" / f"{member.name}.args").read_text("utf-8")
            for old, new in {**ports, "0.0.0.0": "127.0.0.1"}.items():
                flags = flags.replace(old, new)
            place, address = tmp_path / member.name, free_address()
            place.mkdir()
            program = [
                str(startable(alertmanager.path, place)),
                f"--config.file={config}",
                f"--storage.path={place}/data",
            ]
            command = [*program, f"--web.listen-address={address}", *flags.split()]
            log = stack.enter_context(running(member.name, command, place))
            until("Alertmanager to be ready", partial(is_ready, address), also=log.tail)
            addresses.append(address)
        for address in addresses:
            until("both", lambda address=address: known_to(address) == 2)


def known_to(address: str) -> int:
    """Of how many Alertmanagers one knows, itself included."""
    return len(json.loads(get(address, "/api/v2/status")[1])["cluster"]["peers"])


def sent(one: Prometheus) -> float:
    """How many alerts a server has handed over."""
    body = get(one.address, "/metrics")[1]
    return sum(map(float, re.findall(r"^prometheus_notifications_sent_total\{.*\} (\S+)$", body, re.MULTILINE)))

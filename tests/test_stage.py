"""The stage: any spec on real servers, with nothing of its plan replaced but where things are."""

from __future__ import annotations

import difflib
from functools import partial
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from small_world import small_world
from tocsin.diagnostics import Log
from tocsin.emit.alertmanager import alertmanager
from tocsin.emit.prometheus import prometheus
from tocsin.fleet.deadline import until
from tocsin.pipeline import compile_spec
from tocsin.plan.rules import Alert
from tocsin.promql import parse
from tocsin.stage import Stage, scene
from tocsin.stage.adaptation import adapted, proxied, timeless
from tocsin.stage.pace import compressed, faster
from tocsin.toolerror import ToolError
from tocsin.units import Duration
from toolbox import best

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.pipeline import Compiled
    from toolbox import Tool

SPECS = [ROOT / "specs" / "ai-factory.yaml", *sorted((ROOT / "tests" / "cases" / "golden").glob("*/spec.yaml"))]
EXAMPLE = ROOT / "specs" / "ai-factory.yaml"


def compiled(path: Path) -> Compiled:
    result = compile_spec(str(path), Log(), {})
    assert result is not None
    return result


def stage_of(result: Compiled, **more: object) -> Stage:
    """A stage that is not started."""
    return Stage(result, "prometheus", "alertmanager", **more)  # type: ignore[arg-type]


# --- what is on it ----------------------------------------------------------------------------------------------------


def test_some_hosts_of_each_kind_are_on_the_stage() -> None:
    """As many as are wanted, and each application among them."""
    chosen = scene(compiled(EXAMPLE), nodes=4)
    assert chosen.hosts == ("gpu-node-01", "gpu-node-02", "gpu-node-57", "gpu-node-58")
    assert chosen.applications == {
        "serving": ("gpu-node-57", "gpu-node-58"),
        "trainer": ("gpu-node-01", "gpu-node-02"),
    }
    assert len(scene(compiled(EXAMPLE), nodes=1000).hosts) == 64


def test_a_stage_has_as_many_replicas_as_wanted() -> None:
    names = [[server.path for server in scene(compiled(EXAMPLE), replicas=count).servers] for count in (1, 2)]
    assert names == [[f"prometheus/east/replica-{one}.yml" for one in replicas] for replicas in ("a", "ab")]


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
def test_every_target_of_every_spec_has_a_page(path: Path) -> None:
    """Of each cluster, whatever discovers its targets; a page that is none would not be asked for."""
    result = compiled(path)
    for cluster in result.factory.clusters:
        stage = stage_of(result, cluster=cluster)
        jobs = {job.name for server in stage.scene.servers for job in server.jobs}
        asked = set()
        for server in adapted(result.plan, stage.scene, addresses(stage), [], "127.0.0.1:1").servers:
            for job in server.jobs:
                assert job.discovery is None
                for target in job.targets:
                    labels = dict(target.labels)
                    path_ = labels.get("__metrics_path__", "/metrics")
                    asks = f"?target={labels['__param_target']}" if "__param_target" in labels else ""
                    if job.name not in ("prometheus", "federate_shards"):  # those are real
                        assert stage.site.answer(f"http://{target.address}{path_}{asks}") is not None, job.name
                        asked.add(job.name)
        assert asked == jobs - {"prometheus", "federate_shards"}


def addresses(stage: Stage) -> dict[str, str]:
    return {server.path: "127.0.0.1:9" for server in stage.scene.servers}


def test_nothing_but_addresses_is_replaced() -> None:
    """Line by line: the server's configuration, and Alertmanager's but for its receivers."""
    result = compiled(EXAMPLE)
    chosen = scene(result, nodes=64)
    plan = adapted(result.plan, chosen, {chosen.servers[0].path: "127.0.0.1:9"}, ["127.0.0.1:8"], "127.0.0.1:7")
    generated = {artifact.path: artifact.text for artifact in result.artifacts}
    (config, *_targets) = prometheus(plan)
    gone, come = changed(generated[config.path], proxied(config.text, "127.0.0.1:6"))
    assert set(come) == {
        "  proxy_url: http://127.0.0.1:6",
        '    - targets: ["127.0.0.1:8"]',
        '  - targets: ["127.0.0.1:9"]',
        '  - files: ["../../targets/east-dcgm-deep.json"]',
    }
    assert len([line for line in come if "proxy_url" in line]) == len(chosen.servers[0].jobs)
    stored = gone.index("remote_write:"), gone.index('  - files: ["/srv/tocsin/targets/east/*.json"]')
    assert [line.strip() for line in gone[: stored[0]] + gone[stored[1] :]] == [
        "- targets: [alertmanager-1:9093, alertmanager-2:9093]",
        '- files: ["/srv/tocsin/targets/east/*.json"]',
        "refresh_interval: 30s",
        "- targets: [localhost:9090]",
    ]

    written = next(iter(alertmanager(plan))).text
    before, after = (
        text.partition("\nreceivers:\n")[0] for text in (generated["alertmanager/alertmanager.yml"], written)
    )
    assert before == after
    assert "http://127.0.0.1:7/gpu-platform-page" in written
    assert "pagerduty" not in written


def changed(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines that went, and those that came."""
    lines = list(difflib.ndiff(old.splitlines(), new.splitlines()))
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expr", "shorter"),
    [
        ("rate(a[5m])", "rate(a[20s])"),
        ("max_over_time((a)[10m:1m] offset 1h)", "max_over_time((a)[40s:4s] offset 4m)"),
        ('avg_over_time(up{node=~"x[0-9]"}[30m]) > 15', 'avg_over_time(up{node=~"x[0-9]"}[2m]) > 15'),
        ("last_over_time(a[10m] offset 1s)", "last_over_time(a[40s] offset 66ms)"),
        ("a offset -15s", "a offset -1s"),
    ],
)
def test_every_length_of_an_expression_is_divided(expr: str, shorter: str) -> None:
    assert compressed(expr, 15) == shorter
    parse(shorter)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
def test_every_rule_can_be_faster(path: Path) -> None:
    """Files that share their groups share the faster ones; every `for` is divided, and none that is there goes."""
    plan = compiled(path).plan
    sooner = faster(plan, 15)
    assert len({id(file.groups) for file in sooner.rules}) == len({id(file.groups) for file in plan.rules})
    for old, new in zip(plan.rules, sooner.rules, strict=True):
        for before, after in zip(old.groups, new.groups, strict=True):
            for rule, made in zip(before.rules, after.rules, strict=True):
                parse(made.expr)
                if isinstance(rule, Alert) and isinstance(made, Alert):
                    assert made.hold == rule.hold // 15
    wait = sooner.notifications.root.wait
    assert wait == Duration.of(seconds=2)


def test_at_any_hour_nobody_waits() -> None:
    root = timeless(compiled(EXAMPLE).plan).notifications.root
    assert not [route for route in root.children if route.muted or route.active]


# --- its site ---------------------------------------------------------------------------------------------------------


def test_faults_show_on_the_pages() -> None:
    stage = stage_of(small_world())
    site, host = stage.site, "gpu-node-01"

    def said(port: int) -> str:
        site._fresh.clear()  # what was asked for a moment ago is told again
        return site.answer(f"http://{host}:{port}/metrics") or ""

    sound = said(9400)
    assert 'err_code="0"' in sound
    site.xid(host, 0, 79)
    assert 'err_code="79"' in said(9400)
    site.vanish(host, 1)
    assert 'gpu="1"' not in said(9400)
    site.return_(host, 1)
    assert 'gpu="1"' in said(9400)
    site.vanish(host)
    assert said(9400) == "\n"
    site.return_(host)
    site.unlabelled(host)
    assert 'UUID=""' in said(9400)
    site.link_down(host)
    assert 'node_infiniband_state_id{device="mlx5_0",port="1"} 1' in said(9100)
    site.link_up(host)
    assert 'node_infiniband_state_id{device="mlx5_0",port="1"} 4' in said(9100)
    site.node_shows(host, "node_filesystem_readonly", 1)
    assert 'node_filesystem_readonly{device="device-0",mountpoint="0",fstype="0"} 1' in said(9100)
    with pytest.raises(KeyError):
        site.node_shows(host, "node_nothing", 1)
    site.loss(host)
    assert 'train_loss{slurm_job_id="4711"} nan' in said(8000)
    site.exporter_down(host)
    assert site.answer(f"http://{host}:9400/metrics") is None
    site.exporter_up(host)
    assert said(9400)
    site.node_down(host)
    assert site.answer(f"http://{host}:9100/metrics") is None
    site.node_up(host)
    assert said(9100)
    assert site.answer("http://elsewhere:9100/metrics") is None


def test_an_objective_can_fail() -> None:
    site = stage_of(small_world(), nodes=24).site
    serving = site.applications["serving", "gpu-node-23"]
    site.errors("chat-availability", 0.5)
    meters = serving.objectives["chat-availability"].meters
    assert [round(meter.rate) for meter, _, _ in meters] == [25, 25]
    site.errors("chat-availability", 0)
    assert [round(meter.rate) for meter, _, _ in meters] == [50, 0]
    site.errors("training-progress", 0.6, "gpu-node-02")
    ((steps, *_),) = site.applications["trainer", "gpu-node-02"].objectives["training-progress"].meters
    ((others, *_),) = site.applications["trainer", "gpu-node-03"].objectives["training-progress"].meters
    assert (steps.rate, others.rate) == (pytest.approx(200), pytest.approx(500))
    with pytest.raises(KeyError):
        site.errors("no-such-objective", 1)


# --- real servers -----------------------------------------------------------------------------------------------------


@pytest.mark.xdist_group("stages")
def test_it_is_sound_on_every_prometheus(prometheus: Tool, tmp_path: Path) -> None:
    """Hosts that resolve nowhere are scraped through the proxy; all rules are healthy, and nothing fires."""
    with Stage(small_world(), prometheus.path, None, tmp_path, nodes=4, fast=15) as stage:
        until("some scrapes", lambda: stage.query("min(count_over_time(up[1m])) >= 3"))
        targets = stage.ask("targets")["activeTargets"]
        assert {target["health"] for target in targets} == {"up"}
        assert {target["labels"]["node"] for target in targets if "node" in target["labels"]} == {*stage.scene.hosts}
        unhealthy = [
            rule for group in stage.ask("rules")["groups"] for rule in group["rules"] if rule["health"] == "err"
        ]
        assert unhealthy == []
        assert {labels["alertname"] for labels, _ in stage.query("ALERTS")} == {"Watchdog"}
        assert stage.query('{violates!=""}') == []
        programs = list(stage.programs.values())
    assert all(program.process.poll() is not None for program in programs)


@pytest.mark.xdist_group("stages")
def test_a_server_that_does_not_start_is_told_with_its_log(tmp_path: Path) -> None:
    tool = best("prometheus")
    if tool is None:
        pytest.skip("prometheus not found: run `make tools`")
    with pytest.raises(ToolError, match="alertmanager does not start"):
        Stage(small_world(), tool.path, tool.path, tmp_path, nodes=1).__enter__()


@pytest.mark.xdist_group("stages")
def test_shards_and_the_server_above_them_are_one_cluster(tmp_path: Path) -> None:
    """What shards record is read through the proxy from where they really are."""
    tool = best("prometheus")
    if tool is None:
        pytest.skip("prometheus not found: run `make tools`")
    result = compiled(ROOT / "tests" / "cases" / "golden" / "shards" / "spec.yaml")
    with Stage(result, tool.path, None, tmp_path, nodes=6, fast=15) as stage:
        assert [*stage.servers] == ["shard-0-replica-a", "shard-1-replica-a", "cluster-replica-a"]
        until("every node", partial(stage.query, "count(node:gpus_expected:count) == 6"))

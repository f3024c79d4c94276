"""From the spec to the pager: a fleet on loopback, watched by real servers that run what was generated.

One fleet is scraped by a Prometheus of every version found, each with an Alertmanager of its age. The tests run in the
order of the file: first the fleet is sound, then things happen to it.
"""

from __future__ import annotations

import contextlib
import errno
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest
import yaml

from fleet.monitoring import Monitoring, build, pairs, started
from fleet.spec import GRAFANA, HEARTBEAT, LABELS, RUNBOOKS, group
from tocsin.catalog import MONITORS
from tocsin.fleet.counters import listed
from tocsin.fleet.deadline import until
from tocsin.fleet.fleet import Fleet
from tocsin.fleet.inbox import Inbox
from tocsin.fleet.node import Node
from tocsin.fleet.port import shown
from tocsin.fleet.program import running
from tocsin.fleet.workload import Service, Trainer
from tocsin.units import Duration
from toolbox import INSTALL, best

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tocsin.fleet.inbox import Message

pytestmark = pytest.mark.xdist_group("servers")

PAIRS = pairs()
NO_SERVERS = pytest.param("", marks=pytest.mark.skip(reason=f"no Prometheus or no Alertmanager found. {INSTALL}"))

TRAINING, TWO_JOBS, CABLED, SPARE = (f"127.0.0.{number}" for number in (11, 12, 13, 14))

# The exporters' own names for what the schema names otherwise, and what is not to be stored at all.
RAW = set(
    "UUID uuid Hostname hostname hpc_job jobid slurm_job_id account err_msg "
    "DCGM_FI_DRIVER_VERSION DCGM_FI_SYSTEM_DRIVER_VERSION".split()
)
BY_PROMETHEUS = re.compile("up|scrape_.*")  # series that it adds to every scrape


# --- the world --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Four hosts in the middle of an upgrade of dcgm-exporter, which one of them runs in a container.

    One has the real node_exporter where there is one.
    """
    folder = tmp_path_factory.mktemp("fleet")
    exporter = best("prometheus-node-exporter")
    sysfs = folder / "sys" if exporter else None
    nodes = [
        Node(TRAINING, gpus=4, jobs=("4711",), trainer=Trainer("4711", "vision", "slurm_job_id")),
        Node(TWO_JOBS, gpus=4, jobs=("4712", "4713"), release=(4, 8, 3), pod="dcgm-exporter-x7k2p"),
        Node(CABLED, gpus=4, jobs=("4714",), trainer=Trainer("4714", "vision", "jobid"), sysfs=sysfs),
        Node(SPARE, model="l40s", gpus=2, adapters=0, release=(4, 8, 3), service=Service("chat")),
    ]
    with contextlib.ExitStack() as stack:
        try:
            fleet = stack.enter_context(Fleet(nodes))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                pytest.skip("this system has no loopback addresses beside 127.0.0.1")
            raise
        if exporter:
            listen = f"--web.listen-address={CABLED}:{fleet.ports['node']}"
            stack.enter_context(running("node_exporter", [str(exporter.path), f"--path.sysfs={sysfs}", listen], folder))
        yield fleet


@pytest.fixture(scope="module")
def all_monitoring(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Monitoring]]:
    """Every pair, compiled for, started, and the exporters restarted with the generated counters files."""
    folder = tmp_path_factory.mktemp("monitoring")
    with contextlib.ExitStack() as stack, ThreadPoolExecutor() as pool:
        inboxes = [stack.enter_context(Inbox()) for _ in PAIRS]
        folders = [folder / str(pair) for pair in PAIRS]
        built = list(pool.map(build, PAIRS, [fleet] * len(PAIRS), inboxes, folders))
        for node in fleet.nodes.values():
            node.collect(_counters(built[-1].output, node))
        running_ = [
            stack.enter_context(started(monitoring, folder / "run"))
            for monitoring, folder in zip(built, folders, strict=True)
        ]
        yield {str(monitoring.pair): monitoring for monitoring in running_}


@pytest.fixture(params=[pytest.param(str(pair), id=str(pair)) for pair in PAIRS] or [NO_SERVERS])
def monitoring(request: pytest.FixtureRequest, all_monitoring: dict[str, Monitoring]) -> Iterator[Monitoring]:
    """One of the pairs. What it prints is shown where a test fails."""
    one = all_monitoring[request.param]
    yield one
    print(one.logs())


@pytest.fixture(scope="module")
def known(all_monitoring: dict[str, Monitoring]) -> dict[str, Monitoring]:
    """Every pair, once it has seen the sound fleet for some scrapes: only then is a fault news."""
    for one in all_monitoring.values():
        until("some scrapes", partial(one.query, "min(count_over_time(up[5m])) >= 5"), also=one.logs)
        until("every target", partial(one.query, "count(up == 1) == count(up)"), also=one.logs)
    return all_monitoring


def _counters(output: Path, node: Node) -> str:
    return (output / "exporters" / "dcgm" / f"east-{group(node)}.csv").read_text("utf-8")


# --- a sound fleet ----------------------------------------------------------------------------------------------------


def test_every_target_is_up(monitoring: Monitoring, fleet: Fleet) -> None:
    """What the spec names is scraped, all of it and nothing else."""

    def up() -> set[tuple[str, str, str]]:
        targets = monitoring.ask("targets")["activeTargets"]
        all_up = all(target["health"] == "up" for target in targets)
        labels = [target["labels"] for target in targets if all_up]
        return {(one["job"], one.get("node", ""), one["instance"]) for one in labels}

    monitors = {("prometheus", "", monitoring.prometheus), ("alertmanager", "", monitoring.alertmanager)}
    assert until("all targets to be up", up) == {*fleet.endpoints(), *monitors}


def test_every_rule_is_healthy(monitoring: Monitoring) -> None:
    """Each rule of the generated files was evaluated, and none failed."""
    files = (monitoring.output / "rules").glob("*.yml")
    groups = [part for file in files for part in yaml.safe_load(file.read_text("utf-8"))["groups"]]
    written = sorted(rule.get("record") or rule["alert"] for part in groups for rule in part["rules"])

    # Long windows are evaluated every two minutes.
    def evaluated() -> bool:
        return all(rule["health"] != "unknown" for rule in monitoring.rules())

    until("all rules to be evaluated", evaluated, seconds=150)
    assert [rule for rule in monitoring.rules() if rule["health"] != "ok" or rule.get("lastError")] == []
    assert sorted(rule["name"] for rule in monitoring.rules()) == written


def test_stored_series_carry_the_schema(known: dict[str, Monitoring], monitoring: Monitoring) -> None:
    """No exporter's own label is left on any series, and no value lies outside the label's pattern."""
    stored = monitoring.ask("series", **{"match[]": '{__name__=~".+"}'})
    for labels in stored:
        assert not RAW & labels.keys(), labels
        assert not [label for label in labels if label.startswith("exported_")], labels
        assert not [label for label in labels.keys() & LABELS if not re.fullmatch(LABELS[label], labels[label])], labels
    scraped = [labels for labels in stored if "instance" in labels and labels.get("job") not in MONITORS]
    assert all({"cluster", "node", "job"} <= labels.keys() for labels in scraped)
    assert all(labels["instance"].startswith(f"{labels['node']}:") for labels in scraped)


def test_boards_and_jobs_are_the_fleets(known: dict[str, Monitoring], monitoring: Monitoring, fleet: Fleet) -> None:
    """Whatever an exporter's release calls it, every board has its node, its gpu_uuid and the jobs it works for."""
    stored = monitoring.ask("series", **{"match[]": '{job="dcgm", instance!=""}'})
    boards = [labels for labels in stored if not BY_PROMETHEUS.fullmatch(labels["__name__"])]
    seen = {(labels["__name__"], labels["node"], labels["gpu_uuid"], labels.get("job_id", "")) for labels in boards}
    assert len(seen) == len(boards)
    assert seen == {
        (metric.name, host, board.uuid, job)
        for host, node in fleet.nodes.items()
        for metric in listed(_counters(monitoring.output, node))
        for board in node.boards
        for job in node.jobs or ("",)
    }


def test_boards_are_counted_once(known: dict[str, Monitoring], monitoring: Monitoring, fleet: Fleet) -> None:
    """Two jobs on a board are two copies of its series and one board."""
    wanted = {host: float(node.gpus) for host, node in fleet.nodes.items()}
    for count in ("node:gpus_expected:count", "node:gpus_present:count"):
        assert {labels["node"]: value for labels, value in monitoring.query(count)} == wanted


def test_applications_belong_to_a_job_and_a_tenant(known: dict[str, Monitoring], monitoring: Monitoring) -> None:
    """The job's id by one name, the tenant by the account or by the spec; the scraper's node and job win."""
    steps = [labels for labels, _ in monitoring.query("rate(train_steps_total[1m]) > 0")]
    assert {(at["node"], at["job"], at["job_id"], at["tenant"]) for at in steps} == {
        (TRAINING, "trainer", "4711", "vision"),
        (CABLED, "trainer", "4714", "vision"),
    }
    requests = [labels for labels, _ in monitoring.query("rate(inference_requests_total[1m]) > 0")]
    assert {(at["node"], at["job"], at["service"], at["tenant"]) for at in requests} == {
        (SPARE, "serving", "chat", "assist")
    }


def test_no_error_is_zero_errors(known: dict[str, Monitoring], monitoring: Monitoring) -> None:
    """A service that never failed has no series of failures; its objective has a value all the same."""
    errors = monitoring.query("slo:errors:rate5m / (slo:total:rate5m > 0)")
    assert [(labels["slo"], labels["service"], value) for labels, value in errors] == [("chat-availability", "chat", 0)]


def test_the_real_node_exporter_knows_the_catalogues_names(
    known: dict[str, Monitoring], monitoring: Monitoring
) -> None:
    """Every metric that the catalogue says node_exporter has is read from Linux' own files, in the stated unit."""
    if best("prometheus-node-exporter") is None:
        pytest.skip("prometheus-node-exporter not found: run `make tools`")
    stored = monitoring.ask("series", **{"match[]": f'{{job="node", node="{CABLED}"}}'})
    assert {metric.name for metric in shown()} <= {labels["__name__"] for labels in stored}
    speeds = monitoring.query(f'node_infiniband_rate_bytes_per_second{{node="{CABLED}"}}')
    assert {(labels["device"], value) for labels, value in speeds} == {("mlx5_0", 50e9), ("mlx5_1", 50e9)}


def test_alertmanager_goes_by_the_generated_file(monitoring: Monitoring) -> None:
    """The loaded configuration has the routes and receivers that were written."""
    written = yaml.safe_load((monitoring.output / "alertmanager" / "alertmanager.yml").read_text("utf-8"))
    loaded = yaml.safe_load(monitoring.loaded())
    assert [receiver["name"] for receiver in loaded["receivers"]] == [one["name"] for one in written["receivers"]]
    assert _receivers(loaded["route"]) == _receivers(written["route"])


def _receivers(route: dict[str, object]) -> list[object]:
    children = route.get("routes", [])
    assert isinstance(children, list)
    return [route["receiver"], *(_receivers(child) for child in children)]


def test_a_sound_fleet_disturbs_nobody(known: dict[str, Monitoring], monitoring: Monitoring) -> None:
    """Nothing fires and nothing is about to, so nobody was told anything."""
    assert [alert["alertname"] for alert in monitoring.alerts()] == ["Watchdog"]
    assert {message.to for message in monitoring.inbox.messages()} <= {"heartbeat"}


# --- things happen ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unplugged(known: dict[str, Monitoring], fleet: Fleet) -> str:
    """The adapter whose cable was pulled, on the host of the real node_exporter."""
    fleet.link_down(CABLED, "mlx5_1")
    return "mlx5_1"


@pytest.fixture(scope="module")
def fallen(known: dict[str, Monitoring], unplugged: str, fleet: Fleet) -> str:
    """The gpu_uuid of a GPU that fell off the bus; two jobs were on it.

    A code is news for as long as its board was seen without it: long enough here for servers that are late. It stays
    until every pair has seen it. The cable was pulled just before, so that the two pages are waited for at once.
    """
    for one in known.values():
        until("a past", partial(one.query, "min(count_over_time(DCGM_FI_DEV_GPU_TEMP[5m])) >= 20"), also=one.logs)
    fleet.xid(TWO_JOBS, 1, 79)
    for one in known.values():
        until("the XID", partial(one.query, 'ALERTS{alertname="GpuXidReset"}'), also=one.logs)
    return fleet.nodes[TWO_JOBS].boards[1].uuid


def test_a_gpu_off_the_bus_pages_the_owner_of_the_silicon(monitoring: Monitoring, fallen: str) -> None:
    """Once, for all its copies, with everything that the owner needs, and nobody else."""
    told = until("the page", lambda: monitoring.inbox.messages("GpuXidReset"), also=monitoring.logs)
    assert [(message.to, message.status) for message in told] == [("gpu-platform-page", "firing")]
    assert told[0].labels == {
        "alertname": "GpuXidReset",
        "severity": "page",
        "owner": "gpu-platform",
        "layer": "silicon",
        "signal": "xid",
        "cluster": "east",
        "region": "loopback",
        "node": TWO_JOBS,
        "gpu_uuid": fallen,
        "err_code": "79",
    }
    assert told[0].annotations == {
        "summary": f"XID 79 on a GPU of {TWO_JOBS}: drain the node and reset the GPU",
        "description": f"{fallen} on {TWO_JOBS} reported XID 79 within the last hour. What to do: "
        "drain the node and reset the GPU.",
        "runbook_url": f"{RUNBOOKS}/gpu-platform/GpuXidReset",
        "dashboard_url": f"{GRAFANA}/d/loopback-gpus?var-cluster=east&var-node={TWO_JOBS}&var-gpu_uuid={fallen}",
    }


def test_a_pulled_cable_pages_the_owner_of_the_fabric(monitoring: Monitoring, unplugged: str) -> None:
    """The port by its device, and nobody but the network team."""
    told = until("the page", lambda: monitoring.inbox.messages("FabricLinkLost"), also=monitoring.logs)
    assert [(message.to, message.status) for message in told] == [("network-page", "firing")]
    assert told[0].labels == {
        "alertname": "FabricLinkLost",
        "severity": "page",
        "owner": "network",
        "layer": "fabric",
        "signal": "fabric_errors",
        "cluster": "east",
        "region": "loopback",
        "node": CABLED,
        "device": unplugged,
        "port": "1",
        "error": "link_downed",
    }
    assert told[0].annotations["runbook_url"] == f"{RUNBOOKS}/network/FabricLinkLost"


@pytest.fixture(scope="module")
def troubled(known: dict[str, Monitoring], fallen: str, fleet: Fleet) -> Fleet:
    """A fleet with everything else the matter with it; the GPU that fell off the bus is gone."""
    fleet.vanish(TWO_JOBS, 1)
    fleet.throttle(TRAINING, 0)
    fleet.ecc(CABLED, 2)
    fleet.exporter_down(SPARE, "dcgm")
    fleet.errors("chat", 0.5)
    return fleet


@pytest.mark.parametrize(
    ("alert", "place"),
    [
        ("GpuXidReset", {"owner": "gpu-platform", "severity": "page", "node": TWO_JOBS, "state": "firing"}),
        ("GpuLost", {"owner": "gpu-platform", "severity": "page", "node": TWO_JOBS}),
        ("GpuThrottled", {"owner": "gpu-platform", "severity": "ticket", "node": TRAINING, "reason": "hw_thermal"}),
        ("GpuEccUncorrected", {"owner": "gpu-platform", "severity": "page", "node": CABLED}),
        ("DcgmExporterDown", {"owner": "gpu-platform", "severity": "ticket", "node": SPARE, "job": "dcgm"}),
        ("ErrorBudgetBurn", {"owner": "serving", "severity": "page", "service": "chat", "window": "1h"}),
    ],
)
def test_each_fault_is_noticed(monitoring: Monitoring, troubled: Fleet, alert: str, place: dict[str, str]) -> None:
    """It fires, or waits for its `for`, at its place; the XID still does although its GPU has no series any more."""
    gone = f'DCGM_FI_DEV_GPU_TEMP{{gpu_uuid="{troubled.nodes[TWO_JOBS].boards[1].uuid}"}}'
    until("the GPU to be gone", lambda: not monitoring.query(gone), also=monitoring.logs)

    def noticed() -> bool:
        return any(place.items() <= found.items() for found in monitoring.alerts() if found["alertname"] == alert)

    until(f"{alert} at {place}", noticed, also=lambda: f"{monitoring.alerts()}\n{monitoring.logs()}")


def test_nobody_was_told_of_what_is_not_theirs(monitoring: Monitoring, troubled: Fleet) -> None:
    """In the whole story every message went where its own labels say."""
    until("the page", lambda: monitoring.inbox.messages("GpuEccUncorrected"), also=monitoring.logs)
    for message in monitoring.inbox.messages():
        theirs = f"{message.labels['owner']}-{message.labels['severity']}"
        assert message.to == ("heartbeat" if message.labels["alertname"] == "Watchdog" else theirs), message


def test_the_heartbeat_keeps_its_pace(known: dict[str, Monitoring], monitoring: Monitoring) -> None:
    """It came as often as the spec says, whatever happened: a watcher outside that waits for it was not alarmed."""
    beats = until("heartbeats", lambda: _enough(monitoring.inbox.messages("Watchdog")), also=monitoring.logs)
    assert {beat.to for beat in beats} == {"heartbeat"}
    # A ratio of two spans of one clock: a late beat hardly moves it, a beat that is left out each time doubles it.
    gap = (beats[-1].came - beats[0].came) / (len(beats) - 1)
    assert gap < 1.5 * float(Duration.parse(HEARTBEAT).seconds)


def _enough(beats: list[Message]) -> list[Message]:
    return beats if len(beats) >= 5 else []

"""Discovery from sources that answer: a real Prometheus with the generated configuration, asked what its targets are.

The sources are small ones on loopback. Nobody listens where the targets are: found is what is asked, not up.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from conftest import ROOT
from fleet import nameserver
from fleet.kubernetes import ApiServer, Pod, pod
from tocsin.catalog import MONITORS
from tocsin.diagnostics import Log
from tocsin.fleet.deadline import until
from tocsin.fleet.listener import Listener
from tocsin.fleet.program import free_address, running
from tocsin.pipeline import compile_spec
from toolbox import best

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tocsin.fleet.program import Program
    from toolbox import Tool

Labels = dict[str, str]
Targets = list[tuple[str, Labels, str, str]]  # the address that is scraped, its labels, interval and timeout

pytestmark = pytest.mark.xdist_group("servers")

GOLDEN = ROOT / "tests" / "cases" / "golden"


def configured(folder: Path, cluster: str, golden: str = "discovered", **source: Any) -> Path:
    """The configuration of one cluster of a golden spec, with some settings of its source changed."""
    spec = yaml.safe_load((GOLDEN / golden / "spec.yaml").read_text("utf-8"))
    ((way, settings),) = spec["clusters"][cluster]["discovery"].items()
    settings = {key: value for key, value in {**settings, **source}.items() if value is not None}
    spec["clusters"] = {cluster: {**spec["clusters"][cluster], "discovery": {way: settings}}}
    if way != "kubernetes":
        spec["tenants"] = {"vision": {"accounts": ["vision"]}}
    if "trainer" not in spec["clusters"][cluster].get("jobs", {}):
        spec["signals"] = {"mandatory": ["xid"]}
    written = folder / "spec.yaml"
    written.write_text(json.dumps(spec), "utf-8")
    log = Log()
    result = compile_spec(str(written), log, {})
    assert result, log.sorted()
    for artifact in result.artifacts:
        path = folder / "out" / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(artifact.text, "utf-8")
    return folder / "out" / "prometheus" / cluster / "prometheus.yml"


@contextlib.contextmanager
def watching(prometheus: Tool, configuration: Path, folder: Path) -> Iterator[tuple[str, Program]]:
    """The address of a Prometheus that goes by the configuration, and its program."""
    address = free_address()
    command = (
        str(prometheus.path),
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={address}",
    )
    with running("prometheus", command, folder) as program:
        yield address, program


def targets(address: str) -> dict[str, Targets]:
    """The active targets by job, but for those of the monitoring itself; none while the server starts."""
    connection = http.client.HTTPConnection(address, timeout=30)
    with contextlib.closing(connection), contextlib.suppress(OSError):
        connection.request("GET", "/api/v1/targets?state=active")
        answer = connection.getresponse()
        active = json.loads(answer.read())["data"]["activeTargets"] if answer.status == 200 else []
        found: dict[str, Targets] = {}
        for one in sorted(active, key=lambda target: (target["scrapePool"], target["scrapeUrl"])):
            seen = (one["scrapeUrl"], one["labels"], one["scrapeInterval"], one["scrapeTimeout"])
            if one["scrapePool"] not in MONITORS:
                found.setdefault(one["scrapePool"], []).append(seen)
        return found
    return {}


def settled(address: str, wanted: dict[str, Targets], program: Program) -> None:
    """In the end the targets are these."""
    seen: dict[str, Targets] = {}

    def look() -> bool:
        seen.clear()
        seen.update(targets(address))
        return sum(map(len, seen.values())) >= sum(map(len, wanted.values()))

    until("the targets", look, also=program.tail)
    assert seen == wanted


EXPORTER, TRAINING, INFERENCE = ("15s", "10s"), ("5s", "5s"), ("30s", "10s")


def target(
    cluster: str, job: str, node: str, address: str, pace: tuple[str, str] = EXPORTER, **tenant: str
) -> tuple[str, Labels, str, str]:
    """A target as it must be; `pace` is interval and timeout."""
    labels = {"cluster": cluster, "job": job, "node": node, "instance": address, **tenant}
    return f"http://{address}/metrics", labels, *pace


# --- HTTP -------------------------------------------------------------------------------------------------------------

HOSTILE = {
    "cluster": "other",
    "job": "dcgm",
    "tenant": "assist",
    "instance": "other",
    "node": "gpu-32",
    "__scheme__": "https",
    "__metrics_path__": "/admin",
    "__param_target": "10.0.0.1",
    "__scrape_interval__": "1ms",
    "__scrape_timeout__": "1ms",
}
LISTS: dict[str, list[dict[str, Any]]] = {
    "/dcgm": [{"targets": ["127.0.0.31:9"], "labels": {"node": "gpu-31"}}, {"targets": ["127.0.0.32:9"]}],
    "/node": [],
    "/trainer": [
        {"targets": ["127.0.0.31:8"], "labels": {"node": "gpu-31", "rack": "7"}},
        {"targets": ["127.0.0.32:8"], "labels": HOSTILE},
        {"targets": ["127.0.0.33:8/path"], "labels": HOSTILE},
    ],
}


def test_lists_are_fetched_and_not_believed(prometheus: Tool, tmp_path: Path) -> None:
    inventory = Listener(("127.0.0.1", 0), lambda path, _: json.dumps(LISTS[path]), "application/json")
    urls = {job: "http://{}:{}/{}".format(*inventory.address, job) for job in ("dcgm", "node", "trainer")}
    configuration = configured(tmp_path, "lists", urls=urls, token_file=None)
    wanted = {
        "dcgm": [
            target("lists", "dcgm", "gpu-31", "127.0.0.31:9"),
            target("lists", "dcgm", "127.0.0.32", "127.0.0.32:9"),
        ],
        "trainer": [
            target("lists", "trainer", "gpu-31", "127.0.0.31:8", TRAINING),
            target("lists", "trainer", "gpu-32", "127.0.0.32:8", TRAINING),
        ],
    }
    try:
        with watching(prometheus, configuration, tmp_path / "run") as (address, program):
            settled(address, wanted, program)
    finally:
        inventory.stop()


# --- Kubernetes -------------------------------------------------------------------------------------------------------

DCGM, NODE = {"app": "nvidia-dcgm-exporter"}, {"app.kubernetes.io/name": "prometheus-node-exporter"}
GPU, CHAT = {"app": "trainer", "tier": "gpu"}, {"app": "chat"}


def annotated(**said: str) -> Labels:
    """The annotations of a pod that is to be scraped."""
    return {f"prometheus.io/{key.replace('_', '-')}": value for key, value in {"scrape": "true", **said}.items()}


PODS: list[Pod] = [
    pod("gpu-operator", "dcgm-1", "127.0.1.1", "gpu-01", DCGM, ports=[9400, 8080]),
    pod("gpu-operator", "dcgm-2", "127.0.1.2", "gpu-02", DCGM),
    pod("gpu-operator", "dcgm-old", "127.0.1.3", "gpu-03", DCGM, phase="Failed"),
    pod("elsewhere", "dcgm-4", "127.0.1.4", "gpu-04", DCGM, ports=[9400]),
    pod("monitoring", "node-1", "127.0.2.1", "gpu-01", NODE, ports=[9100]),
    pod("vision", "train-0", "127.0.3.1", "gpu-01", GPU, annotations=annotated(port="9000", scrape_interval="10s")),
    pod("vision-batch", "train-1", "127.0.3.2", "gpu-02", GPU, annotations=annotated(scrape_interval="1s")),
    pod("shared", "train-2", "127.0.3.3", "gpu-02", {**GPU, "example.com/team": "assist"}, annotations=annotated()),
    pod("shared", "train-3", "127.0.3.4", "gpu-03", {**GPU, "cluster": "other"}, annotations=annotated(port="9/x")),
    pod("shared", "train-4", "127.0.3.5", "gpu-03", GPU),
    pod("shared", "train-5", "127.0.3.6", "gpu-03", {"app": "trainer"}, annotations=annotated()),
    pod("vision", "chat-0", "127.0.4.1", "gpu-04", {**CHAT, "example.com/team": "vision"}, annotations=annotated()),
]
LATE = pod("assist", "train-6", "127.0.3.7", "gpu-04", GPU, annotations=annotated(scrape_interval="2m"))
FOUND = {
    "dcgm": [
        target("pods", "dcgm", "gpu-01", "127.0.1.1:9400"),
        target("pods", "dcgm", "gpu-02", "127.0.1.2:9400"),
    ],
    "node": [target("pods", "node", "gpu-01", "127.0.2.1:9100")],
    "trainer": [
        target("pods", "trainer", "gpu-01", "127.0.3.1:9000", ("10s", "5s"), tenant="vision"),
        target("pods", "trainer", "gpu-02", "127.0.3.2:8000", TRAINING, tenant="vision"),
        target("pods", "trainer", "gpu-02", "127.0.3.3:8000", TRAINING, tenant="assist"),
        target("pods", "trainer", "gpu-03", "127.0.3.4:8000", TRAINING),
    ],
    "chat": [target("pods", "chat", "gpu-04", "127.0.4.1:8002", INFERENCE, tenant="assist")],
}


def test_pods_are_listed_and_watched(prometheus: Tool, tmp_path: Path) -> None:
    """Those that are there, and one that comes later; each job asks for its own pods and no others."""
    with ApiServer(PODS) as api:
        configuration = configured(tmp_path, "pods", api_server=api.url, token_file=None, ca_file=None)
        if not knows("kubernetes_sd_configs", configuration, prometheus):
            pytest.skip("this build of Prometheus has no Kubernetes in it")
        with watching(prometheus, configuration, tmp_path / "run") as (address, program):
            settled(address, FOUND, program)
            api.add(LATE)
            late = target("pods", "trainer", "gpu-04", "127.0.3.7:8000", ("2m", "5s"), tenant="assist")
            settled(address, {**FOUND, "trainer": [*FOUND["trainer"], late]}, program)
            assert api.selectors == {
                "app=nvidia-dcgm-exporter",
                "app.kubernetes.io/name=prometheus-node-exporter",
                "app=trainer,tier=gpu",
                "app=chat",
            }


def knows(field: str, configuration: Path, prometheus: Tool) -> bool:
    """Whether a build of this version has a kind of discovery in it: distributions leave some out."""
    promtool = best("promtool", prometheus.version)
    assert promtool, "every Prometheus comes with its promtool"
    done = subprocess.run(
        [promtool.path, "check", "config", configuration], capture_output=True, text=True, check=False
    )
    return f"field {field} not found" not in done.stdout + done.stderr


# --- DNS --------------------------------------------------------------------------------------------------------------

RECORDS: nameserver.Records = {
    "_dcgm._tcp.records.example.com": [
        ("SRV", "gpu-21.records.example.com", 9400),
        ("SRV", "gpu-22.records.example.com", 9401),
        ("SRV", "gpu-22.elsewhere.example.org", 9400),
    ],
    "gpu.example.com": [("A", "10.0.0.1", 0), ("A", "10.0.0.2", 0)],
}


@pytest.mark.parametrize(
    ("cluster", "wanted"),
    [
        (
            "records",
            {
                "gpu-21.records.example.com:9400": "gpu-21",
                "gpu-22.records.example.com:9401": "gpu-22",
                "gpu-22.elsewhere.example.org:9400": "gpu-22.elsewhere.example.org",
            },
        ),
        ("addresses", {"10.0.0.1:9401": "10.0.0.1", "10.0.0.2:9401": "10.0.0.2"}),
    ],
)
def test_names_are_asked_for(promtool: Tool, tmp_path: Path, cluster: str, wanted: Labels) -> None:
    """By Prometheus' own resolver, which reads /etc/resolv.conf and nothing else: so it gets one of its own."""
    if not nameserver.can_be_alone():
        pytest.skip("this system gives no namespaces to whoever runs the tests")
    configuration, records = configured(tmp_path, cluster), tmp_path / "records.json"
    records.write_text(json.dumps(RECORDS), "utf-8")
    found = asked(promtool, configuration, records, "1s") or asked(promtool, configuration, records, "10s")
    assert {one["instance"]: one["node"] for one in found} == wanted
    assert {(one["cluster"], one["job"], one["__scrape_interval__"]) for one in found} == {(cluster, "dcgm", "15s")}


def asked(promtool: Tool, configuration: Path, records: Path, timeout: str) -> list[Labels]:
    """The labels of the targets that promtool finds; it waits for the whole of its timeout whatever it has found."""
    command = [str(promtool.path), "check", "service-discovery", f"--timeout={timeout}", str(configuration), "dcgm"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(
        nameserver.alone(records, command), capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [one["labels"] for one in json.loads(done.stdout) or []]

"""Kubernetes as a scheduler, on a real Prometheus: pods name jobs and tenants, and deep series follow the pods."""

from __future__ import annotations

import contextlib
import errno
import json
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from fleet.kubernetes import ApiServer, Pod, pod
from fleet.monitoring import asked, is_ready
from fleet.spec import group as name_of
from fleet.spec import spec
from test_discovery_live import EXPORTER, annotated, configured, knows, settled, watching
from tocsin.capacity.load import RULES
from tocsin.catalog import MONITORS
from tocsin.diagnostics import Log
from tocsin.fleet.deadline import until
from tocsin.fleet.fleet import Fleet
from tocsin.fleet.node import Node
from tocsin.fleet.work import Pod as Worker
from tocsin.pipeline import compile_spec
from tocsin.write import write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tocsin.fleet.program import Program
    from tocsin.pipeline import Compiled
    from toolbox import Tool

pytestmark = pytest.mark.xdist_group("servers")

FIRST, SECOND = "127.0.0.71", "127.0.0.72"
JOB = "batch.kubernetes.io/job-name"
TRAINER = Worker("vision", "train-7-0-x9k2p", {JOB: "train-7", "tenant": "assist", "app": "trainer"})
SERVING = Worker("assist", "chat-6d5f-abcde")
DEEP = "DCGM_FI_PROF_SM_ACTIVE"


@contextlib.contextmanager
def listening(nodes: list[Node]) -> Iterator[Fleet]:
    """A fleet of these nodes."""
    with contextlib.ExitStack() as stack:
        try:
            fleet = stack.enter_context(Fleet(nodes))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                pytest.skip("this system has no loopback addresses beside 127.0.0.1")
            raise
        yield fleet


def compiled(fleet: Fleet, folder: Path, **collection: Any) -> Compiled:
    """The fleet's spec under Kubernetes, compiled and written; the exporters have their counters files."""
    said = json.loads(spec(fleet, {"prometheus": "3.5", "alertmanager": "0.33"}, "127.0.0.1:1", "127.0.0.1:1"))
    said["targets"]["dcgm_exporter"] = "4.8.3"
    for group in said["clusters"]["east"]["nodes"].values():
        group["fabric_devices"] = ["mlx5_0", "mlx5_1"]
    said["labels"]["job_id"] = {"pattern": "[a-z-]+/[a-z0-9-]+"}
    said["signals"] |= {"define": {}, "collect": ["fb_memory"]}
    said["slos"] = {}
    said["tenants"] = {name: {"namespaces": [name]} for name in ("vision", "assist")}
    said["collection"] |= {"other_series": {"node": 2}, **collection}
    path, log = folder / "spec.yaml", Log()
    path.write_text(json.dumps(said), encoding="utf-8")
    result = compile_spec(str(path), log, {})
    assert result is not None, log.sorted()
    write(result.artifacts, folder / "out")
    for node in fleet.nodes.values():
        counters = folder / "out/exporters/dcgm"
        node.collect((counters / f"east-{name_of(node)}.csv").read_text("utf-8"))
        if "deep" in collection:
            node.collect_deep((counters / f"east-{name_of(node)}-deep.csv").read_text("utf-8"))
    return result


@contextlib.contextmanager
def watched(tool: Tool, folder: Path) -> Iterator[tuple[str, Program]]:
    """The address of a Prometheus with the files that were written, and its program."""
    with watching(tool, folder / "out/prometheus/east/prometheus.yml", folder / "run") as (address, program):
        until("Prometheus to be ready", partial(is_ready, address), also=program.tail)
        yield address, program


def query(address: str, expr: str) -> list[tuple[dict[str, str], float]]:
    """Labels and value of each series that an expression yields now."""
    result = asked(address, f"/api/v1/query?{urlencode({'query': expr})}")["result"]
    return [(series["metric"], float(series["value"][1])) for series in result]


def boards(address: str, metric: str) -> dict[tuple[str, str], dict[str, str]]:
    """What each board's series says of who works on it, by node and index."""
    asked_for = ("container", "job_id", "namespace", "pod", "tenant", "app")
    return {
        (labels["node"], labels["gpu"]): {name: labels[name] for name in asked_for if name in labels}
        for labels, _ in query(address, metric)
    }


TRAINS = {
    "container": "main",
    "job_id": "vision/train-7",
    "namespace": "vision",
    "pod": "train-7-0-x9k2p",
    "tenant": "vision",
    "app": "trainer",
}
SERVES = {
    "container": "main",
    "job_id": "assist/chat-6d5f-abcde",
    "namespace": "assist",
    "pod": "chat-6d5f-abcde",
    "tenant": "assist",
}


def test_deep_series_follow_the_pods(prometheus: Tool, tmp_path: Path) -> None:
    """Boards that nobody has are seen, and not deeply; whoever gets one, its series name job and tenant.

    A pod's own label `tenant` is no word on whose it is.
    """
    nodes = [Node(FIRST, gpus=2, on_pods=True, pods={0: (TRAINER,)}), Node(SECOND, gpus=2, on_pods=True)]
    everywhere = {(host, gpu) for host in (FIRST, SECOND) for gpu in ("0", "1")}
    with listening(nodes) as fleet:
        port = fleet.ports["dcgm-deep"]
        compiled(fleet, tmp_path, deep={"only": "active_jobs", "interval": "500ms", "port": port})
        with watched(prometheus, tmp_path) as (address, program):
            until("deep series", lambda: boards(address, DEEP), also=program.tail)
            until("all boards", lambda: boards(address, "DCGM_FI_DEV_GPU_TEMP").keys() == everywhere, also=program.tail)
            assert boards(address, DEEP) == {(FIRST, "0"): TRAINS}
            assert boards(address, "DCGM_FI_DEV_GPU_TEMP") == {at: {} for at in everywhere} | {(FIRST, "0"): TRAINS}

            def answers() -> bool:
                found = {labels["node"]: value for labels, value in query(address, 'up{job="dcgm-deep"}')}
                return found == {FIRST: 1, SECOND: 1}

            until("both exporters of deep series", answers, also=program.tail)
            (deep, usual) = (
                {labels["__name__"] for labels, _ in query(address, f'{{job="{job}", gpu!=""}}')}
                for job in ("dcgm-deep", "dcgm")
            )
            assert deep
            assert not deep & usual
            nodes[0].pods, nodes[1].pods = {}, {1: (SERVING,)}
            until("the next pod", lambda: boards(address, DEEP) == {(SECOND, "1"): SERVES}, also=program.tail)


# --- shared boards ----------------------------------------------------------------------------------------------------

WHOLE, SPLIT, SLICED = "127.0.0.73", "127.0.0.74", "127.0.0.75"


def sharing_nodes() -> list[Node]:
    """Two whole boards, two of three MIG instances each, two on which two pods take turns: a pod for each share.

    Their fabric is RoCE.
    """

    def pods(host: str, count: int) -> dict[int, tuple[Worker, ...]]:
        names = [[f"pod-{host[-2:]}-{gpu}-{number}" for number in range(count)] for gpu in range(2)]
        return {gpu: tuple(Worker("vision", name) for name in row) for gpu, row in enumerate(names)}

    return [
        Node(WHOLE, gpus=2, on_pods=True, pods=pods(WHOLE, 1), fabric="roce"),
        Node(SPLIT, gpus=2, on_pods=True, pods=pods(SPLIT, 3), sharing="mig", shares=3, fabric="roce"),
        Node(SLICED, gpus=2, on_pods=True, pods=pods(SLICED, 2), sharing="time_slicing", shares=2, fabric="roce"),
    ]


def scraped(address: str) -> dict[str, int]:
    """The series of each job, those that Prometheus adds included, and those that rules made."""
    expr = "sum by (job) (scrape_samples_post_metric_relabeling + 5)"
    found = {labels["job"]: int(value) for labels, value in query(address, expr) if labels["job"] not in MONITORS}
    unwatched = 'alertname!~"Prometheus.*|Alertmanager.*"'  # which have no Alertmanager here, and say so
    recorded = query(address, f'{{__name__=~"(?:gpu|node|port|job):.+"}} or {{__name__=~"ALERTS.*", {unwatched}}}')
    return found | {RULES: len(recorded)}


def firing(address: str) -> list[tuple[str, str]]:
    """The alerts about boards that fire, with their nodes."""
    expr = 'ALERTS{alertstate="firing", alertname=~"Gpu.*|NodeGpus.*|Nvlink.*"}'
    return sorted((labels["alertname"], labels["node"]) for labels, _ in query(address, expr))


def test_shares_are_counted_once_where_boards_are_meant(prometheus: Tool, tmp_path: Path) -> None:
    """As many series come as are predicted, as many boards are found as there are, and a fault is one alert."""
    with listening(sharing_nodes()) as fleet:
        port = fleet.ports["dcgm-deep"]
        result = compiled(fleet, tmp_path, deep={"only": "active_jobs", "interval": "1s", "port": port})
        predicted = {row.names[1]: row.size.series for row in result.plan.sizes.jobs if row.names[1] not in MONITORS}
        with watched(prometheus, tmp_path) as (address, program):
            until(
                "what is predicted",
                lambda: scraped(address) == predicted,
                also=lambda: f"{predicted} is predicted, {scraped(address)} found",
            )
            present = {labels["node"]: value for labels, value in query(address, "node:gpus_present:count")}
            assert present == dict.fromkeys((WHOLE, SPLIT, SLICED), 2)
            instances = {
                (labels["gpu_i_id"], labels["gpu_i_profile"], labels["job_id"])
                for labels, _ in query(address, f'{DEEP}{{node="{SPLIT}", gpu="0"}}')
            }
            assert instances == {(str(7 + n), "1g.10gb", f"vision/pod-74-0-{n}") for n in range(3)}
            jobs = {labels["job_id"] for labels, _ in query(address, f'{DEEP}{{node="{SLICED}", gpu="1"}}')}
            assert jobs == {f"vision/pod-75-1-{n}" for n in range(2)}
            assert firing(address) == []
            for host in (WHOLE, SPLIT, SLICED):
                fleet.ecc(host, 0)
            told = [("GpuEccUncorrected", host) for host in (WHOLE, SPLIT, SLICED)]
            until("one alert a board", lambda: firing(address) == told, also=program.tail)
            fleet.nodes[WHOLE].ports[1].meters["node_infiniband_local_ack_timeout_errors_total"].add(3)
            expr = "port:roce_errors_uncorrected:rises15m > 0"
            risen = {"node": WHOLE, "device": "mlx5_1", "error": "local_ack_timeout_errors"}
            until(
                "what RoCE lost",
                lambda: [risen.items() <= found.items() for found, _ in query(address, expr)] == [True],
            )
            fleet.vanish(SPLIT, 1)
            expr = "node:gpus_expected:count - node:gpus_present:count > 0"
            lacking = [({"cluster": "east", "node": SPLIT}, 1.0)]
            until("the lost board", lambda: query(address, expr) == lacking, also=program.tail)


# --- pods that are scraped themselves ---------------------------------------------------------------------------------

SPEC = "kubernetes"
PODS: list[Pod] = [
    pod("gpu-operator", "dcgm-1", "127.0.1.1", "gpu-01", {"app": "nvidia-dcgm-exporter"}),
    pod("monitoring", "deep-1", "127.0.1.2", "gpu-01", {"app": "dcgm-exporter-deep"}),
    pod("monitoring", "node-1", "127.0.2.1", "gpu-01", {"app.kubernetes.io/name": "prometheus-node-exporter"}),
    pod("vision", "a-0", "127.0.3.1", "gpu-01", {"app": "trainer", JOB: "a"}, annotations=annotated()),
    pod(
        "vision-batch",
        "b-worker-0",
        "127.0.3.2",
        "gpu-02",
        {"app": "trainer", JOB: "b-worker", "jobset.sigs.k8s.io/jobset-name": "b"},
        annotations=annotated(),
    ),
    pod("elsewhere", "c-x9k2p", "127.0.3.3", "gpu-02", {"app": "trainer"}, annotations=annotated()),
]


def found(
    job: str, node: str, at: str, interval: str = EXPORTER[0], **more: str
) -> tuple[str, dict[str, str], str, str]:
    """A target as Prometheus shows it."""
    labels = {"cluster": "pods", "instance": at, "job": job, "node": node, **more}
    timeout = "5s" if interval == "5s" else "10s"
    return f"http://{at}/metrics", labels, interval, timeout


def trainer(node: str, at: str, job_id: str, name: str, **more: str) -> tuple[str, dict[str, str], str, str]:
    """A trainer's pod."""
    return found("trainer", node, at, pod=name, namespace=job_id.partition("/")[0], job_id=job_id, **more)


FOUND = {
    "dcgm": [found("dcgm", "gpu-01", "127.0.1.1:9400")],
    "dcgm-deep": [found("dcgm-deep", "gpu-01", "127.0.1.2:9401", "5s")],
    "node": [found("node", "gpu-01", "127.0.2.1:9100")],
    "trainer": [
        trainer("gpu-01", "127.0.3.1:8000", "vision/a", "a-0", tenant="vision"),
        trainer("gpu-02", "127.0.3.2:8000", "vision-batch/b", "b-worker-0", tenant="vision"),
        trainer("gpu-02", "127.0.3.3:8000", "elsewhere/c-x9k2p", "c-x9k2p"),
    ],
}


def test_pods_that_are_scraped_have_the_names_that_boards_have(prometheus: Tool, tmp_path: Path) -> None:
    """The job of a trainer and of its board are one: by the label that stands first, or else by the pod."""
    with ApiServer(PODS) as api:
        configuration = configured(tmp_path, "pods", SPEC, api_server=api.url)
        if not knows("kubernetes_sd_configs", configuration, prometheus):
            pytest.skip("this build of Prometheus has no Kubernetes in it")
        with watching(prometheus, configuration, tmp_path / "run") as (address, program):
            beside = {f"{name}": [found_beside(name)] for name in ("kube-state-metrics", "kueue")}
            settled(address, {**FOUND, **beside}, program)


def found_beside(job: str) -> tuple[str, dict[str, str], str, str]:
    """An exporter that does not stand on the nodes."""
    at = f"{job}:8080"
    return f"http://{at}/metrics", {"cluster": "pods", "instance": at, "job": job}, *EXPORTER

"""Deep collection: what it means, what becomes of it, and that Prometheus follows the jobs of a node."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from conftest import ROOT
from tocsin.catalog import profiling_signals
from tocsin.diagnostics import Log
from tocsin.fleet.deadline import until
from tocsin.fleet.exposition import Family, page
from tocsin.fleet.program import free_address, running
from tocsin.pipeline import Compiled, compile_spec
from tocsin.verify.scripts import judge_scripts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from toolbox import Tool

MINIMAL = (ROOT / "tests/cases/ok/minimal.yaml").read_text("utf-8")


def compiled(folder: Path, collection: dict[str, Any], mandatory: str = "[xid, throttle_reasons]") -> Compiled:
    """The smallest spec with a section `collection`."""
    path = folder / "spec.yaml"
    text = MINIMAL.replace("[xid, throttle_reasons]", mandatory)
    path.write_text(f"{text}\ncollection: {json.dumps(collection)}\n", "utf-8")
    log = Log()
    result = compile_spec(str(path), log, {})
    assert result is not None, log.sorted()
    assert not log.sorted()
    return result


def texts(result: Compiled) -> dict[str, str]:
    return {artifact.path: artifact.text for artifact in result.artifacts}


def fields(csv: str) -> list[str]:
    return [line.split(",")[0] for line in csv.splitlines() if not line.startswith("#")]


def deep_job(files: dict[str, str]) -> dict[str, Any]:
    jobs = yaml.safe_load(files["prometheus/east/prometheus.yml"])["scrape_configs"]
    (job,) = (job for job in jobs if job["job_name"] == "dcgm-deep")
    return dict(job)


DEEP: dict[str, Any] = {"only": "active_jobs"}


def test_deep_is_what_needs_the_profiling_module_and_is_not_mandatory(tmp_path: Path) -> None:
    result = compiled(tmp_path, {"deep": DEEP}, "[xid, hbm_activity]")
    assert result.factory.deep
    assert set(result.factory.deep.signals) == set(profiling_signals()) - {"hbm_activity"}
    assert {"sm_active", "sm_occupancy", "tensor_active", "nvlink_throughput"} <= set(result.factory.deep.signals)
    files = texts(result)
    deep, usual = (fields(files[f"exporters/dcgm/east-h100{end}.csv"]) for end in ("-deep", ""))
    assert not set(deep) & set(usual)
    assert {"DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_NVLINK_TX_BYTES", "DCGM_FI_PROF_NVLINK_RX_BYTES"} <= set(deep)
    assert "DCGM_FI_PROF_DRAM_ACTIVE" in usual
    assert all(field.startswith("DCGM_FI_PROF_") for field in deep)


def test_without_the_section_nothing_of_it_is_there(tmp_path: Path) -> None:
    files = texts(compiled(tmp_path, {}))
    assert not [path for path in files if "slurm" in path or "deep" in path]
    assert not [path for path, text in files.items() if "dcgm-deep" in text or "hpc-job" in text]


@pytest.mark.parametrize(
    ("collection", "interval", "refresh", "usual"),
    [
        ({"deep": DEEP}, "15s", 15000, 15000),
        ({"intervals": {"training": "5s"}, "deep": DEEP}, "5s", 5000, 15000),
        ({"intervals": {"training": "5s"}, "deep": {**DEEP, "interval": "10s"}}, "10s", 10000, 15000),
        ({"intervals": {"default": "30s"}, "refresh": "10s", "deep": {**DEEP, "refresh": "1s"}}, "15s", 1000, 10000),
    ],
)
def test_every_exporter_reads_as_often_as_it_is_scraped(
    tmp_path: Path, collection: dict[str, Any], interval: str, refresh: int, usual: int
) -> None:
    files = texts(compiled(tmp_path, collection))
    assert deep_job(files)["scrape_interval"] == interval
    assert f"--collect-interval {refresh} " in files["exporters/dcgm/east-h100-deep.csv"]
    assert f"--collect-interval {usual} " in files["exporters/dcgm/east-h100.csv"]


def test_the_second_exporter_has_its_own_door_and_shares_the_rest(tmp_path: Path) -> None:
    files = texts(compiled(tmp_path, {"deep": {**DEEP, "port": 9500, "jobs": "/run/a b"}}))
    head = {end: files[f"exporters/dcgm/east-h100{end}.csv"].split("\nDCGM")[0] for end in ("-deep", "")}
    assert "--address :9500" in head["-deep"]
    assert "--address" not in head[""]
    assert all("--hpc-job-mapping-dir '/run/a b'" in text for text in head.values())
    assert all("--remote-hostengine-info localhost:5555" in text for text in head.values())
    assert "\nport=9500\n" in files["exporters/slurm/east-prolog.sh"]


@pytest.mark.parametrize("folder", ["/a b", "/it's", '/a"b', "/$(id)", "/`id`", "/a{b,c}d", "/~/#x", "/a: b", "/%s"])
def test_prometheus_reads_the_folder_that_is_written(tmp_path: Path, promtool: Tool, folder: str) -> None:
    files = texts(compiled(tmp_path, {"deep": {**DEEP, "targets": folder}}))
    assert deep_job(files)["file_sd_configs"] == [{"files": [f"{folder}/east/*.json"], "refresh_interval": "30s"}]
    configuration = tmp_path / "prometheus.yml"
    configuration.write_text(files["prometheus/east/prometheus.yml"].replace("../../", f"{tmp_path}/"), "utf-8")
    command = [promtool.path, "check", "config", "--syntax-only", configuration]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_the_deep_series_have_the_labels_of_the_others(tmp_path: Path) -> None:
    files = texts(compiled(tmp_path, {"deep": DEEP}))
    jobs = yaml.safe_load(files["prometheus/east/prometheus.yml"])["scrape_configs"]
    usual = next(job for job in jobs if job["job_name"] == "dcgm")
    assert deep_job(files)["metric_relabel_configs"] == usual["metric_relabel_configs"]


def test_no_rule_fires_where_deep_series_are_absent(tmp_path: Path, promtool: Tool) -> None:
    """Whatever reads a deep series yields nothing in a world in which exporters answer and nobody works."""
    result = compiled(tmp_path, {"deep": DEEP})
    deep = [metric.name for metric in result.factory.metrics.values() if metric.signal in profiling_signals()]
    rules = [rule for file in result.plan.rules for group in file.groups for rule in group.rules]
    reading = [rule.expr for rule in rules if any(name in rule.expr for name in deep)]
    assert reading, "no rule reads a deep series: nothing would be proven"
    idle = [f'{{__name__="up", job="{job}", cluster="east", node="gpu-01"}}' for job in ("dcgm", "node")]
    idle += ['DCGM_FI_DEV_GPU_TEMP{cluster="east", node="gpu-01", gpu_uuid="GPU-1", gpu="0", job="dcgm"}']
    test = {
        "interval": "15s",
        "input_series": [{"series": series, "values": "1x240"} for series in idle],
        "promql_expr_test": [{"expr": expr, "eval_time": "30m", "exp_samples": []} for expr in reading],
    }
    (tmp_path / "test.yml").write_text(yaml.safe_dump({"tests": [test]}), "utf-8")
    command = [promtool.path, "test", "rules", tmp_path / "test.yml"]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_a_script_that_no_shell_can_read_is_not_written(tmp_path: Path) -> None:
    result = compiled(tmp_path, {"deep": DEEP})
    (script,) = (artifact for artifact in result.artifacts if artifact.path.endswith("epilog.sh"))
    for text, codes in ((script.text, []), (script.text.replace("jobs=", "jobs='"), ["VFY115"])):
        broken = script._replace(text=text)
        path = tmp_path / script.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        log = Log()
        judge_scripts({script.path: broken}, tmp_path, log)
        assert [told.code for told in log.sorted()] == codes
        assert all(told.span.route == "collection.deep" for told in log.sorted())


# --- live -------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def exporter(jobs: Path) -> Iterator[int]:
    """The port of a deep exporter on 127.0.0.1, which names the jobs of GPU 0 as dcgm-exporter does."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            ids = (jobs / "0").read_text("utf-8").split() if (jobs / "0").exists() else []
            labels: list[dict[str, str]] = [{"hpc_job": id_} for id_ in ids] or [{}]
            samples = [({"gpu": "0", "UUID": "GPU-1", **more}, 0.5) for more in labels]
            text = page([Family("DCGM_FI_PROF_SM_ACTIVE", "gauge", "x", samples)]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the library calls it by
            """Tell nobody."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def laid_out(result: Compiled, folder: Path) -> Path:
    for path, text in texts(result).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


@pytest.mark.xdist_group("servers")
def test_prometheus_scrapes_a_node_exactly_while_it_works(tmp_path: Path, prometheus: Tool) -> None:
    jobs, targets, address = tmp_path / "jobs", tmp_path / "targets", free_address()
    targets.mkdir()
    with exporter(jobs) as port:
        deep = {**DEEP, "interval": "200ms", "port": port, "jobs": str(jobs), "targets": str(targets)}
        out = laid_out(compiled(tmp_path, {"deep": deep}), tmp_path / "out")
        (targets / "east").mkdir()  # Prometheus watches what is there; a later folder is seen at its next look

        def run(script: str, job: str) -> None:
            environment = {"SLURM_JOB_ID": job, "SLURM_JOB_GPUS": "0", "SLURMD_NODENAME": "127.0.0.1"}
            subprocess.run(["/bin/sh", out / f"exporters/slurm/east-{script}.sh"], check=True, env=environment)

        def series(metric: str) -> list[dict[str, str]]:
            query = urllib.parse.urlencode({"query": f'{metric}{{job="dcgm-deep"}}'})
            with urllib.request.urlopen(f"http://{address}/api/v1/query?{query}", timeout=30) as answer:
                return [found["metric"] for found in json.load(answer)["data"]["result"]]

        def ready() -> bool:
            with contextlib.suppress(OSError):
                return bool(urllib.request.urlopen(f"http://{address}/-/ready", timeout=30).status == 200)
            return False

        command = [str(prometheus.path), f"--config.file={out}/prometheus/east/prometheus.yml"]
        command += [f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address={address}"]
        with running("prometheus", command, tmp_path) as program:
            until("Prometheus to be ready", ready, also=program.tail)
            time.sleep(1)
            assert series("up") == []
            run("prolog", "4711")
            (found,) = until("the first scrape", lambda: series("DCGM_FI_PROF_SM_ACTIVE"), also=program.tail)
            wanted = {"cluster": "east", "node": "127.0.0.1", "gpu_uuid": "GPU-1", "job_id": "4711", "gpu": "0"}
            rest = {"__name__": "DCGM_FI_PROF_SM_ACTIVE", "job": "dcgm-deep", "instance": f"127.0.0.1:{port}"}
            assert found == wanted | rest
            run("prolog", "4712")
            until("both jobs", lambda: {s["job_id"] for s in series(found["__name__"])} == {"4711", "4712"})
            run("epilog", "4711")
            until("one job", lambda: [s["job_id"] for s in series(found["__name__"])] == ["4712"])
            run("epilog", "4712")
            until("the node to be left alone", lambda: series("up") == [], also=program.tail)
            assert series(found["__name__"]) == []

"""Exporters beside dcgm and node: what their jobs ask, how often, and what is kept of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from conftest import ROOT
from tocsin.catalog import MONITORS, carriers, exporter_kinds, metrics_of
from tocsin.check.queries import labels_of
from tocsin.diagnostics import Log
from tocsin.pattern import matches
from tocsin.pipeline import Compiled, compile_spec, understand
from tocsin.units import Duration

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.catalog.kinds import ExporterKind
    from tocsin.plan.servers import ScrapeJob

GOLDEN = ROOT / "tests" / "cases" / "golden"
EVERY = GOLDEN / "every-exporter" / "spec.yaml"
MINIMAL = (ROOT / "tests" / "cases" / "ok" / "minimal.yaml").read_text("utf-8")
README = (ROOT / "README.md").read_text("utf-8")
PARTS = ("_bucket", "_sum", "_count")


@pytest.fixture(scope="module")
def every() -> Compiled:
    compiled = compile_spec(str(EVERY), Log(), {})
    assert compiled is not None
    return compiled


@pytest.fixture(scope="module")
def jobs(every: Compiled) -> dict[str, ScrapeJob]:
    return {job.name: job for job in every.plan.servers[0].jobs}


def written(compiled: Compiled) -> dict[str, Any]:
    """The scrape configurations by job, as Prometheus reads them."""
    text = next(a.text for a in compiled.artifacts if a.path.startswith("prometheus/"))
    return {job["job_name"]: job for job in yaml.safe_load(text)["scrape_configs"]}


def test_the_golden_spec_has_every_exporter(jobs: dict[str, ScrapeJob]) -> None:
    assert set(jobs) == {*MONITORS, "trainer", *(kind.job for kind in exporter_kinds().values())}


def test_no_exporter_is_asked_more_often_than_it_is_fit_for(every: Compiled, jobs: dict[str, ScrapeJob]) -> None:
    for exporter in every.factory.clusters["north"].exporters:
        job = jobs[exporter.kind.job]
        assert job.interval == max(exporter.kind.least, Duration.of(seconds=30))
        said = written(every)[job.name]
        assert said["scrape_interval"] == str(job.interval)
        assert said["scrape_timeout"] == str(min(job.interval, exporter.kind.timeout))
    assert {name for name, job in jobs.items() if job.interval == Duration.of(minutes=1)} == {
        "smartctl",
        "redfish",
        "infiniband",
        "slurm",
        "bmc",
    }


def test_a_node_is_said_only_where_the_exporter_stands_on_one(jobs: dict[str, ScrapeJob]) -> None:
    for kind in exporter_kinds().values():
        for target in jobs[kind.job].targets:
            labels = dict(target.labels)
            assert labels["cluster"] == "north"
            assert ("node" in labels) == (kind.stands == "node")


def test_every_target_of_a_job_has_an_instance_of_its_own(jobs: dict[str, ScrapeJob]) -> None:
    """Two targets of one instance would both claim its `up`."""
    for job in jobs.values():
        instances = [dict(target.labels).get("instance", target.address) for target in job.targets]
        assert len(set(instances)) == len(instances), job.name


def test_slurm_is_asked_for_the_pages_that_are_needed_and_no_other(jobs: dict[str, ScrapeJob]) -> None:
    asked = {(target.address, dict(target.labels)["__metrics_path__"]) for target in jobs["slurm"].targets}
    pages = ("/metrics/jobs", "/metrics/nodes", "/metrics/scheduler")
    assert asked == {(f"slurmctld-{number}:6817", page) for number in (1, 2) for page in pages}


def test_a_proxy_is_asked_for_each_host(jobs: dict[str, ScrapeJob]) -> None:
    assert [(target.address, dict(target.labels)) for target in jobs["bmc"].targets] == [
        ("idrac-exporter:9348", {"cluster": "north", "instance": host, "__param_target": host})
        for host in ("bmc-01", "bmc-02")
    ]


def test_what_belongs_to_a_signal_is_kept_and_nothing_else(every: Compiled, jobs: dict[str, ScrapeJob]) -> None:
    for kind in exporter_kinds().values():
        keeps = [step for step in jobs[kind.job].relabel if step.action == "keep"]
        assert bool(keeps) == (kind.id not in ("dcgm", "node"))
        for step in keeps:
            own = [metric for metric in every.factory.metrics.values() if metric.exporter == kind.job]
            series = [m.name + part for m in own for part in (PARTS if m.type == "histogram" else ("",))]
            assert all(matches(step.regex, name) for name in series)
            flavour = "native" if kind.flavours else ""
            others = {metric.name for metric in metrics_of(kind.id, flavour)} - {metric.name for metric in own}
            assert not [name for name in others if matches(step.regex, name)]
            assert not matches(step.regex, "go_goroutines")


def test_labels_get_their_names_in_the_schema(jobs: dict[str, ScrapeJob]) -> None:
    renamed = {
        (name, step.source[0], step.target)
        for name, job in jobs.items()
        for step in job.relabel
        if step.target and step.regex == "(.+)" and name not in ("dcgm", "node")
    }
    assert ("slurm-job", "slurmjobid", "job_id") in renamed
    assert ("vllm", "model_name", "model") in renamed
    assert ("nvidia-gpu", "uuid", "gpu_uuid") in renamed
    for name, old, _ in renamed:
        drops = [step.regex for step in jobs[name].relabel if step.action == "labeldrop"]
        assert any(matches(regex, old) for regex in drops)


def test_a_metric_beside_the_nodes_has_no_node() -> None:
    named = {metric.name: metric for kind in ("vllm", "slurm_job") for metric in metrics_of(kind)}
    assert "node" not in labels_of(named["vllm:num_requests_waiting"])
    assert "node" in labels_of(named["slurm_job_memory_usage"])
    native = {metric.name: metric for metric in metrics_of("slurm", "native")}
    assert "node" in labels_of(native["slurm_node_gpus"]), "its own label says which"


def factory_of(text: str, tmp_path: Path) -> Any:
    path = tmp_path / "spec.yaml"
    path.write_text(text, "utf-8")
    log = Log()
    factory = understand(str(path), log, {})
    assert factory is not None, log.sorted()
    return factory


def test_what_is_collected_is_what_the_spec_names(tmp_path: Path) -> None:
    plain = factory_of(MINIMAL, tmp_path)
    assert "gpu_temp_margin" not in plain.signals
    assert not [name for name in plain.metrics if not name.startswith(("DCGM_", "node_infiniband_", *MONITORS))]
    more = factory_of(MINIMAL.replace("mandatory: [", "collect: [gpu_temp_margin], mandatory: ["), tmp_path)
    assert {*more.metrics} - {*plain.metrics} == {"DCGM_FI_DEV_GPU_TEMP_LIMIT"}
    assert not more.signals["gpu_temp_margin"].mandatory


def test_a_base_signal_is_collected_where_its_exporter_is_scraped(tmp_path: Path) -> None:
    exporters = '    exporters: {kueue: {at: ["kueue:8080"]}}\n    discovery:'
    more = factory_of(MINIMAL.replace("    discovery:", exporters), tmp_path)
    base = {signal for signal in more.signals if "kueue" in carriers().get(signal, ())}
    assert base == {"kueue_pending"}


def test_a_job_may_be_called_as_an_exporter_that_is_not_scraped(tmp_path: Path) -> None:
    job = '    jobs: {triton: {workload: inference, hosts: "gpu-[01-02]", port: 8002}}\n    discovery:'
    assert factory_of(MINIMAL.replace("    discovery:", job), tmp_path).clusters


def test_a_liquid_is_measured_by_a_job_of_the_cluster(tmp_path: Path) -> None:
    """A pump that the facility's own gateway speaks for needs no exporter of its own."""
    jobs = '    jobs: {pumps: {workload: inference, hosts: "gpu-[01-02]", port: 8002}}\n'
    define = "".join(
        f"{name}: {{metric: {name}, type: gauge, unit: x, layer: facility, job: pumps}}, "
        for name in ("coolant_flow", "coolant_supply_temp")
    )
    text = MINIMAL.replace("    discovery:", f"    cooling: liquid\n{jobs}    discovery:").replace(
        "mandatory: [", f"define: {{{define}}}, mandatory: ["
    )
    assert factory_of(text, tmp_path).clusters["east"].cooling == "liquid"


def test_what_an_objective_is_about_is_collected(tmp_path: Path) -> None:
    exporters = '    exporters: {triton: {at: ["triton:8002"]}}\n    discovery:'
    slo = """
slos:
  inferences:
    {owner: ops, objective: 99%, period: 30d, ratio: {bad: nv_inference_exec_count, total: nv_inference_count}}
"""
    text = MINIMAL.replace("    discovery:", exporters)
    assert "triton_throughput" not in factory_of(text, tmp_path).signals
    assert "triton_throughput" in factory_of(text + slo, tmp_path).signals


@pytest.mark.parametrize("kind", exporter_kinds().values(), ids=lambda kind: kind.id)
def test_the_readme_says_what_is_known_of_an_exporter(kind: ExporterKind) -> None:
    row = next(line for line in README.splitlines() if line.startswith(f"| `{kind.id}`"))
    known = " / ".join(str(len(metrics_of(kind.id, flavour))) for flavour in kind.flavours or ("",))
    assert row.endswith(f"| `{kind.job}` | {'the spec maps them' if kind.mapped else known} |")
    assert all(flavour in row for flavour in kind.flavours)

"""Kubernetes as a scheduler, as it is written: jobs, flags, and what stays with Slurm where a factory has both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from conftest import ROOT
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec

if TYPE_CHECKING:
    from pathlib import Path

MINIMAL: dict[str, Any] = yaml.safe_load((ROOT / "tests/cases/ok/minimal.yaml").read_text("utf-8"))
GPU = {"model": "h100", "count": 2}
SLICED = {**GPU, "sharing": "time_slicing", "shares": 4}
SPLIT = {**GPU, "sharing": "mig", "shares": 7}


def cluster(scheduler: str, hosts: str, gpu: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A cluster of one group."""
    nodes = {"box": {"hosts": hosts, "gpu": gpu or GPU}}
    return {"region": "eu", "scheduler": scheduler, "discovery": {"static": {}}, "nodes": nodes, **more}


def compiled(folder: Path, clusters: dict[str, Any], **sections: Any) -> tuple[Compiled | None, Log]:
    """The smallest spec with other clusters."""
    said = {**MINIMAL, "targets": {**MINIMAL["targets"], "dcgm_exporter": "4.8.3"}, "clusters": clusters, **sections}
    path, log = folder / "spec.yaml", Log()
    path.write_text(yaml.safe_dump(said), "utf-8")
    return compile_spec(str(path), log, {}), log


def texts(result: tuple[Compiled | None, Log]) -> dict[str, str]:
    """Every file by its path."""
    done, log = result
    assert done is not None, log.sorted()
    return {artifact.path: artifact.text for artifact in done.artifacts}


def job(files: dict[str, str], of: str, name: str) -> dict[str, Any]:
    """A job of a cluster's server."""
    jobs = yaml.safe_load(files[f"prometheus/{of}/prometheus.yml"])["scrape_configs"]
    (found,) = (one for one in jobs if one["job_name"] == name)
    return dict(found)


def relabelled(files: dict[str, str], of: str, name: str) -> list[tuple[Any, ...]]:
    """The steps of a job's series that make its `job_id`."""
    steps = job(files, of, name)["metric_relabel_configs"]
    return [
        (step["source_labels"], step.get("replacement", "$1")) for step in steps if step.get("target_label") == "job_id"
    ]


DEEP = {"collection": {"deep": {"only": "active_jobs"}}}


def test_each_scheduler_has_its_own_way_to_the_deep_series(tmp_path: Path) -> None:
    """Slurm's hooks write targets and a job mapping; Kubernetes' pods are told by dcgm-exporter, on every node."""
    both = {"old": cluster("slurm", "old-[1-2]"), "new": cluster("kubernetes", "new-[1-2]")}
    files = texts(compiled(tmp_path, both, **DEEP))
    assert [path for path in files if "slurm" in path] == [
        "exporters/slurm/old-epilog.sh",
        "exporters/slurm/old-prolog.sh",
    ]
    old, new = (files[f"exporters/dcgm/{name}-box-deep.csv"].splitlines()[1] for name in both)
    assert "--hpc-job-mapping-dir" in old
    assert "--kubernetes" not in old
    assert "--hpc-job-mapping-dir" not in new
    assert "--kubernetes --kubernetes-enable-pod-labels" in new
    assert all("--remote-hostengine-info" in text for text in (old, new))
    assert "file_sd_configs" in job(files, "old", "dcgm-deep")
    targets = job(files, "new", "dcgm-deep")["static_configs"]
    assert [target["targets"] for target in targets] == [["new-1:9401"], ["new-2:9401"]]
    kept = {"source_labels": ["pod"], "regex": ".+", "action": "keep"}
    assert kept in job(files, "new", "dcgm-deep")["metric_relabel_configs"]
    assert kept not in job(files, "new", "dcgm")["metric_relabel_configs"]
    assert kept not in job(files, "old", "dcgm-deep")["metric_relabel_configs"]


def test_the_label_that_stands_first_has_the_last_word(tmp_path: Path) -> None:
    labels = ["volcano.sh/job-name", "batch.kubernetes.io/job-name"]
    files = texts(compiled(tmp_path, {"new": cluster("kubernetes", "new-1", job_labels=labels)}))
    assert relabelled(files, "new", "dcgm")[-3:] == [
        (["namespace", "pod"], "$1/$2"),
        (["namespace", "batch_kubernetes_io_job_name"], "$1/$2"),
        (["namespace", "volcano_sh_job_name"], "$1/$2"),
    ]
    flags = files["exporters/dcgm/new-box.csv"].splitlines()[1]
    assert r"'^volcano\.sh\/job-name$,^batch\.kubernetes\.io\/job-name$'" in flags


@pytest.mark.parametrize(("gpu", "shared"), [(GPU, False), (SPLIT, False), (SLICED, True)])
def test_pods_that_take_turns_are_told_apart_where_there_are_some(
    tmp_path: Path, gpu: dict[str, Any], shared: bool
) -> None:
    files = texts(compiled(tmp_path, {"new": cluster("kubernetes", "new-1", gpu)}))
    assert ("--kubernetes-virtual-gpus" in files["exporters/dcgm/new-box.csv"]) == shared


@pytest.mark.parametrize(("gpu", "named"), [(GPU, False), (SLICED, False), (SPLIT, True)])
def test_instances_have_names_of_the_schema(tmp_path: Path, gpu: dict[str, Any], named: bool) -> None:
    files = texts(compiled(tmp_path, {"new": cluster("kubernetes", "new-1", gpu)}))
    steps = job(files, "new", "dcgm")["metric_relabel_configs"]
    assert (({"source_labels": ["GPU_I_PROFILE"], "regex": "(.+)", "target_label": "gpu_i_profile"}) in steps) == named
    assert ('DCGM_FI_DEV_GPU_UTIL{gpu_i_id=""}' in files["rules/silicon.yml"]) == named


PODS = {"kubernetes": {"pods": {name: {"app": name} for name in ("dcgm", "node", "chat")}}}


@pytest.mark.parametrize(
    ("scheduler", "discovery", "hosts", "codes"),
    [
        ("kubernetes", PODS, {}, []),
        ("kubernetes", {"static": {}}, {"hosts": "new-1"}, ["SLO109"]),
        ("slurm", PODS, {}, ["SLO109"]),
    ],
)
def test_an_objective_may_be_one_of_each_namespace(
    tmp_path: Path, scheduler: str, discovery: dict[str, Any], hosts: dict[str, Any], codes: list[str]
) -> None:
    """Where pods are found as such, their series have the labels of a pod."""
    jobs = {"chat": {"workload": "inference", "port": 8000, **hosts}}
    answers = {"metric": "answers_total", "type": "counter", "unit": "answers", "layer": "application", "job": "chat"}
    good = {
        "owner": "ops",
        "objective": "99.5%",
        "period": "28d",
        "by": ["cluster", "namespace"],
        "ratio": {"bad": 'answers_total{code="500"}', "total": "answers_total"},
    }
    _, log = compiled(
        tmp_path,
        {"new": cluster(scheduler, "new-1", jobs=jobs, discovery=discovery)},
        labels={**MINIMAL["labels"], "namespace": {}, "code": {}},
        signals={"mandatory": ["xid"], "define": {"answers": {**answers, "labels": ["code"]}}},
        slos={"answered": good},
    )
    assert [told.code for told in log.sorted()] == codes


def test_what_kubernetes_tells_of_a_pod_says_whose_it_is(tmp_path: Path) -> None:
    """Tenants of namespaces need no discovery by Kubernetes: its exporters name the namespace of every pod."""
    exporters = {"kube_state_metrics": {"at": ["kube-state-metrics:8080"]}, "kueue": {"at": ["kueue:8080"]}}
    files = texts(
        compiled(
            tmp_path,
            {"new": cluster("kubernetes", "new-1", exporters=exporters)},
            labels={**MINIMAL["labels"], "tenant": {"from": "tenants"}},
            tenants={"vision": {"namespaces": ["vision"]}},
            signals={"mandatory": ["xid", "pod_phase"]},
        )
    )
    step = {"source_labels": ["namespace"], "regex": "vision", "target_label": "tenant", "replacement": "vision"}
    has = {
        name: step in job(files, "new", name)["metric_relabel_configs"]
        for name in ("dcgm", "kube-state-metrics", "kueue")
    }
    assert has == {"dcgm": True, "kube-state-metrics": True, "kueue": False}

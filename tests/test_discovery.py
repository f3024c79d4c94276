"""What the generated relabelling makes of targets, by Prometheus' own hand: `promtool check service-discovery`.

Where a source cannot be had, its meta labels are written into a static list; the steps that judge them are the
generated ones.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from conftest import ROOT
from tocsin.lower.pace import slower
from tocsin.pattern import matches
from tocsin.units import Duration

if TYPE_CHECKING:
    from pathlib import Path

    from toolbox import Tool

Labels = dict[str, str]

GOLDEN = ROOT / "tests" / "cases" / "golden"
POD, ANNOTATION = "__meta_kubernetes_pod_", "__meta_kubernetes_pod_annotation_prometheus_io_"
POD_OF_A_TRAINER = {
    "__address__": "10.1.0.7:2222",
    f"{POD}ip": "10.1.0.7",
    f"{POD}phase": "Running",
    f"{POD}node_name": "gpu-01",
    f"{ANNOTATION}scrape": "true",
    "__meta_kubernetes_namespace": "shared",
}
TRAINER = {
    "__address__": "10.1.0.7:8000",
    "__scheme__": "http",
    "__metrics_path__": "/metrics",
    "__scrape_interval__": "5s",
    "__scrape_timeout__": "5s",
    "instance": "10.1.0.7:8000",
    "job": "trainer",
    "cluster": "pods",
    "node": "gpu-01",
}


def told(promtool: Tool, configuration: Path, job: str) -> list[tuple[Labels, Labels]]:
    """The labels of each target of a job before and after relabelling; those of a dropped one are empty.

    promtool waits for the whole of its timeout whatever it has found, and so has a long one only where it was too late.
    """
    found: list[dict[str, Labels]] = []
    for timeout in ("100ms", "10s"):
        command = [promtool.path, "check", "service-discovery", f"--timeout={timeout}", configuration, job]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads(done.stdout) or []
        if found:
            break
    return [(one["discoveredLabels"], one["labels"]) for one in found]


def relabelled(promtool: Tool, folder: Path, cluster: str, job: str, targets: list[Labels]) -> list[Labels]:
    """What the job of the golden cluster makes of targets that its source would tell with these labels, in order."""
    loaded = yaml.safe_load((GOLDEN / "discovered/out/prometheus" / cluster / "prometheus.yml").read_text("utf-8"))
    steps: dict[str, Any] = next(one for one in loaded["scrape_configs"] if one["job_name"] == job)
    (source,) = [key for key in steps if key.endswith("_sd_configs")]
    del steps[source]
    steps["static_configs"] = [
        {"targets": [labels["__address__"]], "labels": {**labels, "__meta_number": str(number)}}
        for number, labels in enumerate(targets)
    ]
    for target in steps["static_configs"]:
        del target["labels"]["__address__"]
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump({"scrape_configs": [steps]}, allow_unicode=True), "utf-8")
    # Prometheus 2.42 shows a target as discovered without what `labelkeep` dropped: it is asked for one at a time.
    found = {int(before.get("__meta_number", 0)): after for before, after in told(promtool, file, job)}
    assert len(found) == len(targets)
    return [found[number] for number in range(len(targets))]


def at(address: str) -> Labels:
    return {"__address__": address, "instance": address}


# --- lists of our own -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cluster", "job", "hosts", "port"),
    [
        ("north", "dcgm", ["big-1", "big-2", "mid-1", "small-1", "small-7", "small-9"], 9400),
        ("north", "worker", ["small-1"], 8080),
        ("south", "dcgm", ["old-1"], 19400),
        ("south", "node", ["old-1"], 9100),
    ],
)
def test_lists_of_hosts_are_what_the_spec_says(
    promtool: Tool, cluster: str, job: str, hosts: list[str], port: int
) -> None:
    """`north` has them in files, `south` in its configuration."""
    found = told(promtool, GOLDEN / "two-clusters/out/prometheus" / cluster / "prometheus.yml", job)
    seen = [{key: value for key, value in labels.items() if not key.startswith("__")} for _, labels in found]
    assert sorted(seen, key=lambda labels: labels["node"]) == [
        {"cluster": cluster, "job": job, "node": host, "instance": f"{host}:{port}"} for host in hosts
    ]


# --- Kubernetes -------------------------------------------------------------------------------------------------------

SAME: Labels = {}
DROPPED = {"": ""}
FD00 = {f"{POD}ip": "fd00::7"}
TEAM = f"{POD}label_example_com_team"
NAMESPACE = "__meta_kubernetes_namespace"
ODD_PORTS = ("", "0", "65536", "99999", "080", "-1", "80/evil", "80;81", "http", "8 0", "$1")
ODD_PACES = "", "1s", "4s", "1ms", "5000ms", "0s", "-5s", "121s", "3m", "1h", "05s", "5", "5s ", "30s\n", "9" * 40 + "s"
PODS: list[tuple[Labels, Labels]] = [
    (SAME, SAME),
    *(({f"{ANNOTATION}scrape": said}, DROPPED) for said in ("", "false", "True", "true ", "1")),
    *(({f"{POD}phase": phase}, DROPPED) for phase in ("Pending", "Succeeded", "Failed", "Unknown", "")),
    *(({f"{ANNOTATION}port": port}, at(f"10.1.0.7:{port}")) for port in ("1", "80", "9000", "65535")),
    *(({f"{ANNOTATION}port": port}, SAME) for port in ODD_PORTS),
    (FD00, at("[fd00::7]:8000")),
    ({**FD00, f"{ANNOTATION}port": "9000"}, at("[fd00::7]:9000")),
    *(
        ({f"{ANNOTATION}scrape_interval": pace}, {"__scrape_interval__": pace})
        for pace in ("5s", "9s", "10s", "59s", "100s", "120s", "1m", "2m")
    ),
    *(({f"{ANNOTATION}scrape_interval": pace}, SAME) for pace in ODD_PACES),
    ({f"{ANNOTATION}path": "/etc/passwd", f"{ANNOTATION}scheme": "https", f"{POD}label_cluster": "other"}, SAME),
    ({f"{POD}label_tenant": "vision", f"{POD}label_team": "vision", f"{POD}annotation_tenant": "vision"}, SAME),
    ({f"{POD}node_name": "gpu-02"}, {"node": "gpu-02"}),
    ({NAMESPACE: "vision"}, {"tenant": "vision"}),
    ({NAMESPACE: "vision-batch"}, {"tenant": "vision"}),
    ({NAMESPACE: "assist"}, {"tenant": "assist"}),
    ({TEAM: "assist"}, {"tenant": "assist"}),
    ({TEAM: "assist", NAMESPACE: "vision"}, {"tenant": "vision"}),
    *(({TEAM: odd}, SAME) for odd in ("root", "assist|vision", "vision ", "Vision")),
]


def test_a_pod_has_the_labels_that_the_spec_allows_and_no_other(promtool: Tool, tmp_path: Path) -> None:
    """Whatever stands in its annotations and labels."""
    seen = relabelled(promtool, tmp_path, "pods", "trainer", [{**POD_OF_A_TRAINER, **said} for said, _ in PODS])
    wanted = [{} if change is DROPPED else {**TRAINER, **change} for _, change in PODS]
    assert list(zip(PODS, seen, strict=True)) == list(zip(PODS, wanted, strict=True))


def test_a_tenant_that_the_spec_names_is_no_pods_to_change(promtool: Tool, tmp_path: Path) -> None:
    pod = {**POD_OF_A_TRAINER, TEAM: "vision", NAMESPACE: "vision"}
    (seen,) = relabelled(promtool, tmp_path, "pods", "chat", [pod])
    assert (seen["tenant"], seen["__address__"], seen["__scrape_interval__"]) == ("assist", "10.1.0.7:8002", "30s")


def test_an_exporter_is_one_target_however_many_ports_its_pod_has(promtool: Tool, tmp_path: Path) -> None:
    """It needs no annotation, and its annotations are nothing to go by."""
    pod = {**POD_OF_A_TRAINER, f"{ANNOTATION}scrape": "false", f"{ANNOTATION}port": "1", NAMESPACE: "vision"}
    pods = [{**pod, "__address__": address} for address in ("10.1.0.7:9400", "10.1.0.7:8080", "10.1.0.7")]
    seen = relabelled(promtool, tmp_path, "pods", "dcgm", pods)
    timing = {"__scrape_interval__": "15s", "__scrape_timeout__": "10s"}
    assert seen == [{**TRAINER, **at("10.1.0.7:9400"), **timing, "job": "dcgm"}] * 3


@pytest.mark.parametrize("interval", ["100ms", "1s", "1500ms", "5s", "30s", "59s", "2m"])
def test_a_pace_is_lawful_from_the_workloads_own_to_the_slowest(interval: str) -> None:
    least = float(Duration.parse(interval).seconds)
    lawful = slower(Duration.parse(interval))
    assert [n for n in range(1000) if matches(lawful, f"{n}s")] == [n for n in range(1000) if least <= n <= 120]
    assert [n for n in range(100) if matches(lawful, f"{n}m")] == [n for n in (1, 2) if least <= 60 * n]


def test_no_pace_is_slower_than_the_slowest() -> None:
    assert slower(Duration.of(minutes=3)) == ""


# --- Consul, DNS, HTTP ------------------------------------------------------------------------------------------------


# What the Consul discovery of Prometheus 2.53.3, built from its source, made of a catalogue's answer: a service on the
# address of its node and one with its own, tags and metadata that claim to be of another cluster and node.
_OF_BOTH = {
    "__meta_consul_dc": "eu-1",
    "__meta_consul_health": "passing",
    "__meta_consul_metadata_cluster": "other",
    "__meta_consul_namespace": "",
    "__meta_consul_partition": "",
    "__meta_consul_service": "dcgm-exporter",
    "__meta_consul_service_metadata_node": "other",
    "__meta_consul_service_port": "9400",
    "__meta_consul_tags": ",cluster=other,",
}
CATALOGUE = [
    {
        **_OF_BOTH,
        "__address__": address,
        "__meta_consul_address": of_node,
        "__meta_consul_node": node,
        "__meta_consul_service_address": of_service,
        "__meta_consul_service_id": f"dcgm-exporter-{node}",
        "__meta_consul_tagged_address_lan": of_node,
    }
    for address, of_node, of_service, node in (
        ("10.2.0.1:9400", "10.2.0.1", "", "gpu-11"),
        ("10.9.9.9:9400", "10.2.0.2", "10.9.9.9", "gpu-12"),
    )
]


def test_a_service_of_consul_is_on_the_node_that_consul_says(promtool: Tool, tmp_path: Path) -> None:
    plain = {**TRAINER, "cluster": "services", "tenant": "vision"}
    seen = relabelled(promtool, tmp_path, "services", "trainer", CATALOGUE)
    assert seen == [
        {**plain, **at("10.2.0.1:9400"), "node": "gpu-11"},
        {**plain, **at("10.9.9.9:9400"), "node": "gpu-12"},
    ]


def test_the_name_of_a_host_without_its_domain_is_the_node(promtool: Tool, tmp_path: Path) -> None:
    nodes = {
        "gpu-21.records.example.com:9400": "gpu-21",
        "gpu-21.records.example.com.elsewhere.org:9400": "gpu-21.records.example.com.elsewhere.org",
        "records.example.com:9400": "records.example.com",
        "gpu-21:9400": "gpu-21",
    }
    told_by = [{"__address__": address, "__meta_dns_name": "cluster.other"} for address in nodes]
    seen = relabelled(promtool, tmp_path, "records", "dcgm", told_by)
    assert {one["instance"]: one["node"] for one in seen} == nodes
    assert {one["cluster"] for one in seen} == {"records"}


def test_an_address_is_the_node_where_nodes_are_called_so(promtool: Tool, tmp_path: Path) -> None:
    (seen,) = relabelled(promtool, tmp_path, "addresses", "dcgm", [{"__address__": "10.0.0.1:9401"}])
    assert (seen["node"], seen["instance"]) == ("10.0.0.1", "10.0.0.1:9401")


HOSTILE = {
    "cluster": "other",
    "job": "dcgm",
    "tenant": "assist",
    "instance": "other",
    "region": "other",
    "__scheme__": "https",
    "__metrics_path__": "/admin/delete",
    "__param_target": "10.0.0.1",
    "__scrape_interval__": "1ms",
    "__scrape_timeout__": "1ms",
}


def test_a_list_says_where_a_target_is_and_on_which_node_and_nothing_else(promtool: Tool, tmp_path: Path) -> None:
    place = {"__address__": "10.3.0.1:8000"}
    targets = [place, {**place, "node": "gpu-31"}, {**place, "node": "gpu-31", **HOSTILE}]
    plain = {**TRAINER, **at("10.3.0.1:8000"), "cluster": "lists"}
    seen = [relabelled(promtool, tmp_path, "lists", "trainer", [target])[0] for target in targets]
    assert seen == [{**plain, "node": node} for node in ("10.3.0.1", "gpu-31", "gpu-31")]

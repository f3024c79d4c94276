"""A spec for a fleet: its hosts and ports, five owners, and receivers that are webhooks on loopback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.fleet.fleet import Fleet
    from tocsin.fleet.node import Node

LAYERS = {
    "silicon": "gpu-platform",
    "fabric": "network",
    "runtime": "ml-platform",
    "application": "ml-platform",
    "facility": "facility",
}
OWNERS = ("gpu-platform", "network", "ml-platform", "serving", "facility")
HEARTBEAT = "10s"
RUNBOOKS, GRAFANA = "https://runbooks.example.com", "https://grafana.example.com"
LABELS = {
    "cluster": "east",
    "node": "127[.]0[.]0[.][0-9]+",
    "gpu_uuid": "GPU-[0-9a-f-]{36}",
    "job_id": "[0-9]+",
    "tenant": "vision|assist",
    "service": "[a-z]+",
    "code": "[1-5][0-9]{2}",
}
MANDATORY = ("xid", "throttle_reasons", "fabric_errors", "pcie_throughput", "hbm_activity", "job_metadata")
_TRAINER = {"train_steps": "counter", "train_job_running": "gauge", "train_loss": "gauge"}


def spec(
    fleet: Fleet,
    targets: dict[str, str],
    alertmanager: str,
    webhooks: str,
    interval: str = "1s",
    on_violation: str = "quarantine",
    server: str = "127.0.0.1:9090",
) -> str:
    """The text of a spec (JSON, which YAML reads): `targets` the versions, `webhooks` the address that is told all.

    `server` is where its Prometheus listens. Owners are told at http://WEBHOOKS/<owner>-<page|ticket>, and the
    heartbeat comes to http://WEBHOOKS/heartbeat.
    """
    said = {
        "version": 1,
        "factory": "loopback",
        "targets": {"grafana": "12", "dcgm_exporter": "4.8.2", **targets},
        "owners": {owner: _owner(owner, webhooks) for owner in OWNERS},
        "layers": LAYERS,
        "labels": {name: {"pattern": pattern} for name, pattern in LABELS.items() if name != "tenant"}
        | {"tenant": {"from": "tenants"}},
        "clusters": {"east": _cluster(fleet)},
        "collection": {
            "intervals": dict.fromkeys(("default", "training", "inference"), interval),
            "on_violation": on_violation,
            "servers": {"address": server},
        },
        "signals": {"mandatory": list(MANDATORY), "define": _signals()},
        "slos": {"chat-availability": _availability()},
        "tenants": {"vision": {"accounts": ["vision"]}, "assist": {"accounts": ["assist"]}},
        "alerting": {
            "alertmanagers": [alertmanager],
            "fallback": "gpu-platform",
            "heartbeat": {"webhook": {"url": f"http://{webhooks}/heartbeat"}, "every": HEARTBEAT},
        },
        "grafana": {"url": GRAFANA, "datasource": "http://127.0.0.1:9090"},
    }
    return json.dumps(said, indent=2) + "\n"


def group(node: Node) -> str:
    """The name of the node group that a host belongs to: its model, its boards, how they are shared, and a fabric."""
    shared = "" if node.sharing == "none" else f"-{node.sharing.replace('_', '-')}-{node.shares}"
    return f"{node.model}x{node.gpus}{shared}" + ("" if node.adapters else "-alone")


def _owner(owner: str, webhooks: str) -> dict[str, object]:
    told = {kind: {"webhook": {"url": f"http://{webhooks}/{owner}-{kind}"}} for kind in ("page", "ticket")}
    return {**told, "runbooks": f"{RUNBOOKS}/{owner}/"}


def _cluster(fleet: Fleet) -> dict[str, object]:
    nodes = list(fleet.nodes.values())
    groups: dict[str, list[Node]] = {}
    for node in nodes:
        groups.setdefault(group(node), []).append(node)
    trainers = [node.host for node in nodes if node.trainer]
    serving = [node.host for node in nodes if node.service]
    jobs: dict[str, object] = {}
    if trainers:  # whose tenant is told by the account that each series names
        jobs["trainer"] = {"workload": "training", "hosts": trainers, "port": fleet.ports["trainer"]}
    if serving:
        jobs["serving"] = {
            "workload": "inference",
            "hosts": serving,
            "port": fleet.ports["serving"],
            "tenant": "assist",
        }
    return {
        "region": "loopback",
        "scheduler": "kubernetes" if any(node.on_pods for node in nodes) else "slurm",
        "discovery": {"file": {}},
        "exporters": {name: {"port": fleet.ports[name]} for name in ("dcgm", "node")},
        "nodes": {name: _group(members) for name, members in groups.items()},
        "jobs": jobs,
    }


def _group(members: list[Node]) -> dict[str, object]:
    first = members[0]
    fabric = {"fabric": first.fabric, "fabric_speed": "400Gb/s"} if first.adapters else {}
    gpu: dict[str, object] = {"model": first.model, "count": first.gpus}
    if first.sharing != "none":
        gpu |= {"sharing": first.sharing, "shares": first.shares}
    return {"hosts": [node.host for node in members], "gpu": gpu, **fabric}


def _signals() -> dict[str, object]:
    trainer: dict[str, object] = {
        id_: {
            "metric": f"{id_}_total" if type_ == "counter" else id_,
            "type": type_,
            "unit": id_.removeprefix("train_"),
            "layer": "application",
            "job": "trainer",
            "labels": ["job_id", "tenant"],
        }
        for id_, type_ in _TRAINER.items()
    }
    serving = {"layer": "application", "owner": "serving", "job": "serving"}
    return trainer | {
        "inference_requests": {
            "metric": "inference_requests_total",
            "type": "counter",
            "unit": "requests",
            "labels": ["service", "code", "tenant"],
            **serving,
        },
        "inference_latency": {
            "metric": "inference_request_duration_seconds",
            "type": "histogram",
            "unit": "seconds",
            "labels": ["service", "tenant"],
            **serving,
        },
    }


def _availability() -> dict[str, object]:
    total = "inference_requests_total"
    return {
        "owner": "serving",
        "objective": "99.5%",
        "period": "28d",
        "by": ["cluster", "service"],
        "ratio": {"bad": f'{total}{{code=~"5.."}}', "total": total},
        "traffic": {"expected": "50/s"},
    }

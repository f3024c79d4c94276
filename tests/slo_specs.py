"""A small spec around one SLO: a service of some instances that counts its requests by their code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from tocsin.diagnostics import Log
from tocsin.pipeline import compile_spec

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.pipeline import Compiled

METRIC = "requests_total"
BAD, GOOD = f'{METRIC}{{code="500"}}', f'{METRIC}{{code="200"}}'
SLO = {
    "owner": "ops",
    "objective": "99.9%",
    "period": "30d",
    "by": ["cluster"],
    "ratio": {"bad": BAD, "total": METRIC},
}
SIGNAL = {
    "metric": METRIC,
    "type": "counter",
    "unit": "requests",
    "layer": "application",
    "job": "web",
    "labels": ["code", "route"],
}


def spec(slo: dict[str, Any], *, instances: int, interval: str) -> str:
    """The text of a spec (JSON, which YAML reads) with that SLO, called web; all is scraped and evaluated alike."""
    hosts = f"web-[1-{instances}]"
    hook = {"webhook": {"url_file": "secrets/hook"}}
    said = {
        "version": 1,
        "factory": "truth",
        "targets": {"prometheus": "2.42", "alertmanager": "0.28", "grafana": "12", "dcgm_exporter": "4.8.2"},
        "owners": {"ops": {"page": hook, "ticket": hook, "runbooks": "https://runbooks.example.com/"}},
        "layers": dict.fromkeys(("silicon", "fabric", "runtime", "application", "facility"), "ops"),
        "labels": {
            "cluster": {},
            "node": {"pattern": "web-[0-9]+"},
            "gpu_uuid": {},
            "job_id": {},
            "code": {"values": ["200", "500"]},
            "route": {"pattern": "[a-z0-9]+"},
        },
        "collection": {"intervals": dict.fromkeys(("default", "inference"), interval)},
        "retention": {"hot": {"keep": "32d", "resolution": "full"}},
        "clusters": {
            "east": {
                "region": "eu",
                "scheduler": "slurm",
                "discovery": {"file": {}},
                "nodes": {"serving": {"hosts": hosts, "gpu": {"model": "l40s", "count": 1}}},
                "jobs": {"web": {"workload": "inference", "port": 8000, "hosts": hosts}},
            }
        },
        "signals": {
            "mandatory": ["xid", "throttle_reasons", "pcie_throughput", "requests"],
            "define": {"requests": SIGNAL},
        },
        "slos": {"web": slo},
        "alerting": {"alertmanagers": ["alertmanager:9093"], "fallback": "ops", "heartbeat": hook},
        "grafana": {"url": "https://grafana.example.com", "datasource": "http://prometheus:9090"},
    }
    return json.dumps(said)


def compiled(slo: dict[str, Any], folder: Path, *, instances: int = 20, interval: str = "1m") -> Compiled:
    """Such a spec, compiled; AssertionError with what is wrong with it."""
    path, log = folder / "spec.yaml", Log()
    path.write_text(spec(slo, instances=instances, interval=interval), encoding="utf-8")
    result = compile_spec(str(path), log, {})
    assert result is not None, log.sorted()
    return result


def groups(result: Compiled) -> list[dict[str, Any]]:
    """The SLO's groups of rules as they were written: read back from the file."""
    (text,) = (artifact.text for artifact in result.artifacts if artifact.path == "rules/slo-web.yml")
    found = yaml.safe_load(text)["groups"]
    assert isinstance(found, list)
    return found

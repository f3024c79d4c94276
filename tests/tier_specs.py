"""Specs with retention tiers, for every kind of store, and what they compile to as its readers see it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from conftest import ROOT
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec

if TYPE_CHECKING:
    from pathlib import Path

HOT = {"keep": "7d"}
XID, ECC = "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"
RECEIVE = {"url": "http://receive:19291/api/v1/receive"}
VICTORIA = {"url": "http://victoria:8428/api/v1/write"}
ENTERPRISE = {**VICTORIA, "edition": "enterprise"}


def mimir(tenant: str) -> dict[str, Any]:
    return {"url": "http://mimir/api/v1/push", "tenant": tenant}


def prometheus(host: str) -> dict[str, Any]:
    return {"url": f"http://{host}:9090/api/v1/write"}


# Every kind of store with every kind of tier that it can have.
KINDS: dict[str, dict[str, Any]] = {
    "prometheus": {
        "hot": {"keep": "7d", "size": "400GB"},
        "few": {"keep": "1y", "series": "recorded", "store": prometheus("few")},
        "evidence": {"keep": "2y", "size": "20GB", "signals": ["xid", "ecc_uncorrected"], "store": prometheus("xid")},
        "people": {"keep": "30d", "series": "restricted", "store": prometheus("people")},
        "all": {"keep": "30d", "store": prometheus("all")},
    },
    "thanos": {
        "hot": HOT,
        "warm": {"resolution": "5m", "keep": "180d"},
        "cold": {"resolution": "1h", "keep": "2y"},
        "evidence": {"keep": "1y", "signals": ["xid"], "store": RECEIVE},
    },
    "mimir": {
        "hot": HOT,
        "warm": {"keep": "180d", "store": mimir("gpu")},
        "people": {"keep": "30d", "series": "restricted", "store": {**mimir("people"), "bearer_token_file": "token"}},
    },
    "cortex": {"hot": HOT, "few": {"keep": "1y", "series": "recorded", "store": mimir("few")}},
    "victoriametrics": {
        "hot": HOT,
        "warm": {"keep": "180d", "resolution": "5m", "store": ENTERPRISE},
        "evidence": {"keep": "1y", "signals": ["xid"], "store": ENTERPRISE},
        "proof": {"keep": "2y", "signals": ["xid", "ecc_uncorrected"], "store": ENTERPRISE},
        "people": {
            "keep": "30d",
            "series": "restricted",
            "store": {
                "url": "http://people:8428/api/v1/write",
                "basic_auth": {"username": "tocsin", "password_file": "secrets/people"},
                "queue": {"max_shards": 4},
            },
        },
    },
}


def said(kind: str, tiers: dict[str, Any], release: str = "3.5") -> dict[str, Any]:
    """A spec as data: one service whose users are restricted, and one SLO over a month."""
    spec: dict[str, Any] = yaml.safe_load((ROOT / "tests" / "cases" / "ok" / "minimal.yaml").read_text("utf-8"))
    spec["targets"] |= {"prometheus": release} | ({"long_term": kind} if kind else {})
    job = {"layer": "application", "job": "serving", "unit": "things"}
    spec["clusters"]["east"]["jobs"] = {"serving": {"workload": "inference", "hosts": "gpu-01", "port": 8000}}
    spec["labels"]["code"] = {"pattern": "[1-5][0-9]{2}"}
    spec["signals"]["define"] = {
        "requests": {"metric": "requests_total", "type": "counter", "labels": ["code"], **job},
        "users": {"metric": "logged_in_users", "type": "gauge", "sensitivity": "restricted", **job},
        "waits": {"metric": "user_wait_seconds", "type": "histogram", "sensitivity": "restricted", **job},
    }
    ratio = {"bad": 'requests_total{code=~"5.."}', "total": "requests_total"}
    spec["slos"] = {"chat": {"owner": "ops", "objective": "99%", "period": "28d", "ratio": ratio}}
    if tiers:
        spec["retention"] = tiers
    return spec


def compiled(folder: Path, spec: dict[str, Any]) -> Compiled:
    path = folder / "spec.yaml"
    path.write_text(json.dumps(spec), "utf-8")
    log = Log()
    result = compile_spec(str(path), log, {})
    assert result is not None, log.sorted()
    return result


def arguments(result: Compiled) -> dict[str, list[str]]:
    """The arguments of every program by the path of their file, as a deployment reads them."""
    wanted = {file.path for file in result.plan.arguments}
    return {one.path: yaml.safe_load(one.text)["args"] for one in result.artifacts if one.path in wanted}


def settings(result: Compiled) -> dict[str, Any]:
    """The settings of every program by the path of their file."""
    wanted = {file.path for file in result.plan.settings}
    return {one.path: yaml.safe_load(one.text) for one in result.artifacts if one.path in wanted}


def configurations(result: Compiled) -> dict[str, Any]:
    """Every server's configuration by its path."""
    return {one.path: yaml.safe_load(one.text) for one in result.artifacts if one.path.startswith("prometheus/")}

"""Tiers on real servers: a Prometheus that scrapes a fleet and writes, and one for each tier, started as is written.

Each of them runs with the generated configuration and the generated arguments, beside its own paths and addresses.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from fleet.monitoring import asked, is_ready
from fleet.spec import spec
from tier_specs import compiled
from tocsin import versions
from tocsin.fleet.deadline import until
from tocsin.fleet.fleet import Fleet
from tocsin.fleet.node import Node
from tocsin.fleet.program import free_address, running
from tocsin.fleet.workload import Service, Trainer
from toolbox import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tocsin.pipeline import Compiled
    from toolbox import Tool

pytestmark = pytest.mark.xdist_group("servers")

HOST = "127.0.0.1"
TIERS = {
    "all": {"keep": "30d"},
    "few": {"keep": "60d", "series": "recorded"},
    "evidence": {"keep": "1y", "signals": ["xid", "ecc_uncorrected"]},
    "people": {"keep": "3d", "series": "restricted"},
}
RESTRICTED = "train_loss"


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    """One host that trains and serves."""
    node = Node(HOST, gpus=2, jobs=("1",), trainer=Trainer("1", "vision"), service=Service("chat"))
    with Fleet([node]) as fleet:
        yield fleet


def stored(address: str) -> set[str]:
    """The names of all series that a server has."""
    names: list[str] = asked(address, "/api/v1/label/__name__/values")
    return set(names)


def with_tiers(fleet: Fleet, tool: Tool, addresses: dict[str, str], folder: Path) -> Compiled:
    """The fleet's spec with a tier on each address, written out."""
    said: dict[str, Any] = json.loads(spec(fleet, {"alertmanager": "0.25"}, free_address(), free_address()))
    said["targets"] |= {"prometheus": dotted(tool.version[:2]), "long_term": "prometheus"}
    said["signals"]["define"][RESTRICTED]["sensitivity"] = "restricted"
    stores = {
        name: {**tier, "store": {"url": f"http://{addresses[name]}/api/v1/write"}} for name, tier in TIERS.items()
    }
    said["retention"] = {"hot": {"keep": "3d"}, **stores}
    result = compiled(folder, said)
    for artifact in result.artifacts:
        path = folder / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(artifact.text, "utf-8")
    return result


@contextlib.contextmanager
def server(tool: Tool, folder: Path, configuration: str, address: str) -> Iterator[None]:
    """A server with its generated configuration and arguments, up to the end of the `with`."""
    arguments = yaml.safe_load((folder / "start" / configuration).read_text("utf-8"))["args"]
    own = folder / "run" / configuration.replace("/", "-")
    command = [str(tool.path), f"--config.file={folder / configuration}", f"--storage.tsdb.path={own / 'data'}"]
    with running(own.name, [*command, f"--web.listen-address={address}", *arguments], own) as program:
        until(f"{own.name} to be ready", lambda: is_ready(address), also=program.tail)
        yield


def test_each_tier_gets_its_series_and_no_other(prometheus: Tool, fleet: Fleet, tmp_path: Path) -> None:
    """And the one that keeps recorded series for the period of the SLO has the rules that tell what became of it."""
    if not versions.is_known("prometheus", prometheus.version):
        pytest.skip("a release that no spec may name")
    addresses = {name: free_address() for name in (*TIERS, "hot")}
    result = with_tiers(fleet, prometheus, addresses, tmp_path)
    recorded = {
        r.name for file in result.plan.rules for group in file.groups for r in group.rules if hasattr(r, "expr")
    }
    restricted = set(result.factory.retention.restricted)
    with contextlib.ExitStack() as stack:
        for name in TIERS:
            stack.enter_context(server(prometheus, tmp_path, f"prometheus/long_term/{name}.yml", addresses[name]))
        stack.enter_context(server(prometheus, tmp_path, "prometheus/east/prometheus.yml", addresses["hot"]))
        until("all to be scraped", lambda: {"slo:total:rate5m", RESTRICTED, "up"} <= stored(addresses["hot"]))
        until("what is recorded to be written", lambda: "slo:total:rate5m" in stored(addresses["few"]))
        until("the rest to be written", lambda: all(stored(addresses[name]) for name in TIERS))
        until("all but what is restricted", lambda: stored(addresses["all"]) >= stored(addresses["hot"]) - restricted)
        arrived = {name: stored(addresses[name]) for name in TIERS}
        rules = {name: asked(addresses[name], "/api/v1/rules")["groups"] for name in TIERS}
        labels = asked(addresses["evidence"], "/api/v1/labels")
    assert arrived["evidence"] == {"DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"}
    assert {RESTRICTED} <= arrived["people"] <= restricted
    assert arrived["few"] <= recorded
    assert not arrived["all"] & restricted
    assert {name for name, groups in rules.items() if groups} == {"all"}
    assert {"cluster", "region", "node", "gpu_uuid"} <= set(labels)

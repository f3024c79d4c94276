"""A site of every exporter and every signal, and the real Prometheus that watches it by files of tocsin."""

from __future__ import annotations

import contextlib
import errno
import json
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from fleet.monitoring import asked, got
from fleet.spec import MANDATORY, spec
from tocsin.catalog import carriers, exporter_kinds
from tocsin.diagnostics import Log
from tocsin.fleet.deadline import until
from tocsin.fleet.estate import COOLING, COUNTS, FLAVOUR, Estate
from tocsin.fleet.fleet import Fleet, usual
from tocsin.fleet.listener import Listener
from tocsin.fleet.program import free_address, running
from tocsin.pipeline import compile_spec
from tocsin.write import write
from toolbox import best

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tocsin.pipeline import Compiled

    Said = dict[str, Any]

NODES, GPUS, ADAPTERS = 40, 8, ["mlx5_0", "mlx5_1"]
INTERVAL = "5s"
_GROUPS = 25  # of rules
_COOLANT = {"type": "gauge", "unit": "litres/min", "layer": "facility", "job": "cdu"}


@dataclass(slots=True)
class Site:
    """A running site: its hosts, what was compiled for it, and where its Prometheus answers.

    `written` is how many bytes each request of its remote write had.
    """

    fleet: Fleet
    made: Compiled
    address: str
    written: list[int] = field(default_factory=list)

    def ask(self, path: str) -> Any:
        """`data` of an answer of Prometheus' API, by the path behind its version."""
        return asked(self.address, f"/api/v1/{path}")

    def has(self, path: str) -> bool:
        """Whether an instant query, as `query?query=...`, has a result; not while the server does not answer."""
        try:
            status, body = got(self.address, f"/api/v1/{path}")
        except OSError:
            return False
        return status == 200 and bool(json.loads(body)["data"]["result"])


@contextlib.contextmanager
def site(
    folder: Path, amend: Callable[[Said], object] = lambda _said: None, *, eventful: bool = False
) -> Iterator[Site]:
    """Forty hosts of eight GPUs and all around them, of two tenants; `amend` may change what the spec says.

    It begins once all that was predicted is in Prometheus. Skips the test where the system cannot have one.
    """
    tool = best("prometheus")
    if tool is None:
        pytest.skip("prometheus not found: run `make tools`")
    with contextlib.ExitStack() as stack:
        try:
            fleet = stack.enter_context(Fleet(usual(NODES, GPUS)))
            estate = stack.enter_context(Estate(fleet, eventful=eventful))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                pytest.skip("this system has no loopback addresses beside 127.0.0.1")
            raise
        for trainer in [node.trainer for node in fleet.nodes.values() if node.trainer][::2]:
            trainer.account = "assist"
        written: list[int] = []
        sink = Listener(("127.0.0.1", 0), lambda _path, body: written.append(len(body)) or "")  # type: ignore[func-returns-value]
        stack.callback(sink.stop)
        address = free_address()
        made = _compiled(_said(fleet, estate, address, f"127.0.0.1:{sink.address[1]}", amend), folder)
        for node in fleet.nodes.values():
            node.beside = estate.of_node(node.host)
            node.collect((folder / "out/exporters/dcgm" / f"east-h100x{GPUS}.csv").read_text("utf-8"))
        config = folder / "out/prometheus/east/prometheus.yml"
        command = [str(tool.path), f"--config.file={config}", f"--storage.tsdb.path={folder}/data"]
        program = stack.enter_context(running("prometheus", [*command, f"--web.listen-address={address}"], folder))
        one = Site(fleet, made, address, written)
        least = int(0.97 * made.plan.servers[0].size.series)
        head = f"query?query=prometheus_tsdb_head_series%3E{least}"
        until("its series", partial(one.has, head), also=program.tail)
        yield one


def _said(fleet: Fleet, estate: Estate, address: str, store: str, amend: Callable[[Said], object]) -> Said:
    """A spec that says what nobody else can know. `address` is where its server listens, `store` where it writes to."""
    targets = {"prometheus": "3.5", "alertmanager": "0.33", "dcgm_exporter": "4.9", "long_term": "prometheus"}
    said: Said = json.loads(spec(fleet, targets, estate.alertmanager, "127.0.0.1:1", INTERVAL))
    said["retention"] = {
        "hot": {"keep": "30d"},
        "all": {"keep": "60d", "store": {"url": f"http://{store}/api/v1/write"}},
    }
    said["collection"]["servers"] = {"address": "{server}.{cluster}:" + address.rpartition(":")[2]}
    for group in said["clusters"]["east"]["nodes"].values():
        group["fabric_devices"] = ADAPTERS
    said["clusters"]["east"]["exporters"] |= estate.exporters
    said["collection"] |= {"other_series": {"node": 1, "trainer": 1}, "entities": {**COUNTS, "rule_group": _GROUPS}}
    known = {f"{kind.id} {FLAVOUR}" if kind.flavours else kind.id for kind in exporter_kinds().values()}
    collected = {signal for signal, names in carriers().items() if known & {*names}}
    said["signals"]["collect"] = sorted(collected - {*MANDATORY})
    said["signals"]["define"] |= {name: {**_COOLANT, "metric": name} for name in COOLING}
    amend(said)
    return said


def _compiled(said: Said, folder: Path) -> Compiled:
    path, log = folder / "spec.yaml", Log()
    path.write_text(json.dumps(said), encoding="utf-8")
    made = compile_spec(str(path), log, {})
    assert made is not None, log.sorted()
    write(made.artifacts, folder / "out")
    return made

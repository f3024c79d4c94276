"""A Prometheus and an Alertmanager of one age that watch a fleet by the files that tocsin wrote for it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fleet.spec import spec
from tocsin import versions
from tocsin.fleet.alertmanager import startable
from tocsin.fleet.deadline import until
from tocsin.fleet.program import Program, free_address, running
from toolbox import NEEDED, Tool, best, dotted, found

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tocsin.fleet.fleet import Fleet
    from tocsin.fleet.inbox import Inbox

FACTORY = "loopback"


@dataclass(frozen=True, slots=True)
class Pair:
    """A Prometheus and an Alertmanager that run together."""

    prometheus: Tool
    alertmanager: Tool

    def __str__(self) -> str:
        """Both by name and version."""
        return "-".join(f"{tool.name}-{dotted(tool.version)}" for tool in (self.prometheus, self.alertmanager))


def pairs() -> list[Pair]:
    """Every version found that tocsin knows, the oldest with the oldest; where one has fewer, its newest serves on."""
    known = {
        name: [tool for tool in found(name) if versions.is_known(name, tool.version)]
        for name in ("prometheus", "alertmanager")
    }
    if not all(known.values()) or not all(found(name) for name in NEEDED):
        return []
    tools = zip_longest(known["prometheus"], known["alertmanager"])
    return [Pair(one or known["prometheus"][-1], two or known["alertmanager"][-1]) for one, two in tools]


@dataclass(slots=True)
class Monitoring:
    """The running pair. `output` is the folder that tocsin wrote, `inbox` what the owners got."""

    pair: Pair
    output: Path
    prometheus: str
    alertmanager: str
    inbox: Inbox
    programs: tuple[Program, ...] = ()

    def ask(self, path: str, **parameters: str) -> Any:
        """`data` of an answer of Prometheus' API."""
        return asked(self.prometheus, f"/api/v1/{path}?{urlencode(parameters)}")

    def query(self, expr: str) -> list[tuple[dict[str, str], float]]:
        """Labels and value of each series that an expression yields now."""
        result = self.ask("query", query=expr)["result"]
        return [(series["metric"], float(series["value"][1])) for series in result]

    def rules(self) -> list[dict[str, Any]]:
        """Every rule with its health."""
        return [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]

    def alerts(self) -> list[dict[str, str]]:
        """The labels of each alert that fires or waits for its `for`, with its `state` beside them."""
        return [{**alert["labels"], "state": alert["state"]} for alert in self.ask("alerts")["alerts"]]

    def loaded(self) -> str:
        """The configuration that Alertmanager goes by, as it prints it."""
        status, body = got(self.alertmanager, "/api/v2/status")
        assert status == 200, body
        return str(json.loads(body)["config"]["original"])

    def logs(self) -> str:
        """The ends of both logs."""
        return "\n".join(program.tail() for program in self.programs)


def build(pair: Pair, fleet: Fleet, inbox: Inbox, folder: Path, **collection: str) -> Monitoring:
    """Compile a spec for the pair and the fleet with the command itself, proven with promtool and amtool.

    `collection` is what the spec says of it: an `interval` and what to do `on_violation`.
    """
    prometheus, alertmanager = free_address(), free_address()
    targets = {name: dotted(getattr(pair, name).version[:2]) for name in ("prometheus", "alertmanager")}
    folder.mkdir(parents=True)
    written = folder / "spec.yaml"
    written.write_text(
        spec(fleet, targets, alertmanager, inbox.address, **collection, server=prometheus), encoding="utf-8"
    )
    wanted = {"promtool": pair.prometheus.version, "amtool": pair.alertmanager.version}
    judges = {name: best(name, version) or best(name) for name, version in wanted.items()}
    environment = os.environ | {name.upper(): str(tool.path) for name, tool in judges.items() if tool}
    command = [sys.executable, "-m", "tocsin", "build", str(written), "--out", str(folder / "out")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "proven with promtool" in done.stdout
    return Monitoring(pair, folder / "out" / FACTORY, prometheus, alertmanager, inbox)


@contextlib.contextmanager
def started(monitoring: Monitoring, folder: Path) -> Iterator[Monitoring]:
    """Both servers, started with the files where they were written."""
    output, pair = monitoring.output, monitoring.pair
    folder.mkdir()
    alertmanager = (
        str(startable(pair.alertmanager.path, folder)),
        f"--config.file={output}/alertmanager/alertmanager.yml",
        f"--storage.path={folder}/alertmanager-data",
        f"--web.listen-address={monitoring.alertmanager}",
        "--cluster.listen-address=",
    )
    prometheus = (
        str(pair.prometheus.path),
        f"--config.file={output}/prometheus/east/prometheus.yml",
        f"--storage.tsdb.path={folder}/prometheus-data",
        f"--web.listen-address={monitoring.prometheus}",
        # What fires before Prometheus has found Alertmanager is handed over at the next sending: not a minute later.
        "--rules.alert.resend-delay=5s",
    )
    with contextlib.ExitStack() as stack:
        for name, command in (("alertmanager", alertmanager), ("prometheus", prometheus)):
            program = stack.enter_context(running(f"{name}-{dotted(getattr(pair, name).version)}", command, folder))
            monitoring.programs += (program,)
            address = getattr(monitoring, name)
            until(f"{program.name} to be ready", partial(is_ready, address), also=monitoring.logs)
        yield monitoring


def asked(address: str, path: str) -> Any:
    """`data` of an answer of a Prometheus."""
    status, body = got(address, path)
    assert status == 200, f"{path}: {status} {body}"
    return json.loads(body)["data"]


def is_ready(address: str) -> bool:
    """Whether a server says that it is."""
    try:
        return got(address, "/-/ready")[0] == 200
    except OSError:
        return False


def got(address: str, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(address, timeout=30)
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

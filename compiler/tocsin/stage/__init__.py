"""A stage for any factory: real servers run what was generated for it, against a site that is simulated.

Hosts need not exist: every scrape goes through a proxy on loopback, which answers it. Nothing leaves the machine.
"""

from __future__ import annotations

import http.client
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from tocsin.capacity import PEERS
from tocsin.catalog import MONITORS
from tocsin.emit.alertmanager import CONFIGURATION, alertmanager
from tocsin.emit.prometheus import prometheus
from tocsin.emit.rules import rules
from tocsin.fleet.inbox import Inbox
from tocsin.fleet.listener import Listener
from tocsin.fleet.program import free_address
from tocsin.naming import SHARD_JOB
from tocsin.stage import servers
from tocsin.stage.adaptation import adapted, proxied, timeless
from tocsin.stage.pace import faster
from tocsin.stage.scene import NODES, Scene, scene
from tocsin.stage.site import Site

if TYPE_CHECKING:
    from types import TracebackType

    from tocsin.fleet.program import Program
    from tocsin.pipeline import Compiled
    from tocsin.plan.servers import Server

__all__ = ["NODES", "Scene", "Site", "Stage", "scene"]


class Stage:
    """Everything runs within its `with`, and nothing of it after.

    `prometheus` and `alertmanager` are the programs; without the second nobody is told. `cluster` is the first one if
    none is named, `nodes` how many hosts of each group are there, `replicas` of servers that there are two of. With
    `fast` one second stands for so many of the plan; `any_hour` takes hours and maintenance out of its routes. Files
    and data lie in `folder`, or in one that is removed at the end. ToolError where a server does not start. Where a
    discovery would tell the targets, a stage with fewer hosts than the spec lists is short of nodes, and the rules say
    so: <Job>TargetsMissing is right.

    Then `site` is what it watches, with its faults; `inbox` who was told; `prometheus` and `alertmanager` the addresses
    of the server that sees the whole cluster and of the first Alertmanager (or ""), `servers` and `alertmanagers` all
    addresses by name, `programs` all processes by name.
    """

    def __init__(
        self,
        compiled: Compiled,
        prometheus: str | Path,
        alertmanager: str | Path | None = None,
        folder: Path | None = None,
        *,
        cluster: str = "",
        nodes: int = NODES,
        replicas: int = 1,
        fast: int = 1,
        any_hour: bool = False,
    ) -> None:
        self.scene = scene(compiled, cluster, nodes, replicas)
        self.site = Site(self.scene, compiled.plan)
        self.fast = fast
        self._plan = timeless(compiled.plan) if any_hour else compiled.plan
        self._tools = Path(prometheus), Path(alertmanager) if alertmanager else None
        self._folder = folder
        self._stack = ExitStack()
        self.programs: dict[str, Program] = {}
        self.servers: dict[str, str] = {}
        self.alertmanagers: dict[str, str] = {}
        self._elsewhere: dict[str, str] = {}  # where what is asked for at an address really is

    def __enter__(self) -> Stage:
        """Start everything."""
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """End everything."""
        self._stack.close()

    def query(self, expr: str, server: str = "") -> list[tuple[dict[str, str], float]]:
        """Labels and value of each series that an expression yields now; at a server by its address, or as `ask`."""
        result = self.ask("query", server, query=expr)["result"]
        return [(series["metric"], float(series["value"][1])) for series in result]

    def ask(self, path: str, server: str = "", **parameters: str) -> Any:
        """`data` of an answer of a server's API; of the one that sees the whole cluster where none is named."""
        return servers.asked(server or self.prometheus, f"/api/v1/{path}?{urlencode(parameters)}")

    def missed(self) -> list[str]:
        """The targets of which scrapes failed although they answer: the machine is too slow for this pace."""
        missed = "(count_over_time(up[1h]) - sum_over_time(up[1h])) > 0"
        alive = [at for name, at in self.servers.items() if self.programs[name].process.poll() is None]
        series = [one for at in alive for one, _ in self.query(missed, at)]
        found = {(one["job"], one.get("node", ""), one["instance"]) for one in series}
        real = {*MONITORS, PEERS, SHARD_JOB}  # those may have been killed
        return sorted(
            instance
            for job, host, instance in found
            if job not in real and (job, host) not in self.site.ill and ("", host) not in self.site.ill
        )

    def kill(self, name: str) -> None:
        """A server dies at once, without a word to anybody."""
        self.programs[name].process.kill()
        self.programs[name].process.wait()

    # --- the start ----------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        stack = self._stack
        folder = self._folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tocsin-stage-")))
        self.folder = folder.absolute()
        self.inbox = stack.enter_context(Inbox())
        proxy = Listener(("127.0.0.1", 0), self._answer, stays=True)
        stack.callback(proxy.stop)
        self._find_addresses()
        self._write("{}:{}".format(*proxy.address))
        self._start_alertmanagers()
        for server in self.scene.servers:
            name, place = _name(server), self.folder / "run" / _name(server)
            start = partial(servers.prometheus, stack, self._tools[0], place, self.folder / server.path, self.fast)
            self.programs[name] = start(self.servers[name])

    def _find_addresses(self) -> None:
        told = self.scene.factory.alerting.alertmanagers if self._tools[1] else ()
        self.servers = {_name(server): free_address() for server in self.scene.servers}
        self.prometheus = self.servers[_name(self.scene.whole)]
        self.alertmanagers = {f"alertmanager-{number}": free_address() for number, _ in enumerate(told, 1)}
        self.alertmanager = next(iter(self.alertmanagers.values()), "")
        self._elsewhere = dict(zip(told, self.alertmanagers.values(), strict=True))
        self._elsewhere |= {address: address for address in self.servers.values()}
        for name, address in self.servers.items():
            cluster = self.scene.cluster.name
            named = self.scene.factory.servers.address.replace("{server}", name).replace("{cluster}", cluster)
            self._elsewhere[named] = address

    def _write(self, proxy: str) -> None:
        addresses = {server.path: self.servers[_name(server)] for server in self.scene.servers}
        told = [*self.alertmanagers.values()] or [proxy]  # which takes every alert and tells nobody
        plan = adapted(self._plan, self.scene, addresses, told, self.inbox.address)
        plan = faster(plan, self.fast) if self.fast > 1 else plan
        for artifact in (*prometheus(plan), *rules(plan), *alertmanager(plan)):
            path = self.folder / artifact.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(proxied(artifact.text, proxy) if artifact.path in addresses else artifact.text, "utf-8")

    def _start_alertmanagers(self) -> None:
        program = self._tools[1]
        if program is None:
            return
        members = [free_address() for _ in self.alertmanagers] if len(self.alertmanagers) > 1 else []
        for number, (name, address) in enumerate(self.alertmanagers.items()):
            peers = [*members[number:], *members[:number]]
            place, file = self.folder / "run" / name, self.folder / CONFIGURATION
            self.programs[name] = servers.alertmanager(self._stack, program, place, file, address, peers)

    def _answer(self, url: str, _body: bytes) -> str | None:
        """What a scrape through the proxy gets: the page of a real server of the stage, or of the site."""
        parts = urlsplit(url)
        if not parts.netloc:
            return ""  # an alert for nobody
        real = self._elsewhere.get(parts.netloc)
        if real is None:
            return self.site.answer(url)
        try:
            return servers.get(real, f"{parts.path}?{parts.query}" if parts.query else parts.path)[1]
        except (OSError, http.client.HTTPException):
            return None


def _name(server: Server) -> str:
    return server.path.rpartition("/")[2].removesuffix(".yml")

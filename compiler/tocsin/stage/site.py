"""The site on the stage: everything that a scene's servers scrape, sound until a fault is asked for.

Nobody listens for it: its pages are asked for by the URLs that the generated configurations have for them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tocsin import capacity
from tocsin.catalog import DEEP_JOB, metrics_of
from tocsin.emit.dcgm import counters
from tocsin.fleet import estate, work
from tocsin.fleet.board import Board
from tocsin.fleet.exposition import page
from tocsin.fleet.node import Node
from tocsin.fleet.port import DOWNED, PHYSICAL, STATE, Port
from tocsin.stage.application import Application
from tocsin.stage.scene import job_id, namespace, targets, tenant_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tocsin.factory.clusters import NodeGroup
    from tocsin.fleet.exposition import Family
    from tocsin.plan import Plan
    from tocsin.stage.application import Series
    from tocsin.stage.scene import Scene

_FRESH = 0.4  # seconds for which a page is good: two replicas ask for the same one at about the same time
_SPEED = 50e9  # bytes a second of a port whose group states none: 400Gb/s
_ADAPTERS = 2  # of a group that names none
Page = Callable[[str], str]  # of path and query


class Site:
    """Nodes by their hosts, applications by their job and host, and what can befall them."""

    def __init__(self, scene: Scene, plan: Plan) -> None:
        self.scene = scene
        self.nodes: dict[str, Node] = {}
        self.applications: dict[tuple[str, str], Application] = {}
        self._fresh: dict[str, tuple[float, str]] = {}  # pages by their URLs, and when they were made
        self._dead: set[str] = set()  # hosts of which nothing answers
        self._silent: set[tuple[str, str]] = set()  # jobs that do not answer on a host
        self.ill: set[tuple[str, str]] = set()  # all that ever were silent on purpose; any job has the name ""
        files = {artifact.path: artifact.text for artifact in counters(plan)}
        for group, hosts in scene.groups:
            for host in hosts:
                self.nodes[host] = self._node(group, host, files)
        gpus = {host: [board.uuid for board in node.boards] for host, node in self.nodes.items()}
        self._whole = estate.Seen([*gpus], gpus, max(len(node.ports) for node in self.nodes.values()))
        for host, node in self.nodes.items():
            node.beside = estate.of_node(self._whole, host, scene.factory.metrics)
        self._places = dict(self._listed())

    def answer(self, url: str) -> str | None:
        """The page at a URL; None where nobody answers."""
        parts = urlsplit(url)
        found = self._places.get(parts.netloc) or self._places.get(parts.netloc.removesuffix(":80"))
        if found is None:
            return None
        job, host, made = found
        if host in self._dead or (job, host) in self._silent:
            return None
        if (job, host) in self.applications:  # their counters are read for how fast they rise
            return made(parts.path)
        now = time.monotonic()
        came, text = self._fresh.get(url, (-_FRESH, ""))
        if now - came > _FRESH:
            text = made(f"{parts.path}?{parts.query}" if parts.query else parts.path)
            self._fresh[url] = now, text
        return text

    def places(self) -> set[tuple[str, str]]:
        """What is scraped of it: jobs, each with a host that it stands on."""
        return {(job, host) for job, host, _ in self._places.values() if host}

    # --- how it is made -----------------------------------------------------------------------------------------------

    def _node(self, group: NodeGroup, host: str, files: Mapping[str, str]) -> Node:
        scene, cluster = self.scene, self.scene.cluster
        number = scene.hosts.index(host)
        job = job_id(scene.factory, number)
        busy = [one for one in cluster.jobs if host in scene.applications[one.name]]
        tenant = tenant_of(scene.factory, busy[0], number) if busy else next(iter(scene.factory.tenants), "")
        pod = work.Pod(
            namespace(scene.factory, tenant), f"{group.name}-{host}", dict.fromkeys(cluster.job_labels[:1], job)
        )
        node = Node(
            host,
            model=group.gpu.name,
            gpus=group.gpus,
            jobs=() if cluster.on_pods else (job,),
            release=scene.factory.targets.dcgm_exporter,
            adapters=0,
            fabric=group.fabric,
            on_pods=cluster.on_pods,
            pods=dict.fromkeys(range(group.gpus), (pod,)) if cluster.on_pods else {},
            sharing=group.sharing,
            shares=group.shares,
        )
        if group.fabric != "none":
            devices = group.devices or tuple(f"mlx5_{index}" for index in range(_ADAPTERS))
            node.ports = [Port(device, float(group.port_speed or _SPEED), group.fabric) for device in devices]
        node.collect(files[f"exporters/dcgm/{cluster.name}-{group.name}.csv"])
        if deep := files.get(f"exporters/dcgm/{cluster.name}-{group.name}-deep.csv"):
            node.collect_deep(deep)
        return node

    def _listed(self) -> Iterator[tuple[str, tuple[str, str, Page]]]:
        """Every address that is asked: its job, its host if it has one, and what makes its pages."""
        for job in (job for server in self.scene.servers for job in server.jobs):
            for target in targets(self.scene, job):
                host = dict(target.labels).get("node", "")
                made = self._maker(job.name, host)
                if made is not None:
                    yield target.address, (job.name, host, made)

    def _maker(self, job: str, host: str) -> Page | None:
        if job in ("dcgm", DEEP_JOB, "node"):
            return lambda _path: self.nodes[host].page(job)
        if job in self.scene.applications:
            return self._application(job, host)
        exporter = next((one for one in self.scene.cluster.exporters if one.kind.job == job), None)
        if exporter is not None and exporter.kind.mapped:
            return self._application(job, host)
        if exporter is not None:
            return partial(self._estate, exporter.kind.id, host)
        if job == capacity.ALERTMANAGER:  # one that is well, where the stage has no real one
            return lambda _path: self._alertmanager()
        return (lambda _path: "") if job == capacity.PEERS else None

    def _estate(self, kind: str, host: str, path: str) -> str:
        exporter = next(one for one in self.scene.cluster.exporters if one.kind.id == kind)
        return estate.answer(exporter.kind, exporter.flavour, path, self._whole, host)

    def _alertmanager(self) -> str:
        members = len(self.scene.factory.alerting.alertmanagers)
        shown = estate.families(metrics_of("alertmanager"), self._whole, {})
        return page(
            replace(one, samples=[({}, members)]) if one.name == "alertmanager_cluster_members" else one
            for one in shown
        )

    def _application(self, job: str, host: str) -> Page:
        if (job, host) not in self.applications:
            self.applications[job, host] = Application(self.scene.factory, job, self._worn(job, host))
        made = self.applications[job, host]
        return lambda _path: made.page()

    def _worn(self, job: str, host: str) -> dict[str, dict[str, str]]:
        """What an application calls its job and its tenant; nothing where its target says it."""
        own = next((one for one in self.scene.cluster.jobs if one.name == job), None)
        if own is None:
            return {}
        number = self.scene.hosts.index(host)
        tenant = tenant_of(self.scene.factory, own, number)
        accounts = self.scene.factory.tenants[tenant].accounts if tenant and not own.tenant else ()
        on_pods = self.scene.cluster.on_pods
        return {
            "job_id": {} if on_pods else {"slurm_job_id": job_id(self.scene.factory, number)},
            "tenant": {"account": accounts[0]} if accounts else {},
        }

    # --- faults of boards ---------------------------------------------------------------------------------------------

    def xid(self, host: str, gpu: int, code: int) -> None:
        """The driver of a GPU reports an XID error; 0 is none."""
        self.nodes[host].boards[gpu].xid(code)

    def vanish(self, host: str, gpu: int | None = None) -> None:
        """A GPU is gone, or all of a host, and its series with it."""
        self._presence(host, gpu, there=False)

    def return_(self, host: str, gpu: int | None = None) -> None:
        """What was gone is back."""
        self._presence(host, gpu, there=True)

    def throttle(self, host: str, gpu: int, reason: str = "hw_thermal") -> None:
        """A GPU is slowed down: sw_power_cap, hw_slowdown, sw_thermal, hw_thermal or hw_power_brake."""
        self.nodes[host].boards[gpu].throttle(reason)

    def ecc(self, host: str, gpu: int, count: int = 1) -> None:
        """So many uncorrected memory errors more."""
        self.nodes[host].boards[gpu].ecc(count)

    def field(self, host: str, gpu: int, name: str, value: float) -> None:
        """A field of DCGM shows a value."""
        self.nodes[host].boards[gpu].put(name, value)

    def count(self, host: str, gpu: int, name: str, amount: float = 1) -> None:
        """A counter of DCGM jumps by an amount."""
        self.nodes[host].boards[gpu].add(name, amount)

    def unlabelled(self, host: str) -> None:
        """Another GPU shows up, of which nobody knows the UUID."""
        node = self.nodes[host]
        stranger = Board(host, len(node.boards), node.boards[0].product, (), busy=False)
        stranger.uuid = ""
        node.boards.append(stranger)

    def _presence(self, host: str, gpu: int | None, *, there: bool) -> None:
        boards = self.nodes[host].boards
        for board in boards if gpu is None else [boards[gpu]]:
            board.present = there

    # --- faults of ports ----------------------------------------------------------------------------------------------

    def link_down(self, host: str, port: int = 0) -> None:
        """A port of the fabric loses its link and stays down."""
        self.nodes[host].ports[port].down()

    def link_up(self, host: str, port: int = 0) -> None:
        """The link is there again; what was counted stays counted."""
        for name, value in ((STATE, 4), (PHYSICAL, 5)):
            self.nodes[host].ports[port].meters[name].put(value)

    def flap(self, host: str, port: int = 0) -> None:
        """A link goes down and comes back between two scrapes: only its counter tells."""
        self.nodes[host].ports[port].meters[DOWNED].add(1)

    def port_errors(self, host: str, metric: str, rate: float, port: int = 0) -> None:
        """A counter of a port rises by so much a second from now on."""
        self.nodes[host].ports[port].meters[metric].run(rate)

    # --- faults of hosts ----------------------------------------------------------------------------------------------

    def node_down(self, host: str) -> None:
        """Nothing of a host answers."""
        self._dead.add(host)
        self.ill.add(("", host))

    def node_up(self, host: str) -> None:
        """It answers again."""
        self._dead.discard(host)

    def exporter_down(self, host: str, job: str = "dcgm") -> None:
        """What a job scrapes on a host hangs up on whoever asks it; one on no host has the host ``."""
        self._silent.add((job, host))
        self.ill.add((job, host))

    def exporter_up(self, host: str, job: str = "dcgm") -> None:
        """It answers again."""
        self._silent.discard((job, host))

    def node_shows(self, host: str, metric: str, value: float) -> None:
        """Every series of a metric of node_exporter shows a value; KeyError where the host has none."""
        node = self.nodes[host]
        before = node.beside
        if metric not in [family.name for family in before()]:
            raise KeyError(metric)

        def now() -> Iterator[Family]:
            for family in before():
                shown = [(labels, value) for labels, _ in family.samples]
                yield replace(family, samples=shown) if family.name == metric else family

        node.beside = now

    # --- faults of applications ---------------------------------------------------------------------------------------

    def errors(self, slo: str, share: float, host: str = "") -> None:
        """From now on this share of an objective's events is bad, on one host or on all; KeyError where none is."""
        found = [
            application.objectives[slo]
            for (_, at), application in self.applications.items()
            if slo in application.objectives and host in ("", at)
        ]
        if not found:
            raise KeyError(slo)
        for objective in found:
            objective.errors(share)

    def series(self, signal: str, host: str = "") -> list[Series]:
        """The series by which a signal shows, on one host or on all; their meters can be set."""
        return [
            one
            for (_, at), application in self.applications.items()
            if host in ("", at)
            for one in application.of_signal(signal)
        ]

    def loss(self, host: str, value: float = float("nan")) -> None:
        """The loss of a training job is this from now on."""
        for one in self.series("train_loss", host):
            one.meter.put(value)

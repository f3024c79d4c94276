"""Which faults a spec can show, and where: those of one round are on hosts of their own, and disturb each other not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.drill.expectation import expected
from tocsin.drill.faults import Fault, Place
from tocsin.indicators import Latency, Ratio, TimeSlice
from tocsin.stage.scene import job_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.drill.expectation import Expected
    from tocsin.pipeline import Compiled
    from tocsin.stage import Stage

_LACKS = {
    "cabled": "no group has InfiniBand",
    "loss": "no training job shows a `train_loss`",
    "steps": "no objective counts the steps of a job",
    "events": "no objective counts the events of a service",
    "past": "its alert asks for an hour of past, which a fresh server has not got",
    "replica": "`collection.servers` has no `replicas: 2`",
    "member": "`alerting` has one Alertmanager only",
}


class Chosen(NamedTuple):
    """A fault at its place, and what it has to lead to: None where nobody is to be told."""

    fault: Fault
    place: Place
    expected: Expected | None


class Choice(NamedTuple):
    """Faults by rounds, and those that are left out with the reason."""

    rounds: tuple[tuple[Chosen, ...], ...]
    left_out: tuple[tuple[str, str], ...]


def choose(compiled: Compiled, stage: Stage, faults: Iterable[Fault]) -> Choice:
    """The faults that a stage can show, each in the first round that has a place for it."""
    rounds: list[list[Chosen]] = []
    left_out: list[tuple[str, str]] = []
    able = []
    for fault in faults:
        places = _places(stage, fault)
        reason = _reason(compiled, fault, places)
        if reason:
            left_out.append((fault.name, reason))
        else:
            able.append((fault, places))
    for fault, places in sorted(able, key=lambda one: len(one[1])):  # those with little choice choose first
        new: list[Chosen] = []
        for round_ in (*rounds, new):
            free = [place for place in places if not _taken(place, round_)]
            if free:
                round_.append(Chosen(fault, free[0], expected(compiled.plan, fault.alert, free[0].slo)))
                break
        rounds += [new] if new else []
    return Choice(tuple(map(tuple, rounds)), tuple(left_out))


def _reason(compiled: Compiled, fault: Fault, places: Sequence[Place]) -> str:
    """Why a fault cannot be shown; empty where it can."""
    if not places:
        return _LACKS.get(fault.at, "no host is free for it")
    if fault.alert and expected(compiled.plan, fault.alert, places[0].slo) is None:
        return f"the spec has no alert {fault.alert}"
    return ""


def _taken(place: Place, round_: Sequence[Chosen]) -> bool:
    """Whether somebody else is at a place: on its host, or at its objective. A server that dies disturbs all others."""
    others = [chosen.place for chosen in round_]
    if others and bool(place.server) != bool(others[0].server):
        return True
    return any(
        (place.host and place.host == other.host) or (place.slo and not place.host and place.slo == other.slo)
        for other in others
    )


def _places(stage: Stage, fault: Fault) -> list[Place]:
    """Where it can happen, the best place first."""
    scene = stage.scene
    match fault.at:
        case "replica":
            names = [server.path.rpartition("/")[2].removesuffix(".yml") for server in scene.servers]
            return [_server(name) for name in names if name.endswith("replica-b")][-1:]
        case "member":
            told = scene.factory.alerting.alertmanagers
            return [_member(index, address) for index, address in enumerate(told, 1)][1:]
        case "past":
            return []
        case "events":
            return [Place(slo=slo, marks=(("slo", slo),)) for slo in _objectives(stage, Ratio, Latency)]
        case "steps":
            slos = _objectives(stage, TimeSlice)
            return [
                _host(stage, host, slo)
                for slo in slos
                for (_, host), application in stage.site.applications.items()
                if slo in application.objectives and host
            ]
    return [_host(stage, host) for host in _hosts(stage, fault.at)]


def _hosts(stage: Stage, at: str) -> list[str]:
    """Hosts that a fault can happen on; those that answer people come last."""
    scene, site = stage.scene, stage.site
    serving = {
        host for job in scene.cluster.jobs if job.workload == "inference" for host in scene.applications[job.name]
    }
    training = {
        host for job in scene.cluster.jobs if job.workload == "training" for host in scene.applications[job.name]
    }
    hosts = sorted(scene.hosts, key=lambda host: host in serving)
    if at == "cabled":
        return [host for host in hosts if site.nodes[host].ports and site.nodes[host].fabric == "infiniband"]
    if at == "loss":
        return [host for host in hosts if site.series("train_loss", host)]
    return [host for host in hosts if host in training] or hosts if at == "training" else hosts


def _objectives(stage: Stage, *kinds: type) -> list[str]:
    """The objectives of some kinds that an application on the stage has events for, the strictest first."""
    shown = {slo for application in stage.site.applications.values() for slo in application.objectives}
    slos = sorted(stage.scene.factory.slos.values(), key=lambda slo: slo.budget)
    return [slo.id for slo in slos if slo.id in shown and isinstance(slo.indicator, kinds)]


def _host(stage: Stage, host: str, slo: str = "") -> Place:
    job = job_id(stage.scene.factory, stage.scene.hosts.index(host))
    own = dict.fromkeys((("node", host), ("job_id", job)))
    return Place(host, slo, marks=tuple(own))


def _server(name: str) -> Place:
    return Place(server=name, marks=(("peer", name),))


def _member(number: int, address: str) -> Place:
    return Place(server=f"alertmanager-{number}", marks=(("instance", address), ("alertmanager", address)))

"""A plan for the stage: the generated one, with nothing replaced but where things are and, where asked, how fast.

Rules, routes, groups, waits, inhibitions, mute times, relabelling and limits stay as they were generated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from tocsin import capacity
from tocsin.factory import Channel
from tocsin.plan import Alert
from tocsin.stage.scene import targets
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.plan import Plan, Receiver, RuleFile, RuleGroup, ScrapeJob, Server
    from tocsin.routes import Route
    from tocsin.stage.scene import Scene

_LEAST = 1000  # milliseconds: no server is asked more often than once a second
Rule = TypeVar("Rule")


def adapted(plan: Plan, scene: Scene, addresses: Mapping[str, str], alertmanagers: Sequence[str], inbox: str) -> Plan:
    """The plan for a scene.

    `addresses` are those of the servers by their paths; whoever is told is told at `inbox`.
    """
    servers = tuple(_server(one, scene, addresses[one.path], alertmanagers) for one in scene.servers)
    told = plan.notifications
    receivers = tuple(_receiver(one, inbox) for one in told.receivers)
    return plan._replace(servers=servers, notifications=told._replace(receivers=receivers))


def _server(server: Server, scene: Scene, address: str, alertmanagers: Sequence[str]) -> Server:
    return server._replace(
        jobs=tuple(_job(job, scene, address) for job in server.jobs),
        alertmanagers=tuple(alertmanagers),
        remote_writes=(),
        kept=None,
    )


def _job(job: ScrapeJob, scene: Scene, address: str) -> ScrapeJob:
    """What a discovery would tell stands in a file; a server reads its own page where it listens on the stage."""
    here = targets(scene, job)
    if job.name == capacity.ITSELF:
        here = tuple(one._replace(address=address) for one in here)
    is_told = bool(job.discovery or job.watched or job.targets_file)
    file = job.targets_file or f"targets/{scene.cluster.name}-{job.name}.json"
    return job._replace(
        targets=here, targets_file=file if is_told else "", discovery=None, watched="", target_relabel=()
    )


def _receiver(receiver: Receiver, inbox: str) -> Receiver:
    """Told at a path of its own name; one that stays silent still does."""
    url = f"http://{inbox}/{quote(receiver.name, safe='')}"
    return receiver._replace(channels=(Channel("webhook", {"url": url}),) if receiver.channels else ())


def proxied(configuration: str, proxy: str) -> str:
    """A server's configuration, all of whose targets are asked through a proxy."""
    return configuration.replace("\n  scrape_timeout: ", f"\n  proxy_url: http://{proxy}\n  scrape_timeout: ")


# --- time -------------------------------------------------------------------------------------------------------------


def faster(plan: Plan, factor: int) -> Plan:
    """The plan with its waits divided: intervals of scrapes and rules, `for`, and how long routes wait and repeat.

    Windows of expressions stay: what an alert looks back on is its meaning.
    """
    notifications = plan.notifications._replace(root=_faster_route(plan.notifications.root, factor))
    return plan._replace(
        servers=tuple(_faster_server(server, factor) for server in plan.servers),
        rules=_faster_files(plan.rules, factor),
        notifications=notifications,
    )


def _pace(interval: Duration, factor: int) -> Duration:
    return Duration(max(int(interval) // factor, min(_LEAST, int(interval))))


def _faster_server(server: Server, factor: int) -> Server:
    jobs = tuple(job._replace(interval=_pace(job.interval, factor)) for job in server.jobs)
    return server._replace(interval=_pace(server.interval, factor), jobs=jobs)


def _faster_files(files: Sequence[RuleFile], factor: int) -> tuple[RuleFile, ...]:
    """Files that share their groups go on doing so."""
    made: dict[int, tuple[RuleGroup, ...]] = {}
    for file in files:
        if id(file.groups) not in made:
            made[id(file.groups)] = tuple(_faster_group(group, factor) for group in file.groups)
    return tuple(file._replace(groups=made[id(file.groups)]) for file in files)


def _faster_group(group: RuleGroup, factor: int) -> RuleGroup:
    interval = _pace(group.interval, factor) if group.interval else None
    return group._replace(interval=interval, rules=tuple(_faster_rule(rule, factor) for rule in group.rules))


def _faster_rule(rule: Rule, factor: int) -> Rule:
    if isinstance(rule, Alert) and rule.hold:
        return rule._replace(hold=Duration(int(rule.hold) // factor))
    return rule


def _faster_route(route: Route, factor: int) -> Route:
    return route._replace(
        wait=_sooner(route.wait, factor),
        interval=_sooner(route.interval, factor),
        repeat=_sooner(route.repeat, factor),
        children=tuple(_faster_route(child, factor) for child in route.children),
    )


def _sooner(time: Duration | None, factor: int) -> Duration | None:
    """Alertmanager takes no interval of nought, and a wait of nought stays what it is."""
    return Duration(max(int(time) // factor, 1)) if time else time

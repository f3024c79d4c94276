"""A plan for the stage: the generated one, with nothing replaced but where things are.

Rules, routes, groups, waits, inhibitions, mute times, relabelling and limits stay as they were generated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from tocsin import capacity
from tocsin.factory.owners import Channel
from tocsin.stage.scene import targets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.plan import Plan
    from tocsin.plan.notifications import Receiver
    from tocsin.plan.servers import ScrapeJob, Server
    from tocsin.routes import Route
    from tocsin.stage.scene import Scene


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


def timeless(plan: Plan) -> Plan:
    """The plan with no hours and no maintenance: whoever would be told at some time is told at once."""
    return plan._replace(
        notifications=plan.notifications._replace(root=_unmuted(plan.notifications.root), intervals=())
    )


def _unmuted(route: Route) -> Route:
    return route._replace(muted=(), active=(), children=tuple(map(_unmuted, route.children)))


def proxied(configuration: str, proxy: str) -> str:
    """A server's configuration, all of whose targets are asked through a proxy."""
    return configuration.replace("\n  scrape_timeout: ", f"\n  proxy_url: http://{proxy}\n  scrape_timeout: ")

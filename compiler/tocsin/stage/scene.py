"""What of a factory is put on a stage: one cluster, some hosts of each node group, and where its applications run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.plan.servers import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, Job, NodeGroup
    from tocsin.pipeline import Compiled
    from tocsin.plan.servers import ScrapeJob, Server

NODES = 4  # of each group, where nobody says how many
_PORT = 8000  # of applications whose discovery tells the port


class Scene(NamedTuple):
    """A cluster with its servers; the hosts of each of its node groups, and of each of its applications."""

    factory: Factory
    cluster: Cluster
    servers: tuple[Server, ...]
    groups: tuple[tuple[NodeGroup, tuple[str, ...]], ...]
    applications: dict[str, tuple[str, ...]]

    @property
    def whole(self) -> Server:
        """The server that sees the whole cluster: its only one, or the one above its shards, of the first replica."""
        first = self.servers[0].external_labels
        replica = dict(first).get("replica")
        return [one for one in self.servers if dict(one.external_labels).get("replica") == replica][-1]

    @property
    def hosts(self) -> tuple[str, ...]:
        """All hosts that are on the stage."""
        return tuple(host for _, hosts in self.groups for host in hosts)


def scene(compiled: Compiled, cluster: str = "", nodes: int = NODES, replicas: int = 1) -> Scene:
    """The scene of a cluster, or of the first one: `nodes` hosts of each group, or as many as run its applications.

    Of servers that are there twice it has so many `replicas`. KeyError where no cluster is called so.
    """
    chosen = compiled.factory.clusters[cluster or next(iter(compiled.factory.clusters))]
    groups = tuple((group, _hosts(group, chosen.jobs, nodes)) for group in chosen.groups)
    present = tuple(host for _, hosts in groups for host in hosts)
    applications = {job.name: _stages(job, index, chosen.jobs, present) for index, job in enumerate(chosen.jobs)}
    servers = [one for one in compiled.plan.servers if one.path.startswith(f"prometheus/{chosen.name}/")]
    return Scene(compiled.factory, chosen, tuple(_of_replicas(servers, replicas)), groups, applications)


def targets(scene: Scene, job: ScrapeJob) -> tuple[Target, ...]:
    """Those targets of a job that are on the stage, with all labels that its discovery would give them."""
    cluster, hosts = scene.cluster, scene.hosts
    place = ("cluster", cluster.name)
    if job.watched:  # of nodes that work, and here all do
        port = scene.factory.deep.port if scene.factory.deep else 0
        return tuple(Target(f"{host}:{port}", (place, ("node", host))) for host in hosts)
    if job.name in scene.applications:
        return tuple(_application(scene, job, host) for host in scene.applications[job.name])
    here = [one for one in job.targets if dict(one.labels).get("node", hosts[0]) in hosts]
    asked = [one for one in here if "__param_target" in dict(one.labels)]
    return tuple(one for one in here if one not in asked[len(hosts) :])


def job_id(factory: Factory, number: int) -> str:
    """The id of the job that a host works for, as the schema allows it."""
    label = factory.labels.get("job_id")
    usual = (str(4711 + number), f"job-{number}", *((label.values or ()) if label else ()))
    return next((text for text in usual if label is None or label.allows(text)), usual[0])


def tenant_of(factory: Factory, job: Job, number: int) -> str:
    """Whose job it is that a host works for: the application's tenant, else one after the other."""
    if job.tenant or not factory.tenants:
        return job.tenant
    return list(factory.tenants)[number % len(factory.tenants)]


def _hosts(group: NodeGroup, jobs: Sequence[Job], nodes: int) -> tuple[str, ...]:
    """The first hosts of a group by turns of those that run the same applications, in the order of the group."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    places = {job.name: set(job.hosts) for job in jobs}
    for host in group.hosts:
        kinds.setdefault(tuple(name for name, at in places.items() if host in at), []).append(host)
    wanted = min(max(nodes, len(kinds)), len(group.hosts))
    found: set[str] = set()
    while len(found) < wanted:
        for waiting in kinds.values():
            if waiting and len(found) < wanted:
                found.add(waiting.pop(0))
    return tuple(host for host in group.hosts if host in found)


def _stages(job: Job, index: int, jobs: Sequence[Job], hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Where an application runs: on its own hosts, or on every so many-th where its discovery would tell them."""
    named = tuple(host for host in hosts if host in job.hosts)
    return named or hosts[index :: len(jobs)] or hosts[:1]


def _application(scene: Scene, job: ScrapeJob, host: str) -> Target:
    cluster = scene.cluster
    (own,) = (one for one in cluster.jobs if one.name == job.name)
    tenant = tenant_of(scene.factory, own, scene.hosts.index(host))
    labels = {"cluster": cluster.name, "node": host}
    if own.tenant or (tenant and not scene.factory.tenants[tenant].accounts):
        labels["tenant"] = tenant
    if cluster.on_pods:
        space = namespace(scene.factory, tenant)
        job_ = job_id(scene.factory, scene.hosts.index(host))
        labels |= {"namespace": space, "pod": f"{job.name}-{host}", "job_id": f"{space}/{job_}"}
    return Target(f"{host}:{own.port or _PORT + cluster.jobs.index(own)}", tuple(labels.items()))


def namespace(factory: Factory, tenant: str) -> str:
    """The namespace of a tenant's pods."""
    named = factory.tenants[tenant].namespaces if tenant else ()
    return named[0] if named else "default"


def _of_replicas(servers: Iterable[Server], replicas: int) -> Iterable[Server]:
    names = list(dict.fromkeys(dict(one.external_labels).get("replica", "") for one in servers))[:replicas]
    return (one for name in names for one in servers if dict(one.external_labels).get("replica", "") == name)

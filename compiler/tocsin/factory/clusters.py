"""Clusters: their nodes, and everything in them that is scraped."""

from collections.abc import Collection
from fractions import Fraction
from typing import NamedTuple

from tocsin.catalog.kinds import ExporterKind, GpuModel
from tocsin.discovery import Source
from tocsin.source import Span
from tocsin.units import Duration


class NodeGroup(NamedTuple):
    """Nodes of one kind. `port_speed` is bytes per second of each fabric port, None where it is not stated.

    `devices` are the adapters that belong to the fabric; none named means all that the exporter shows. A board whose
    `sharing` is mig has `shares` instances; where it is time_slicing, so many pods take turns on it.
    """

    name: str
    hosts: tuple[str, ...]
    gpu: GpuModel
    gpus: int
    fabric: str
    devices: tuple[str, ...]
    port_speed: Fraction | None
    origin: Span
    sharing: str = "none"
    shares: int = 1


class Job(NamedTuple):
    """An application's endpoints, scraped every `interval`; no hosts and port 0 where the discovery tells them."""

    name: str
    workload: str
    hosts: tuple[str, ...]
    port: int
    tenant: str
    interval: Duration
    origin: Span


class Exporter(NamedTuple):
    """An exporter of a cluster, scraped every `interval`.

    It listens at `port` of every node, or at `addresses`; `hosts` are those that a proxy is asked for.
    """

    kind: ExporterKind
    flavour: str
    port: int
    addresses: tuple[str, ...]
    hosts: tuple[str, ...]
    interval: Duration
    origin: Span


class Cluster(NamedTuple):
    """A cluster and everything in it that is scraped; `ports` of the exporters on its nodes, by their jobs.

    `discovery` is static, file or the kind of `source`, which is None where the targets are the spec's own hosts.
    `scheduler` is slurm or kubernetes; there the first of `job_labels` that a pod has names its job.
    """

    name: str
    region: str
    discovery: str
    source: Source | None
    ports: dict[str, int]
    groups: tuple[NodeGroup, ...]
    jobs: tuple[Job, ...]
    origin: Span
    exporters: tuple[Exporter, ...] = ()
    cooling: str = "air"
    scheduler: str = "slurm"
    job_labels: tuple[str, ...] = ()

    @property
    def nodes(self) -> int:
        """How many nodes its groups list."""
        return len({host for group in self.groups for host in group.hosts})

    @property
    def on_pods(self) -> bool:
        """Whether pods do its work, rather than jobs that a scheduler puts on its nodes itself."""
        return self.scheduler == "kubernetes"


def paces(clusters: Collection[Cluster], exporter: str, default: Duration) -> list[Duration]:
    """How often each cluster scrapes what an exporter or a job shows; `default` is that of the nodes' exporters."""
    found = []
    for cluster in clusters:
        found += [job.interval for job in cluster.jobs if job.name == exporter]
        found += [one.interval for one in cluster.exporters if one.kind.job == exporter]
        found += [default] if exporter in cluster.ports else []
    return found

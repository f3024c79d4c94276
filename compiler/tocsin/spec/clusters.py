"""`clusters`: what is there to be scraped. Its exporters have a module of their own."""

from typing import Literal

from pydantic import Field

from tocsin.spec.discovery import Discovery
from tocsin.spec.exporters import Exporters
from tocsin.spec.scalars import BitRate, Name, PodLabel, Region, Section, Text, Texts


class Gpu(Section):
    """The boards of a node. `model` names a row of the GPU catalogue.

    `shares` says how far each board is shared: into how many MIG instances, or by how many pods in turn.
    """

    model: Text
    count: int = Field(ge=1, le=72)
    sharing: Literal["none", "mig", "time_slicing"] = "none"
    shares: int | None = Field(default=None, ge=1, le=64)


class NodeGroup(Section):
    """Nodes of one kind. `fabric_devices` are the adapters in use, each of their ports must run at `fabric_speed`."""

    hosts: Texts
    gpu: Gpu
    fabric: Literal["infiniband", "roce", "none"] = "none"
    fabric_devices: Texts = ()
    fabric_speed: BitRate | None = None


class Job(Section):
    """An application's own endpoints: a trainer or a serving container. Its cluster's discovery may tell where."""

    workload: Literal["training", "inference"]
    hosts: Texts = ()
    port: int | None = Field(default=None, ge=1, le=65535)
    tenant: Name | None = None


class Cluster(Section):
    """One cluster: scraped by its own Prometheus.

    Under Kubernetes the first of `job_labels` that a pod has names its job; a pod without one is a job of its own.
    """

    region: Region
    scheduler: Literal["slurm", "kubernetes"]
    job_labels: list[PodLabel] | None = Field(default=None, min_length=1)
    cooling: Literal["air", "liquid"] = "air"
    discovery: Discovery
    exporters: Exporters = Exporters.model_construct()
    nodes: dict[Name, NodeGroup] = Field(min_length=1)
    jobs: dict[Name, Job] = Field(default={})

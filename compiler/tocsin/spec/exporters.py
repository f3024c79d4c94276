"""`clusters.*.exporters`: where the exporters of a cluster listen."""

from typing import Literal

from pydantic import Field

from tocsin.spec.scalars import Address, Section, Texts


class Exporter(Section):
    """Where an exporter listens on every node."""

    port: int = Field(ge=1, le=65535)


class Addressed(Section):
    """The addresses of an exporter that does not stand on the nodes."""

    at: list[Address] = Field(min_length=1)


class Slurm(Addressed):
    """Slurm's own page, or one of the programs that read Slurm for it."""

    flavour: Literal["native", "vpenso", "rivosinc", "sckyzo", "soperator"]


class Bmc(Section):
    """One process that asks the baseboard management controllers `hosts`, each by its name."""

    at: Address
    hosts: Texts


class Exporters(Section):
    """The exporters of a cluster. `dcgm` and `node` stand on every node, others are scraped where they are named."""

    dcgm: Exporter = Exporter.model_construct(port=9400)
    node: Exporter = Exporter.model_construct(port=9100)
    smartctl: Exporter | None = None
    slurm_job: Exporter | None = None
    nvidia_gpu: Exporter | None = None
    redfish: Exporter | None = None
    ib_switch: Addressed | None = None
    slurm: Slurm | None = None
    kube_state_metrics: Addressed | None = None
    gpu_operator: Addressed | None = None
    kueue: Addressed | None = None
    volcano: Addressed | None = None
    triton: Addressed | None = None
    vllm: Addressed | None = None
    otel: Addressed | None = None
    lustre: Addressed | None = None
    weka: Addressed | None = None
    nccl: Addressed | None = None
    bmc: Bmc | None = None
    cdu: Addressed | None = None

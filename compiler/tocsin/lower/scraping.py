"""Collection: the jobs of a cluster, their targets, and the names that every label has after ingest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import pattern
from tocsin.catalog import DEEP_JOB, EXPORTERS, is_field
from tocsin.ingest import RENAMED
from tocsin.lower import pods
from tocsin.lower.deep import deep_jobs, shared_flags
from tocsin.lower.discovery import discovered
from tocsin.lower.enforcement import enforced
from tocsin.lower.exporters import exporter_jobs
from tocsin.lower.itself import alertmanagers
from tocsin.plan.programs import CounterFile
from tocsin.plan.servers import Relabel, ScrapeJob, Target

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.owners import Tenant

# An exporter in a container calls its node by the pod's name: the target's own label is right where there is one.
_HOST_NAMES = ("Hostname", "hostname")
_BY_NAME = {old: new for old, new in RENAMED.items() if old not in _HOST_NAMES}
# err_msg repeats err_code; the driver's version on every series would end all of them at every driver upgrade.
_DROPPED = ("exported_.*", "err_msg", "DCGM_FI_DRIVER_VERSION", "DCGM_FI_SYSTEM_DRIVER_VERSION")
_NO_FIELD = 1 << 16  # what the exporter counts itself has no field of DCGM, and stands behind what has one
_JOB_IDS = ("hpc_job", "jobid", "slurm_job_id", "slurmjobid")


def node_jobs(factory: Factory, cluster: Cluster) -> list[ScrapeJob]:
    """The exporters that run on every node."""
    jobs = [discovered(factory, cluster, _exporter_job(factory, cluster, exporter)) for exporter in EXPORTERS]
    jobs += exporter_jobs(factory, cluster, on_nodes=True)
    nodes = _on_nodes(cluster, cluster.ports.get(DEEP_JOB, 0))
    return [*jobs, *deep_jobs(factory, cluster, _of_boards(factory, cluster), nodes, _targets_file(cluster, DEEP_JOB))]


def other_jobs(factory: Factory, cluster: Cluster) -> list[ScrapeJob]:
    """Exporters that stand elsewhere, and the applications' own endpoints."""
    jobs = (_application_job(factory, cluster, index) for index in range(len(cluster.jobs)))
    return [
        *exporter_jobs(factory, cluster, on_nodes=False),
        alertmanagers(factory, cluster),
        *(discovered(factory, cluster, job) for job in jobs),
    ]


def counter_files(factory: Factory) -> tuple[CounterFile, ...]:
    """The dcgm-exporter fields of every node group: what the signals of the factory need, by field id."""
    everywhere = (metric for metric in factory.metrics.values() if metric.exporter == "dcgm" and is_field(metric))
    metrics = tuple(sorted(everywhere, key=lambda metric: metric.field or _NO_FIELD))
    path = "exporters/dcgm/{}-{}.csv"
    return tuple(
        CounterFile(
            path.format(cluster.name, group.name),
            metrics,
            factory.refresh,
            group.origin,
            shared_flags(factory, cluster, group),
        )
        for cluster in factory.clusters.values()
        for group in cluster.groups
    )


def _exporter_job(factory: Factory, cluster: Cluster, exporter: str) -> ScrapeJob:
    canonical = _of_boards(factory, cluster) if exporter == "dcgm" else (Relabel("labeldrop", regex="exported_.*"),)
    return ScrapeJob(
        exporter,
        factory.interval,
        _on_nodes(cluster, cluster.ports[exporter]),
        _targets_file(cluster, exporter),
        (*canonical, *enforced(factory, exporter)),
        cluster.origin,
    )


def _of_boards(factory: Factory, cluster: Cluster) -> tuple[Relabel, ...]:
    """The names of the labels of dcgm-exporter's series, and whose pod works on the board."""
    has_instances = any(group.sharing == "mig" for group in cluster.groups)
    canonical = _canonical({**_BY_NAME, "GPU_I_PROFILE": "gpu_i_profile"} if has_instances else _BY_NAME)
    if cluster.on_pods:
        return (*canonical, *pods.of_boards(factory, cluster))
    if cluster.discovery == "kubernetes":
        return (*canonical, *pods.in_namespaces(("namespace",), tuple(factory.tenants.values())))
    return canonical


def _on_nodes(cluster: Cluster, port: int) -> tuple[Target, ...]:
    return tuple(
        Target(f"{host}:{port}", (("cluster", cluster.name), ("node", host)))
        for group in cluster.groups
        for host in group.hosts
    )


def _application_job(factory: Factory, cluster: Cluster, index: int) -> ScrapeJob:
    job = cluster.jobs[index]
    tenant = (("tenant", job.tenant),) if job.tenant else ()
    targets = tuple(
        Target(f"{host}:{job.port}", (("cluster", cluster.name), ("node", host), *tenant)) for host in job.hosts
    )
    steps = (
        [_tenant(cluster, tenant) for tenant in factory.tenants.values() if tenant.accounts] if not job.tenant else []
    )
    if cluster.on_pods:  # the job of the pod is the job of its series, whatever these say
        steps += [Relabel(source=("job_id", own), regex=";(.+)", target="job_id") for own in _JOB_IDS]
        steps += _canonical(dict.fromkeys((*_JOB_IDS, "account"), ""))
    else:
        steps += _canonical({**dict.fromkeys(_JOB_IDS, "job_id"), "account": ""})
    return ScrapeJob(
        job.name,
        job.interval,
        targets,
        _targets_file(cluster, job.name),
        (*steps, *enforced(factory, job.name)),
        job.origin,
    )


def _targets_file(cluster: Cluster, job: str) -> str:
    return f"targets/{cluster.name}-{job}.json" if cluster.discovery == "file" else ""


def _canonical(renamed: dict[str, str]) -> tuple[Relabel, ...]:
    """Copy every spelling to its one name, then drop the spellings."""
    copies = [Relabel(source=(old,), regex="(.+)", target=new) for old, new in renamed.items() if new]
    copies += [Relabel(source=("node", host), regex=";(.+)", target="node") for host in _HOST_NAMES]
    dropped = [old for old in renamed if not old.startswith("exported_")]
    return (*copies, Relabel("labeldrop", regex="|".join((*dropped, *_HOST_NAMES, *_DROPPED))))


def _tenant(cluster: Cluster, tenant: Tenant) -> Relabel:
    accounts = "|".join(pattern.literal(account) for account in sorted(tenant.accounts))
    if cluster.discovery == "kubernetes":  # where the namespace has told already, a pod's own word is not asked for
        return Relabel(source=("tenant", "account"), regex=f";(?:{accounts})", target="tenant", replacement=tenant.name)
    return Relabel(source=("account",), regex=accounts, target="tenant", replacement=tenant.name)

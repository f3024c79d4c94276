"""Collection: one Prometheus a cluster, its jobs, its targets, and the names that every label has after ingest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import pattern
from tocsin.catalog import EXPORTERS
from tocsin.lower.exporters import exporter_jobs
from tocsin.plan import CounterFile, Relabel, ScrapeJob, Server, Target

if TYPE_CHECKING:
    from tocsin.factory import Cluster, Factory, Tenant

# Both spellings of a label are mapped, since a fleet runs two releases of an exporter during every upgrade.
# exported_* is what Prometheus makes of an exporter's label that a target label already has.
_RENAMED = {
    "UUID": "gpu_uuid",
    "uuid": "gpu_uuid",
    "hpc_job": "job_id",
    "GPU_I_ID": "gpu_i_id",
    "exported_pod": "pod",
    "exported_namespace": "namespace",
    "exported_container": "container",
}
# An exporter in a container calls its node by the pod's name: the target's own label is right where there is one.
_HOST_NAMES = ("Hostname", "hostname")
# err_msg repeats err_code; the driver's version on every series would end all of them at every driver upgrade.
_DROPPED = ("exported_.*", "err_msg", "DCGM_FI_DRIVER_VERSION", "DCGM_FI_SYSTEM_DRIVER_VERSION")
_NO_FIELD = 1 << 16  # what the exporter counts itself has no field of DCGM, and stands behind what has one
_JOB_IDS = ("hpc_job", "jobid", "slurm_job_id", "slurmjobid")


def server(factory: Factory, cluster: Cluster, rule_files: tuple[str, ...]) -> Server:
    """The Prometheus of a cluster."""
    jobs = [_exporter_job(factory, cluster, exporter) for exporter in EXPORTERS]
    jobs += exporter_jobs(factory, cluster, targets_files=cluster.discovery == "file")
    jobs += [_application_job(factory, cluster, index) for index in range(len(cluster.jobs))]
    return Server(
        path=f"prometheus/{cluster.name}/prometheus.yml",
        interval=factory.interval,
        external_labels=(("cluster", cluster.name), ("region", cluster.region)),
        rule_files=rule_files,
        alertmanagers=factory.alerting.alertmanagers,
        jobs=tuple(jobs),
        origin=cluster.origin,
    )


def counter_files(factory: Factory) -> tuple[CounterFile, ...]:
    """The dcgm-exporter fields of every node group: what the signals of the factory need, by field id."""
    metrics = sorted((m for m in factory.metrics.values() if m.exporter == "dcgm"), key=lambda m: m.field or _NO_FIELD)
    return tuple(
        CounterFile(f"exporters/dcgm/{cluster.name}-{group.name}.csv", tuple(metrics), factory.interval, group.origin)
        for cluster in factory.clusters.values()
        for group in cluster.groups
    )


def _exporter_job(factory: Factory, cluster: Cluster, exporter: str) -> ScrapeJob:
    targets = tuple(
        Target(f"{host}:{cluster.ports[exporter]}", (("cluster", cluster.name), ("node", host)))
        for group in cluster.groups
        for host in group.hosts
    )
    relabel = _canonical(_RENAMED) if exporter == "dcgm" else (Relabel("labeldrop", regex="exported_.*"),)
    return ScrapeJob(exporter, factory.interval, targets, _targets_file(cluster, exporter), relabel, cluster.origin)


def _application_job(factory: Factory, cluster: Cluster, index: int) -> ScrapeJob:
    job = cluster.jobs[index]
    tenant = (("tenant", job.tenant),) if job.tenant else ()
    targets = tuple(
        Target(f"{host}:{job.port}", (("cluster", cluster.name), ("node", host), *tenant)) for host in job.hosts
    )
    steps = [_tenant(tenant) for tenant in factory.tenants.values()] if not job.tenant else []
    steps += _canonical({**dict.fromkeys(_JOB_IDS, "job_id"), "account": ""})
    return ScrapeJob(job.name, job.interval, targets, _targets_file(cluster, job.name), tuple(steps), job.origin)


def _targets_file(cluster: Cluster, job: str) -> str:
    return f"targets/{cluster.name}-{job}.json" if cluster.discovery == "file" else ""


def _canonical(renamed: dict[str, str]) -> tuple[Relabel, ...]:
    """Copy every spelling to its one name, then drop the spellings."""
    copies = [Relabel(source=(old,), regex="(.+)", target=new) for old, new in renamed.items() if new]
    copies += [Relabel(source=("node", host), regex=";(.+)", target="node") for host in _HOST_NAMES]
    dropped = [old for old in renamed if not old.startswith("exported_")]
    return (*copies, Relabel("labeldrop", regex="|".join((*dropped, *_HOST_NAMES, *_DROPPED))))


def _tenant(tenant: Tenant) -> Relabel:
    accounts = "|".join(pattern.literal(account) for account in sorted(tenant.accounts))
    return Relabel(source=("account",), regex=accounts, target="tenant", replacement=tenant.name)

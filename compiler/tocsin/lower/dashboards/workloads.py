"""Training jobs and inference services: what they say of themselves, and the boards that they work on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.indicators import Slowdown
from tocsin.lower.alerts import jobs_of
from tocsin.lower.dashboards import boards
from tocsin.lower.dashboards.measures import measured
from tocsin.lower.dashboards.monitoring import targets_at_fault
from tocsin.lower.dashboards.objectives import budgets_left, paces
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import (
    AT_CLUSTER,
    AT_GPU,
    BAD,
    BOARD,
    CLUSTER,
    END,
    GPU,
    LINES,
    count_of,
    firing,
    from_here,
    graph,
    of_signal,
    spread,
    stat,
    to_gpus,
    to_job,
    worst,
)
from tocsin.lower.presence import TEMP
from tocsin.plan.dashboards import Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard, Link, Panel

_JOB = 'job_id=~"$job_id", job_id!=""'
_HIS = f"{AT_GPU}, {_JOB}"
_TENANT = 'tenant=~"$tenant"'
_SERVICE = 'service=~"$service"'


def training(factory: Factory) -> Dashboard | None:
    """The page of a developer: from the loss to the boards that it was computed on."""
    if "job_metadata" not in factory.signals:
        return None
    jobs = jobs_of(factory, "training")
    own = list(measured(factory, lambda metric: metric.exporter in jobs and _open(metric), _at_job, _lead(factory)))
    variables = [CLUSTER]
    known = f'{TEMP}{{{AT_CLUSTER}, job_id!=""}}'
    if named := _labelled(factory, jobs, "tenant", "job_id"):
        variables.append(Variable("tenant", "Tenant", f"label_values({named}{{{AT_CLUSTER}}}, tenant)"))
        known = f"{named}{{{AT_CLUSTER}, {_TENANT}}}"
    variables += [
        Variable("job_id", "Job", f"label_values({known}, job_id)"),
        Variable("node", "Node", f"label_values({TEMP}{{{AT_CLUSTER}, {_JOB}}}, node)"),
        BOARD,
    ]
    panels = (
        *_now(factory),
        *own,
        *_spikes(factory),
        *_paces(factory),
        *_his_boards(factory),
        *boards.xid_table(factory, f"{AT_GPU}, {_JOB}"),
        firing("Alerts of jobs", "Alerts about applications that fire.", 'layer="application"', links=to_job(factory)),
        targets_at_fault(factory, jobs, AT_CLUSTER),
    )
    owners = {factory.owner_of("application"), factory.owner_of("runtime")}
    about = "A training job: its progress, its nodes, its GPUs and their XIDs."
    return page(factory, "training", "Training", about, tuple(variables), panels, owners, title="training jobs")


def inference(factory: Factory) -> Dashboard | None:
    """The page of those who serve models."""
    jobs = jobs_of(factory, "inference")
    own = list(measured(factory, lambda metric: metric.exporter in jobs and _open(metric), _at_service))
    if not own:
        return None
    variables = [CLUSTER]
    for label, title in (("tenant", "Tenant"), ("service", "Service")):
        named = _labelled(factory, jobs, label)
        if named and any(f"${label}" in query.expr for panel in own for query in panel.queries):
            variables.append(Variable(label, title, f"label_values({named}{{{AT_CLUSTER}}}, {label})"))
    owners = {
        signal.owner for signal in factory.signals.values() for metric in signal.metrics if metric.exporter in jobs
    }
    panels = (
        *own,
        *budgets_left(factory),
        firing("Alerts of services", "Alerts about applications that fire.", 'layer="application"'),
        targets_at_fault(factory, jobs, AT_CLUSTER),
    )
    about = "Services that answer: how many requests, how long they take, how many fail."
    return page(factory, "inference", "Inference", about, tuple(variables), panels, owners, title="inference services")


def _open(metric: Metric) -> bool:
    return metric.sensitivity == "open"


def _at_job(metric: Metric) -> str:
    matchers = [AT_CLUSTER]
    if {"tenant", "job_id"} <= {*metric.labels}:
        matchers.append(_TENANT)
    if "job_id" in metric.labels:
        matchers.append('job_id=~"$job_id"')
    return ", ".join(matchers)


def _at_service(metric: Metric) -> str:
    matchers = [AT_CLUSTER]
    if "tenant" in metric.labels:
        matchers.append(_TENANT)
    if "service" in metric.labels:
        matchers.append(_SERVICE)
    return ", ".join(matchers)


def _lead(factory: Factory) -> Callable[[Metric], tuple[Link, ...]]:
    def links(metric: Metric) -> tuple[Link, ...]:
        return to_job(factory) if "job_id" in metric.labels else ()

    return links


def _labelled(factory: Factory, jobs: set[str], *labels: str) -> str:
    """A series that has some labels, to fill their variables; empty where none does."""
    found = (
        naming.series(metric)
        for signal in factory.signals.values()
        for metric in signal.metrics
        if metric.exporter in jobs and {*labels} <= {*metric.labels} and _open(metric)
    )
    return next(found, "")


def _now(factory: Factory) -> Iterator[Panel]:
    his = f"group by ({GPU}) ({TEMP}{{{_HIS}}})"
    yield stat("GPUs", f"Boards of the job. {of_signal(factory, 'job_metadata')}", f"count({his}) or vector(0)")
    nodes = f"count(group by (cluster, node) ({TEMP}{{{_HIS}}})) or vector(0)"
    yield stat("Nodes", f"Nodes of the job. {of_signal(factory, 'job_metadata')}", nodes)
    if "xid" in factory.signals:
        hit = f"count(group by ({GPU}) ({naming.XID_NEW}{{{AT_GPU}, {_JOB}}})) or vector(0)"
        about = f"Boards of the job that reported an XID within the last hour. {of_signal(factory, 'xid')}"
        yield count_of("GPUs with an XID", about, hit, BAD)


def _spikes(factory: Factory) -> Iterator[Panel]:
    """The loss as its alert sees it."""
    signal = factory.signals.get("train_loss")
    if signal is None or not signal.metrics or "job_id" not in signal.metrics[0].labels:
        return
    loss, factor = f"{signal.metrics[0].name}{{{_at_job(signal.metrics[0])}}}", factory.limits["train_loss_spike"]
    usual = f"quantile_over_time(0.5, {loss}[1h]{END}) > 0"
    times = f"max by (job_id) ({loss}{END} / ({usual}))"
    yield graph(
        "Loss against its median",
        f"How many times its median of the last hour a loss is, of the {LINES} jobs where it is highest; the line is "
        f"where the alert begins. {of_signal(factory, 'train_loss')}",
        [(worst("job_id", times), "{{job_id}}")],
        "none",
        steps=from_here(float(factor)),
        links=to_job(factory),
    )


def _paces(factory: Factory) -> Iterator[Panel]:
    if all("job_id" in slo.by for slo in factory.slos.values() if isinstance(slo.indicator, Slowdown)):
        yield from paces(factory, f'{AT_CLUSTER}, job_id=~"$job_id"')


def _his_boards(factory: Factory) -> Iterator[Panel]:
    if "throttle_reasons" in factory.signals:
        yield from _utilisation(factory)
    hot = f"max by ({GPU}) ({TEMP}{{{_HIS}}}{END})"
    yield graph(
        "Hottest GPUs",
        f"The {LINES} hottest boards of the job. {of_signal(factory, 'gpu_temp')}",
        [(worst(GPU, hot), "{{node}} {{gpu_uuid}}")],
        "celsius",
        links=(to_gpus(factory, *naming.GPU),),
    )
    boards_at = f"count by (cluster, node) (group by ({GPU}) ({TEMP}{{{_HIS}}}{END}))"
    yield graph(
        "Its nodes",
        f"Boards of the job on each of {LINES} nodes. {of_signal(factory, 'job_metadata')}",
        [(worst("cluster, node", boards_at, least=True), "{{node}}")],
        "short",
        links=(to_gpus(factory, *naming.NODE),),
    )


def _utilisation(factory: Factory) -> Iterator[Panel]:
    util = f"max by ({GPU}) ({naming.GPU_UTIL}{{{AT_GPU}}}{END} and on ({GPU}) {TEMP}{{{_HIS}}}{END})"
    about = of_signal(factory, "gpu_util")
    yield graph(
        "Utilisation of its GPUs",
        f"Smallest, middle and largest: the job waits for its slowest board. {about}",
        spread(util.replace(END, "")),
        "percent",
        maximum=100,
    )
    yield graph(
        "Least busy GPUs",
        f"The {LINES} boards of the job that idle most. {about}",
        [(worst(GPU, util, least=True), "{{node}} {{gpu_uuid}}")],
        "percent",
        maximum=100,
        links=(to_gpus(factory, *naming.GPU),),
    )

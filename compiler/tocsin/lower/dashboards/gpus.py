"""Nodes and GPUs: the boards, from all of them down to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.catalog import DEEP_JOB
from tocsin.lower.dashboards import boards
from tocsin.lower.dashboards.disks import failed, filling
from tocsin.lower.dashboards.monitoring import targets_at_fault
from tocsin.lower.dashboards.operations import missing_gpus
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import (
    AT_GPU,
    AT_NODE,
    BAD,
    BOARD,
    CLUSTER,
    END,
    GPU,
    NODE,
    WATCH,
    count_of,
    firing,
    graph,
    of_signal,
    to_gpus,
    to_job,
    up_to_here,
    worst,
)
from tocsin.lower.heat import MEMORY, MEMORY_LIMIT
from tocsin.lower.presence import TEMP
from tocsin.lower.throttling import CLOCK, MAX_CLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard, Panel

_POWER = "DCGM_FI_DEV_POWER_USAGE"


def gpus(factory: Factory) -> Dashboard:
    """The page of those who repair boards."""
    panels = (
        *_now(factory),
        firing("Alerts on silicon", "Alerts whose owner repairs nodes and boards.", 'layer="silicon"', 'node=~"$node"'),
        *boards.utilisation_map(factory, AT_GPU),
        *boards.utilisation(factory, AT_GPU),
        *boards.idlest_nodes(factory, AT_NODE),
        *boards.xid_table(factory, AT_GPU),
        *boards.new_xids(factory, AT_GPU),
        *boards.throttled(factory, AT_GPU),
        *boards.slow_for_long(factory, AT_GPU),
        *boards.hottest(factory, AT_GPU),
        *_slowest(factory),
        *_memory(factory),
        *boards.host_links(factory, AT_GPU),
        *boards.replays(factory, AT_GPU),
        *boards.memory_activity(factory, AT_GPU),
        *boards.lost_lanes(factory, AT_GPU),
        *failed(factory, AT_NODE),
        *filling(factory, AT_NODE),
        targets_at_fault(factory, ("dcgm", DEEP_JOB) if factory.deep else ("dcgm",), AT_NODE),
        *_jobs(factory),
    )
    description = (
        "The boards of a factory, of a node, or one: what they do, how warm they are, what is wrong with them."
    )
    owners = (factory.owner_of("silicon"),)
    return page(factory, "gpus", "GPUs", description, (CLUSTER, NODE, BOARD), panels, owners, title="nodes and GPUs")


def _now(factory: Factory) -> Iterator[Panel]:
    yield missing_gpus(factory)
    if "xid" in factory.signals:
        hit = f"count(group by ({GPU}) ({naming.XID_NEW}{{{AT_GPU}}})) or vector(0)"
        about = f"Boards that reported an XID within the last hour. {of_signal(factory, 'xid')}"
        yield count_of("GPUs with an XID", about, hit, BAD)
    if "throttle_reasons" in factory.signals:
        slow = f'count(max by ({GPU}) ({naming.THROTTLED}{{{AT_GPU}, reason!="sw_power_cap"}}) > 0) or vector(0)'
        about = f"Boards that heat or a power brake slows down. {of_signal(factory, 'throttle_reasons')}"
        yield count_of("GPUs slowed down", about, slow, WATCH)
    faults = f"count(max by ({GPU}) ({naming.MEMORY_FAULT}{{{AT_GPU}}}) > 0) or vector(0)"
    about = f"Boards whose memory has a fault that was not corrected. {of_signal(factory, 'ecc_uncorrected')}"
    yield count_of("Memory faults", about, faults, BAD)


def _slowest(factory: Factory) -> Iterator[Panel]:
    share = f"max by ({GPU}) ({CLOCK}{{{AT_GPU}}}{END} / {MAX_CLOCK}{{{AT_GPU}}}{END})"
    limit = factory.limits.get("gpu_clock_share")
    where = "" if limit is None else " The line is where the alert of a busy one begins."
    yield graph(
        "Lowest clocks",
        f"Share of the highest clock. A board that idles is slow on purpose.{where} {of_signal(factory, 'sm_clock')}",
        [(worst(GPU, share, least=True), "{{node}} {{gpu_uuid}}")],
        "percentunit",
        steps=() if limit is None else up_to_here(float(limit)),
        maximum=1,
        links=(to_gpus(factory, *naming.GPU),),
    )


def _memory(factory: Factory) -> Iterator[Panel]:
    warm = f"max by ({GPU}) ({MEMORY}{{{AT_GPU}}}{END})"
    edge = boards.where_it_alerts(factory, "gpu_memory_near_limit", "memory_temp_limit", MEMORY_LIMIT, AT_GPU)
    yield graph(
        "Hottest memory",
        of_signal(factory, "memory_temp"),
        [(worst(GPU, warm), "{{node}} {{gpu_uuid}}"), *edge],
        "celsius",
        links=(to_gpus(factory, *naming.GPU),),
    )
    power = f"max by ({GPU}) ({_POWER}{{{AT_GPU}}}{END})"
    yield graph(
        "Power of boards",
        of_signal(factory, "power_draw"),
        [(worst(GPU, power), "{{node}} {{gpu_uuid}}")],
        "watt",
        links=(to_gpus(factory, *naming.GPU),),
    )


def _jobs(factory: Factory) -> Iterator[Panel]:
    if "job_metadata" in factory.signals:
        boards_of = f'count by (job_id) (group by ({GPU}, job_id) ({TEMP}{{{AT_GPU}, job_id!=""}}{END}))'
        yield graph(
            "GPUs by job",
            f"Boards of the largest jobs. {of_signal(factory, 'job_metadata')}",
            [(worst("job_id", boards_of), "{{job_id}}")],
            "short",
            links=to_job(factory),
        )

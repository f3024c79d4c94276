"""Panels about the boards, for whichever dashboard shows some of them. `here` are the matchers of the place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.dashboards.panels import (
    BAD,
    END,
    GOOD,
    GPU,
    LINES,
    ROWS,
    WATCH,
    bars,
    from_here,
    graph,
    of_signal,
    spread,
    table,
    to_gpus,
    to_job,
    worst,
)
from tocsin.lower.heat import LINKS, SLOWDOWN
from tocsin.lower.presence import TEMP
from tocsin.lower.throttling import BUSY, FAULTS, LONG
from tocsin.lower.traffic import FULL, REPLAYS, replay_limit
from tocsin.plan.dashboards import Column, Panel, Query, Step
from tocsin.units import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory

_LIMIT = from_here(float(FULL))
_BOARD = "{{node}} {{gpu_uuid}}"
_LINKS = ("Host links with fewer lanes", "Host links of an old generation")
_TENTHS = range(0, 100, 10)


def new_xids(factory: Factory, here: str) -> Iterator[Panel]:
    """XIDs while they are news."""
    if "xid" in factory.signals:
        by = f"{GPU}, err_code"
        yield graph(
            "New XID errors",
            f"{of_signal(factory, 'xid')} Shown for the hour in which it is news.",
            [(worst(by, f"max by ({by}) ({naming.XID_NEW}{{{here}}}{END})"), f"XID {{{{err_code}}}} {_BOARD}")],
            "none",
            links=(to_gpus(factory, *naming.GPU),),
        )


def xid_table(factory: Factory, here: str) -> Iterator[Panel]:
    """XIDs of the last hour with the jobs that they hit."""
    if "xid" in factory.signals:
        by = f"{GPU}, err_code, job_id"
        yield table(
            "XIDs of the last hour",
            f"{of_signal(factory, 'xid')} The job is the one that the board worked for when the code came.",
            [f"topk({ROWS}, max by ({by}) ({naming.XID_NEW}{{{here}}}))"],
            tuple(Column(name, name) for name in ("err_code", *naming.GPU, "job_id")),
            links=(to_gpus(factory, *naming.GPU), *to_job(factory)),
        )


def throttled(factory: Factory, here: str) -> Iterator[Panel]:
    """Boards below their clock."""
    if "throttle_reasons" in factory.signals:
        yield graph(
            "Throttled GPUs",
            f"Boards that run below their clock. {of_signal(factory, 'throttle_reasons')} sw_power_cap is normal for "
            "training at its limit.",
            [(f"sum by (reason) ({naming.THROTTLED}{{{here}}})", "{{reason}}")],
            "short",
        )


def slow_for_long(factory: Factory, here: str) -> Iterator[Panel]:
    """Boards that heat or a power brake slows down again and again."""
    if "throttle_reasons" in factory.signals:
        by = f"{GPU}, reason"
        share = f'max by ({by}) (avg_over_time({naming.THROTTLED}{{{here}, reason=~"{FAULTS}"}}[10m]))'
        yield bars(
            "Throttled for longest",
            "Share of the last ten minutes; from a quarter on the alert begins for a board that works. "
            + of_signal(factory, "throttle_reasons"),
            [(f"topk({LINES}, {share})", f"{{{{reason}}}} {_BOARD}")],
            "percentunit",
            steps=from_here(float(LONG)),
            maximum=1,
            links=(to_gpus(factory, *naming.GPU),),
        )


def replays(factory: Factory, here: str) -> Iterator[Panel]:
    """Packets that are sent again over PCIe."""
    limit = min(replay_limit(group.gpu) for cluster in factory.clusters.values() for group in cluster.groups)
    again = f"max by ({GPU}) (increase({REPLAYS}{{{here}}}[15m]))"
    yield bars(
        "PCIe replays",
        f"Within the last quarter of an hour; from {limit} on the alert begins. {of_signal(factory, 'pcie_replay')}",
        [(f"topk({LINES}, {again})", _BOARD)],
        "short",
        steps=from_here(float(limit)),
        links=(to_gpus(factory, *naming.GPU),),
    )


def lost_lanes(factory: Factory, here: str) -> Iterator[Panel]:
    """Boards that work on fewer lanes of their host link than they have, or at an older generation of it."""
    for title, unit, link in zip(_LINKS, ("lanes", "generation"), LINKS, strict=True):
        if link.signal in factory.signals:
            now, most = (f"max by ({GPU}) ({name}{{{here}}})" for name in (link.now, link.most))
            yield table(
                title,
                f"A link may shrink where nobody works. {of_signal(factory, link.signal)}",
                [f"bottomk({ROWS}, ({now} > 0) < on ({GPU}) {most})"],
                (*(Column(name, name) for name in naming.GPU), Column("Value #A", unit)),
                unit="short",
                links=(to_gpus(factory, *naming.GPU),),
            )


def utilisation(factory: Factory, here: str) -> Iterator[Panel]:
    """How busy boards are, never as a mean."""
    if "throttle_reasons" in factory.signals:
        yield graph(
            "GPU utilisation",
            "Smallest, middle and largest: a mean would hide the one board that idles. "
            + of_signal(factory, "gpu_util"),
            spread(f"{naming.GPU_UTIL}{{{here}}}"),
            "percent",
            maximum=100,
        )


def utilisation_map(factory: Factory, here: str) -> Iterator[Panel]:
    """How many boards are how busy: as many rows for ten boards as for ten thousand."""
    if "throttle_reasons" in factory.signals:
        util = f"{naming.GPU_UTIL}{{{here}}}"
        rows = [
            Query(
                f"count({util} >= {low} <{'=' if low == 90 else ''} {low + 10}) or vector(0)", f"{low} to {low + 10} %"
            )
            for low in _TENTHS
        ]
        yield Panel(
            "heatmap",
            "How busy how many GPUs are",
            f"Boards by tenths of their utilisation. {of_signal(factory, 'gpu_util')}",
            tuple(rows),
            "short",
        )


def idlest_nodes(factory: Factory, here: str) -> Iterator[Panel]:
    """The least busy board of each node, node by node."""
    if "throttle_reasons" in factory.signals:
        least = f"min by (cluster, node) ({naming.GPU_UTIL}{{{here}}}{END})"
        yield Panel(
            "status-history",
            "Least busy GPU by node",
            f"The {ROWS} nodes whose least busy board idles most. {of_signal(factory, 'gpu_util')}",
            (Query(worst("cluster, node", least, least=True, count=ROWS), "{{node}}"),),
            "percent",
            24,
            10,
            (Step(None, BAD), Step(10, WATCH), Step(BUSY, GOOD)),
            0,
            100,
            links=(to_gpus(factory, *naming.NODE),),
        )


def hottest(factory: Factory, here: str) -> Iterator[Panel]:
    """Boards by their temperature."""
    hot = f"max by ({GPU}) ({TEMP}{{{here}}}{END})"
    edge = where_it_alerts(factory, "gpu_near_slowdown", "gpu_temp_limits", SLOWDOWN, here)
    yield graph(
        "Hottest GPUs",
        f"The {LINES} hottest boards{', and where the alert of the first begins' if edge else ''}. "
        + of_signal(factory, "gpu_temp"),
        [(worst(GPU, hot), _BOARD), *edge],
        "celsius",
        links=(to_gpus(factory, *naming.GPU),),
    )


def where_it_alerts(factory: Factory, limit: str, signal: str, most: str, here: str) -> list[tuple[str, str]]:
    """The least temperature at which the alert of a board begins: boards tell what they bear, the limit how near."""
    if limit not in factory.limits or signal not in factory.signals:
        return []
    return [(f"min({most}{{{here}}} > 0) - {number(factory.limits[limit])}", "alert begins")]


def host_links(factory: Factory, here: str) -> Iterator[Panel]:
    """PCIe."""
    if "pcie_throughput" in factory.signals:
        yield graph(
            "Host links",
            "Share of the PCIe link that the busiest board uses; the line is where its alert begins. "
            + of_signal(factory, "pcie_throughput"),
            [(f"max by (direction) ({naming.PCIE_SHARE}{{{here}}})", "{{direction}}")],
            "percentunit",
            steps=_LIMIT,
            maximum=1,
        )


def memory_activity(factory: Factory, here: str) -> Iterator[Panel]:
    """HBM."""
    if "hbm_activity" in factory.signals:
        yield graph(
            "Memory activity",
            "Smallest, middle, largest; the line is where its alert begins. " + of_signal(factory, "hbm_activity"),
            spread(f"{naming.HBM_ACTIVE}{{{here}}}"),
            "percentunit",
            steps=_LIMIT,
            maximum=1,
        )

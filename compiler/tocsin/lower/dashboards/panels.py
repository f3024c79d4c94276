"""What dashboards are made of: panels whose queries return a bounded number of series, whatever the factory's size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.presence import TEMP
from tocsin.plan.dashboards import Column, Link, Panel, Query, Step, Variable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.factory import Factory

    Asked = Iterable[tuple[str, str]]  # queries and their legends

LINES = 10  # series of one query of a graph: more cannot be told apart
ROWS = 200  # rows of a table, and of a history of states, which is paged
GOOD, WATCH, BAD = "green", "orange", "red"
END = " @ end()"  # stands behind every selector of what `worst` is asked for
AT_CLUSTER = 'cluster=~"$cluster"'
AT_NODE = f'{AT_CLUSTER}, node=~"$node"'
AT_GPU = f'{AT_NODE}, gpu_uuid=~"$gpu_uuid"'
GPU = naming.by(naming.GPU)
CLUSTER = Variable("cluster", "Cluster", 'label_values(up{job="dcgm"}, cluster)')
NODE = Variable("node", "Node", f'label_values(up{{job="dcgm", {AT_CLUSTER}}}, node)')
BOARD = Variable("gpu_uuid", "GPU", f"label_values({TEMP}{{{AT_NODE}}}, gpu_uuid)")


def worst(by: str, series: str, *, least: bool = False, count: int = LINES) -> str:
    """The series that are largest, or least, at the end of what is shown: as many at every moment.

    A bare topk chooses anew at each point of a graph, so that over a day all series may be among its few.
    """
    choose = "bottomk" if least else "topk"
    return f"{series.replace(END, '')} and on ({by}) {choose}({count}, {series})"


def spread(series: str) -> list[tuple[str, str]]:
    """Smallest, middle and largest: a mean hides the one that idles and the one that burns."""
    return [(f"min({series})", "smallest"), (f"quantile(0.5, {series})", "middle"), (f"max({series})", "largest")]


def stat(
    title: str,
    description: str,
    expr: str,
    *,
    unit: str = "short",
    steps: tuple[Step, ...] = (),
    maximum: float | None = None,
    legend: str = "",
    width: int = 6,
    height: int = 4,
    links: tuple[Link, ...] = (),
) -> Panel:
    """One number, or one for each of a few things; the colour says whether it is one to be worried about."""
    minimum = 0.0 if maximum is not None and not any(step.value == 0 for step in steps) else None
    queries = (Query(expr, legend, instant=True),)
    return Panel("stat", title, description, queries, unit, width, height, steps, minimum, maximum, links=links)


def gauge(title: str, description: str, expr: str, *, steps: tuple[Step, ...] = ()) -> Panel:
    """One share of what there is, from nothing to all of it."""
    return Panel("gauge", title, description, (Query(expr, "", instant=True),), "percentunit", 6, 5, steps, 0, 1)


def bars(
    title: str,
    description: str,
    asked: Asked,
    unit: str,
    *,
    steps: tuple[Step, ...] = (),
    maximum: float | None = None,
    links: tuple[Link, ...] = (),
) -> Panel:
    """How things stand now, side by side: what is left of each, or how much of its capacity each has taken.

    It is asked once, and so is the form for what reads minutes or hours of each board: a graph would do so at each of
    its points.
    """
    queries = tuple(Query(expr, legend, instant=True) for expr, legend in asked)
    minimum = None if any(step.value == 0 for step in steps) else 0
    return Panel("bargauge", title, description, queries, unit, 12, 8, steps, minimum, maximum, links=links)


def count_of(title: str, description: str, expr: str, color: str, *, height: int = 4) -> Panel:
    """A number that should be nought."""
    return stat(title, description, expr, steps=from_here(1, color), height=height)


def graph(
    title: str,
    description: str,
    asked: Asked,
    unit: str,
    *,
    steps: tuple[Step, ...] = (),
    maximum: float | None = None,
    links: tuple[Link, ...] = (),
    width: int = 12,
    band: tuple[str, str] | None = None,
) -> Panel:
    """Lines over time, lines where alerts begin, and a `band` between what is usual at most and at least."""
    queries = tuple(Query(expr, legend) for expr, legend in asked)
    minimum = 0.0 if maximum is not None and not any(step.value == 0 for step in steps) else None
    return Panel(
        "timeseries", title, description, queries, unit, width, 8, steps, minimum, maximum, links=links, band=band
    )


def from_here(value: float, color: str = BAD) -> tuple[Step, ...]:
    """What is at fault from a value on."""
    return (Step(None, GOOD), Step(value, color))


def up_to_here(value: float, color: str = BAD) -> tuple[Step, ...]:
    """What is at fault below a value."""
    return (Step(None, color), Step(value, GOOD))


def table(
    title: str,
    description: str,
    exprs: Iterable[str],
    columns: tuple[Column, ...],
    *,
    unit: str = "none",
    joined: str = "",
    links: tuple[Link, ...] = (),
    height: int = 8,
) -> Panel:
    """Rows as they are now; the rows of several queries are one where `joined` is the same."""
    queries = tuple(Query(expr, "", instant=True) for expr in exprs)
    return Panel(
        "table", title, description, queries, unit, width=24, height=height, columns=columns, joined=joined, links=links
    )


def firing(title: str, description: str, *matchers: str, links: tuple[Link, ...] = ()) -> Panel:
    """The alerts that fire, one row each, those included of which nobody is told."""
    which = ", ".join(('alertstate="firing"', f'alertname!="{naming.WATCHDOG}"', AT_CLUSTER, *matchers))
    columns = [Column(name, name) for name in ("severity", "alertname", "owner", *naming.GPU, "job_id", "slo")]
    return table(title, description, [f"topk({ROWS}, ALERTS{{{which}}})"], tuple(columns), links=links)


def page_of(factory: Factory, name: str) -> str:
    """The uid of another dashboard of the factory."""
    return naming.dashboard_uid(factory.name, name)


def to_gpus(factory: Factory, *labels: str) -> Link:
    """To the boards, at the place that some labels of a series name."""
    return Link("Its GPUs", page_of(factory, "gpus"), tuple((label, label) for label in labels))


def to_job(factory: Factory) -> tuple[Link, ...]:
    """To the job that a series belongs to, where anybody knows of jobs."""
    known = "job_metadata" in factory.signals
    return (Link("Its job", page_of(factory, "training"), (("job_id", "job_id"),)),) if known else ()


def to_slo(factory: Factory) -> Link:
    """To the objective that a series belongs to."""
    return Link("Its budget", page_of(factory, "slos"), (("slo", "slo"),))


def of_signal(factory: Factory, id_: str) -> str:
    """What a signal means and whose it is, as the end of a description."""
    signal = factory.signals[id_]
    return f"{signal.meaning[:1].upper()}{signal.meaning[1:]}. Owner: {signal.owner}."


def of_slos(factory: Factory) -> str:
    """Whose the objectives are, as the end of a description."""
    owners = sorted({slo.owner for slo in factory.slos.values()})
    return f"{'Owners' if len(owners) > 1 else 'Owner'}: {', '.join(owners)}."


def of_monitoring(factory: Factory) -> str:
    """Who runs the monitoring, as the end of a description."""
    return f"Owner of the monitoring: {factory.alerting.fallback}."

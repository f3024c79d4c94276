"""The whole in one screen, for those who pay for it: what is there, what it is used for, what was promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.dashboards import boards
from tocsin.lower.dashboards.objectives import LEFT, all_objectives, budgets_left
from tocsin.lower.dashboards.operations import of_severity
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import (
    AT_CLUSTER,
    BAD,
    CLUSTER,
    END,
    GOOD,
    GPU,
    WATCH,
    count_of,
    gauge,
    graph,
    of_signal,
    of_slos,
    stat,
    to_job,
    worst,
)
from tocsin.lower.presence import TEMP
from tocsin.lower.throttling import BUSY
from tocsin.plan.dashboards import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard, Panel

_THERE = (Step(None, BAD), Step(0.95, WATCH), Step(0.99, GOOD))


def executive(factory: Factory) -> Dashboard:
    """The page of those who pay."""
    panels = (
        *_now(factory),
        *boards.utilisation_map(factory, AT_CLUSTER),
        *_jobs(factory),
        *budgets_left(factory),
        *all_objectives(factory),
    )
    about = "How much of the factory is there, how much of it works, and whether what was promised is kept."
    return page(factory, "executive", "Executive", about, (CLUSTER,), panels, factory.layers.values(), title="overview")


def _now(factory: Factory) -> Iterator[Panel]:
    at = f"{{{AT_CLUSTER}}}"
    there = f"sum({naming.GPUS_PRESENT}{at}) / sum({naming.GPUS_EXPECTED}{at})"
    yield gauge("GPUs there", f"Share of the boards that report. {of_signal(factory, 'gpu_temp')}", there, steps=_THERE)
    if "throttle_reasons" in factory.signals:
        busy = f"count({naming.GPU_UTIL}{at} > {BUSY}) / count({naming.GPU_UTIL}{at})"
        about = (
            f"Share of the boards that are busy for more than {BUSY} % of the time. {of_signal(factory, 'gpu_util')}"
        )
        yield gauge("GPUs at work", about, busy)
    yield count_of("Pages", "Alerts that wake someone now.", of_severity("page"), BAD, height=5)
    if factory.slos:
        left = f"min({naming.SLO_BUDGET_LEFT})"
        about = f"Of the objective that has least. 1 is untouched, 0 is spent. {of_slos(factory)}"
        yield stat("Least error budget left", about, left, unit="percentunit", steps=LEFT, maximum=1, height=5)


def _jobs(factory: Factory) -> Iterator[Panel]:
    if "job_metadata" not in factory.signals:
        return
    boards_of = f'count by (job_id) (group by ({GPU}, job_id) ({TEMP}{{{AT_CLUSTER}, job_id!=""}}{END}))'
    yield graph(
        "Largest jobs",
        f"By their boards. {of_signal(factory, 'job_metadata')}",
        [(worst("job_id", boards_of), "{{job_id}}")],
        "short",
        links=to_job(factory),
    )

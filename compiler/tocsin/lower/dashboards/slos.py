"""SLOs and error budgets: what is left, how fast it goes, what it goes for, and until when it lasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.factory import DASHBOARD_RANGE
from tocsin.lower.dashboards.objectives import LEFT, all_objectives, bars_left, budgets_left, exhausted_first
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import (
    AT_CLUSTER,
    BAD,
    CLUSTER,
    END,
    GOOD,
    WATCH,
    count_of,
    firing,
    graph,
    of_slos,
    stat,
    worst,
)
from tocsin.plan.dashboards import Step, Variable
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard, Panel

_SLO = 'slo=~"$slo"'
_WHICH = f"{{{_SLO}}}"
_HERE = f"{{{_SLO}, {AT_CLUSTER}}}"
_DAY = Duration.of(days=1)


def slos(factory: Factory) -> Dashboard | None:
    """The page of those who promised something."""
    if not factory.slos:
        return None
    panels = (
        *_now(factory),
        *all_objectives(factory, _WHICH),
        bars_left(factory, _HERE),
        *budgets_left(factory, _HERE),
        _burning(factory),
        exhausted_first(factory, _HERE),
        *_ratios(factory),
        *_events(factory),
        firing("Burning budgets", "The alerts of objectives that fire.", f'slo!="", {_SLO}'),
    )
    slo = Variable("slo", "Objective", f"label_values({naming.SLO_OBJECTIVE}, slo)")
    description = "What each objective promises, what is left of its error budget, and how long that lasts."
    owners = (slo.owner for slo in factory.slos.values())
    return page(factory, "slos", "SLOs", description, (CLUSTER, slo), panels, owners, title="SLOs and error budgets")


def _now(factory: Factory) -> Iterator[Panel]:
    whose = of_slos(factory)
    left = f"min({naming.SLO_BUDGET_LEFT}{_HERE})"
    about = f"Of the objective that has least. 1 is untouched, 0 is spent. {whose}"
    yield stat("Least budget left", about, left, unit="percentunit", steps=LEFT, maximum=1)
    broken = f"count({naming.SLO_BUDGET_LEFT}{_HERE} < 0) or vector(0)"
    yield count_of("Broken", f"Series of objectives whose budget is gone. {whose}", broken, BAD)
    fastest = f"max({naming.SLO_BURN_RATE}{_HERE})"
    pace = (Step(None, GOOD), Step(1, WATCH))
    about = f"At 1 a budget lasts for exactly its period. {whose}"
    yield stat("Fastest burn", about, fastest, unit="none", steps=pace)
    first = f"min({naming.SLO_EXHAUSTION}{_HERE})"
    steps = (Step(None, BAD), Step(float(_DAY.seconds), WATCH), Step(7 * float(_DAY.seconds), GOOD))
    about = f"When the first budget is gone at the pace of now. {whose}"
    yield stat("First exhaustion", about, first, unit="s", steps=steps)


def _burning(factory: Factory) -> Panel:
    """The upper line is the least factor of the alerts that look at the window over which the rate is recorded."""
    factor = min(slo.pairs[0].factor for slo in factory.slos.values())
    steps = (Step(None, GOOD), *([Step(1, WATCH)] if factor > 1 else []), Step(float(factor), BAD))
    rate = f"max by (slo) ({naming.SLO_BURN_RATE}{_HERE}{END})"
    return graph(
        "Burn rate",
        "How many times faster than it lasts a budget burns. The upper line is where the first alert begins. "
        + of_slos(factory),
        [(worst("slo", rate), "{{slo}}")],
        "none",
        steps=steps,
    )


def _ratios(factory: Factory) -> Iterator[Panel]:
    """The windows of the fastest alert: the long one says that it matters, the short one that it goes on."""
    windows = sorted({window for slo in factory.slos.values() for window in slo.pairs[0][:2]})[:4]
    asked = []
    for window in windows:
        errors, total = (f"sum by (slo) ({name(window)}{_HERE}{END})" for name in (naming.slo_errors, naming.slo_total))
        asked.append((worst("slo", f"({errors} / ({total} > 0))"), f"{{{{slo}}}} {window}"))
    about = f"Bad events among all, over the windows of alerts. {of_slos(factory)}"
    yield graph("Error ratio by window", about, asked, "percentunit", maximum=1)


def _events(factory: Factory) -> Iterator[Panel]:
    unit = min(slo.windows.unit for slo in factory.slos.values())
    total, errors = (f"{name(unit)}{_HERE}" for name in (naming.slo_total, naming.slo_errors))
    bad = [(worst("slo", f"sum by (slo) ({errors}{END})"), "{{slo}}")]
    yield graph("Bad events", f"What the budgets go for. {of_slos(factory)}", bad, "cps")
    if factory.retention.hot.keep.seconds < _DAY.seconds + DASHBOARD_RANGE.seconds:
        return
    deviation = f"3 * sum(stddev_over_time({total}[{_DAY}]))"
    usual = f"sum(avg_over_time({total}[{_DAY}]))"
    asked = [
        (f"sum({total})", "events"),
        (f"{usual} + {deviation}", "usual at most"),
        (f"clamp_min({usual} - {deviation}, 0)", "usual at least"),
    ]
    about = "Events of all objectives, and what is usual: three standard deviations around the mean of a day. "
    about += of_slos(factory)
    yield graph("Events", about, asked, "cps", band=("usual at most", "usual at least"))

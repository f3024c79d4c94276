"""Panels about objectives, for whichever dashboard shows some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.indicators import Slowdown
from tocsin.lower.dashboards.panels import (
    BAD,
    END,
    GOOD,
    LINES,
    ROWS,
    WATCH,
    bars,
    graph,
    of_slos,
    table,
    to_slo,
    worst,
)
from tocsin.plan.dashboards import Column, Step
from tocsin.promql import quote
from tocsin.units import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Panel

LEFT = (Step(None, BAD), Step(0, WATCH), Step(0.5, GOOD))


def budgets_left(factory: Factory, which: str = "") -> Iterator[Panel]:
    """What is left of the budgets."""
    if factory.slos:
        left = f"min by (slo) ({naming.SLO_BUDGET_LEFT}{which}{END})"
        yield graph(
            "Error budgets left",
            f"Of the {LINES} that have least. 1 is untouched, 0 is spent; below 0 the objective is broken. "
            + of_slos(factory),
            [(worst("slo", left, least=True), "{{slo}}")],
            "percentunit",
            steps=LEFT,
            maximum=1,
            links=(to_slo(factory),),
        )


def bars_left(factory: Factory, which: str = "") -> Panel:
    """What is left of each budget now, side by side."""
    return bars(
        "Budgets side by side",
        f"What is left now of the {LINES} budgets that have least. {of_slos(factory)}",
        [(f"bottomk({LINES}, min by (slo) ({naming.SLO_BUDGET_LEFT}{which}))", "{{slo}}")],
        "percentunit",
        steps=LEFT,
        maximum=1,
        links=(to_slo(factory),),
    )


def paces(factory: Factory, here: str) -> Iterator[Panel]:
    """How fast jobs are against their own past, for each objective that asks for that."""
    for slo in factory.slos.values():
        if not isinstance(slo.indicator, Slowdown):
            continue
        at, least = f"{{slo={quote(slo.id)}, {here}}}", number(1 - slo.indicator.at_most)
        yield graph(
            f"Pace: {slo.id}",
            f"What the jobs that are shown do a second, and what they usually did; below the band, under {least} of "
            f"their past, time counts as bad. Owner: {slo.owner}.",
            [
                (f"sum({naming.SLO_RATE}{at})", "pace"),
                (f"sum({naming.SLO_BASELINE}{at})", "usual"),
                (f"{least} * sum({naming.SLO_BASELINE}{at})", "too slow below"),
            ],
            "cps",
            band=("usual", "too slow below"),
        )


def all_objectives(factory: Factory, which: str = "") -> Iterator[Panel]:
    """One row an objective: whose it is, what it promises and how it stands."""
    if not factory.slos:
        return
    labels = ("slo", "owner", "layer", "period")
    described = f"on (slo) group_left (owner, layer, period) {naming.SLO_INFO}"
    objective = f"max by ({naming.by(labels)}) ({naming.SLO_OBJECTIVE}{which} * {described})"
    yield table(
        "All objectives",
        "Owner and promise of each, what is left of its budget, and how fast that burns: at 100 % it lasts its period.",
        [
            f"topk({ROWS}, {objective})",
            f"bottomk({ROWS}, min by (slo) ({naming.SLO_BUDGET_LEFT}{which}))",
            f"topk({ROWS}, max by (slo) ({naming.SLO_BURN_RATE}{which}))",
        ],
        (
            *(Column(label, label) for label in labels),
            Column("Value #A", "objective"),
            Column("Value #B", "budget left"),
            Column("Value #C", "burn rate"),
        ),
        unit="percentunit",
        joined="slo",
        links=(to_slo(factory),),
    )


def exhausted_first(factory: Factory, which: str) -> Panel:
    """When budgets end, those that end first first."""
    return table(
        "Budgets that end first",
        f"How long what is left lasts at the pace of now; nought where nothing is left. {of_slos(factory)}",
        [f"sort(bottomk({ROWS}, min by (slo) ({naming.SLO_EXHAUSTION}{which})))"],
        (Column("slo", "slo"), Column("Value #A", "lasts")),
        unit="s",
    )

"""A dashboard for each owner, in a folder of its own: what it has to mend now, and what it promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.dashboards.objectives import all_objectives
from tocsin.lower.dashboards.operations import of_severity
from tocsin.lower.dashboards.owners import history
from tocsin.lower.dashboards.page import page
from tocsin.lower.dashboards.panels import AT_CLUSTER, BAD, CLUSTER, WATCH, count_of, firing, to_gpus
from tocsin.promql import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.dashboards import Dashboard


def teams(factory: Factory) -> Iterator[Dashboard]:
    """One an owner, of whom no alert of another is seen."""
    for name in factory.owners:
        owner = f"owner={quote(name)}"
        promised = "|".join(slo.id for slo in factory.slos.values() if slo.owner == name)
        panels = (
            count_of("Pages", "Alerts that wake someone of the team now.", of_severity("page", owner), BAD),
            count_of("Tickets", "Alerts that wait for its hours.", of_severity("ticket", owner), WATCH),
            firing(
                "Alerts",
                "One row an alert that fires: what, how urgent, and where.",
                owner,
                links=(to_gpus(factory, *naming.NODE),),
            ),
            history(owner),
            *(all_objectives(factory, f'{{slo=~"{promised}"}}') if promised else ()),
        )
        about = f"What {name} has to mend, what of it fired before, and how its objectives stand."
        made = page(factory, f"owner-{name}", f"Owner {name}", about, (CLUSTER,), panels, (name,))
        yield made._replace(marked=f"{AT_CLUSTER}, {owner}")

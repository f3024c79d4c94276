"""Dashboards that a team or a mixin brings: every query is PromQL that means something, of series that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.dashboard import panels, problems, targets, titled
from tocsin.dashboard.judging import UNKNOWN, Fault, faults
from tocsin.dashboard.kinds import CORE, WITHOUT_QUERIES
from tocsin.dashboard.needs import needs
from tocsin.diagnostics import Related
from tocsin.ingest import above
from tocsin.promtypes import from_tiers, is_recorded, of_factory

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Made
    from tocsin.factory import Factory
    from tocsin.source import Span


def check_dashboards(factory: Factory, document: Document, log: Log) -> None:
    """Every dashboard of the spec and of its mixins."""
    world, more = from_tiers(of_factory(factory), factory.retention), above(factory)
    if more:
        seen = {name: series._replace(labels=series.labels.plus(more)) for name, series in world.series.items()}
        world = world._replace(series=seen)
    spec = document.spec
    # What the spec names, be it sound or not: that a definition is broken is told there.
    named = {definition.metric for definition in spec.signals.define.values()} | spec.records.keys()
    for section, name, model in document.pages:
        if any(problems(model)):
            continue  # which is told already
        made = (document.mixins[name] if section == "mixins" else document.dashboards[name]).made
        checker = _Checker(str(model.get("title", "")), made, document.places.value(section, name, "path"), log)
        checker.page(model)
        found = [fault for fault in faults(model, world) if fault.name not in named]
        for fault in found:
            if fault.code != UNKNOWN:
                checker.tell(fault)
        if document.is_broken("signals", "define") or document.is_broken("records"):
            continue
        # Which recorded series there are is known once they are planned.
        unknown = [fault for fault in found if fault.code == UNKNOWN and not is_recorded(fault.name)]
        if section == "mixins":
            checker.of_mixin(unknown)
        else:
            checker.of_team(unknown)


class _Checker:
    """Tells what is wrong with one dashboard."""

    def __init__(self, title: str, made: Made, named: Span, log: Log) -> None:
        self.title, self.made, self.named, self.log = title, made, named, log

    def page(self, model: dict[str, Any]) -> None:
        """Panels that show nothing, or that nobody can name, and what Grafana must have for the page."""
        for panel in panels(model):
            where, kind = f"the panel '{titled(panel)}'", panel.get("type")
            if kind not in CORE - WITHOUT_QUERIES:
                continue
            title = panel.get("title") or ""
            if not title:
                hint = "say in a few words what it shows"
                self.tell(Fault("DSH103", where, "it has no title", hint, "", 0, 0, is_doubt=True))
            if not targets(panel):
                hint = "give it a query, or leave it out"
                self.tell(Fault("DSH103", where, "it asks nothing", hint, title, 0, len(title)))
        for need in needs(model):
            place = self.made.place(need.text, 0, len(need.text)) if need.text else None
            there = [Related(self.named, "the file is named here")] if place else []
            self.log.warning("DSH110", f"'{self.title}': {need.message}", place or self.named, need.hint, there)

    def of_team(self, unknown: list[Fault]) -> None:
        """Told at each place: a signal that is taken out of the spec is missed where it is shown.

        It is a doubt. The exporters of the nodes and the applications are stored whole, and may show what nobody names.
        """
        for fault in unknown:
            what = f"nothing that the spec names is known to show {fault.name}"
            way = "say what it is and which job shows it under `signals.define`, or leave it out where none does"
            hint = f"{fault.hint} Else {way}" if fault.hint else way
            told = fault._replace(code="DSH108", message=what, hint=hint)
            told.tell(self.title, self.made, self.named, self.log, doubt=True)

    def of_mixin(self, unknown: list[Fault]) -> None:
        """Told once: nobody here wrote it, and it may be of an exporter that the spec does not name."""
        names = ", ".join(sorted({fault.name for fault in unknown}))
        if names:
            hint = "see that they are scraped: a panel on a series that is not there stays empty"
            what = f"nothing that the spec names is known to show {names}, which '{self.title}' reads"
            self.log.warning("DSH104", what, self.named, hint)

    def tell(self, fault: Fault) -> None:
        """Tell a fault of the dashboard."""
        fault.tell(self.title, self.made, self.named, self.log)

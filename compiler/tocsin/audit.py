"""Plan in, diagnostics out: whether the servers store what dashboards ask, and whether brought rules have own names.

What a team or a mixin brings is told where it is written. Of our own pages a contradiction is a mistake of the
compiler's: they are read as they will be written, and a build alone pays for it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tocsin.catalog import recorded_metrics
from tocsin.dashboard.judging import UNKNOWN, faults
from tocsin.factory.rules import OwnRecord
from tocsin.ingest import above
from tocsin.promtypes import is_recorded
from tocsin.promtypes.stored import Stored, names_of, of_plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tocsin.artifact import Artifact
    from tocsin.dashboard.judging import Fault
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory
    from tocsin.plan import Plan
    from tocsin.plan.rules import Alert, Record
    from tocsin.promtypes import World
    from tocsin.promtypes.stored import Named

_PAGES = "grafana/dashboards/"
_OF_MIXINS, _OF_TEAMS = "mixin-", "own-"  # how the names of files with rules that are brought begin


def audit_brought(factory: Factory, plan: Plan, document: Document, log: Log) -> None:
    """Every dashboard of the spec and of its mixins; names that nobody knows were told by the checks."""
    world, called = of_plan(factory, plan, above(factory)), names_of(factory, plan)
    for section, name, model in document.pages:
        made = (document.mixins[name] if section == "mixins" else document.dashboards[name]).made
        named = document.places.value(section, name, "path")
        for fault in faults(model, world, called):
            if fault.code != UNKNOWN:
                # What a mixin names may be of an exporter, or of rules, that the spec does not have.
                doubt = section == "mixins" and fault.code == "PQL104"
                fault.tell(str(model["title"]), made, named, log, doubt=doubt)
            elif is_recorded(fault.name):
                what = f"it asks for {fault.name}, {_why(fault.name, world)}"
                told = fault._replace(code="DSH106", message=what, hint=_how(fault))
                told.tell(str(model["title"]), made, named, log)


def audit_names(factory: Factory, plan: Plan, log: Log) -> None:
    """Every rule of the spec and of its mixins: with the name of another, page, silences and inhibitions are one."""
    taken = {rule.name for rule in _rules(plan, _OF_TEAMS, _OF_MIXINS)}
    for record in factory.records.values():
        if record.name in taken:
            what = f"{record.name} is recorded by tocsin itself"
            log.error("ALR101", what, record.origin, "use that series, or choose another name")
    for alert in factory.alerts.values():
        if alert.name in taken:
            what = f"{alert.name} is an alert of tocsin's own: page, silences and inhibitions would be one for both"
            log.error("ALR101", what, alert.origin, "leave it out, since it is told already, or choose another name")
    for mixin in factory.mixins.values():
        for rule in (rule for group in mixin.groups for rule in group.rules if rule.name in taken):
            hint = f"leave it out, `without: [{rule.name}]`, or rename it in the mixin"
            kind = "record" if isinstance(rule, OwnRecord) else "alert"
            log.error(
                "MIX110", f"the mixin has {rule.name}, which is the name of a generated {kind}", rule.origin, hint
            )


def _rules(plan: Plan, *but: str) -> Iterator[Record | Alert]:
    """The rules of all files but those whose names begin so."""
    files = (file for file in plan.rules if not file.name.startswith(but))
    return (rule for file in files for group in file.groups for rule in group.rules)


def audit_own(factory: Factory, plan: Plan, artifacts: Iterable[Artifact], log: Log) -> None:
    """Every dashboard that the compiler makes itself."""
    brought = {page.name for page in plan.pages}
    world, called = of_plan(factory, plan), names_of(factory, plan)
    for artifact in artifacts:
        name = artifact.path.rpartition("/")[2].removesuffix(".json")
        if artifact.path.startswith(_PAGES) and name not in brought:
            for fault, what in contradictions(json.loads(artifact.text), world, called):
                said = f"{fault.where} of {artifact.path}: {what}"
                log.error("VFY124", said, artifact.origin(1), "please report this with the spec")


def contradictions(model: dict[str, Any], world: World, called: Sequence[Named]) -> Iterator[tuple[Fault, str]]:
    """What a page of ours asks that is not there or means nothing, each in words."""
    for fault in faults(model, world, called):
        unknown = fault.code == UNKNOWN
        yield fault, f"it asks for {fault.name}, {_why(fault.name, world)}" if unknown else fault.message


def _why(name: str, world: World) -> str:
    """Why a series is not there."""
    series = world.series
    lacking = series.lacks(name) if isinstance(series, Stored) and name in series.records else ""
    if lacking:
        return f"which is recorded from {lacking}, and nothing stores that"
    return "which nothing records in this factory" if is_recorded(name) else "which nothing stores"


def _how(fault: Fault) -> str:
    """How a series would be recorded."""
    signal = next((metric.signal for metric in recorded_metrics() if metric.name == fault.name), "")
    if fault.hint and not signal:
        return fault.hint
    first = f"name `{signal}` under `signals.collect`" if signal else "collect the signal that it follows from"
    return f"{first}, record it under `records`, or leave the panel out"

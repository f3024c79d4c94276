"""Deep collection: its signals from the catalogue, its defaults filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.catalog import profiling_signals
from tocsin.diagnostics import Related, near
from tocsin.factory.signals import Deep

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.source import Span


def resolve_deep(document: Document, log: Log) -> Deep | None:
    """What is collected on busy nodes only; None where the spec asks for nothing of the kind."""
    collection, places = document.spec.collection, document.places
    written = collection.deep
    if written is None:
        return None
    interval = written.interval or collection.intervals.training
    origin = places.key("collection", "deep")
    if written.signals is None:
        mandatory = document.spec.signals.mandatory
        signals = {id_: origin for id_ in profiling_signals() if id_ not in mandatory}
        if not signals:
            what = "every signal that could be deep is mandatory: nothing is left to be collected on busy nodes only"
            log.error("DEP106", what, origin, "remove `deep`, or some of them from `signals.mandatory`")
    else:
        signals = _named(document, written.signals, log)
    return Deep(
        signals=signals,
        interval=interval,
        refresh=written.refresh or interval,
        port=written.port,
        targets=written.targets,
        jobs=written.jobs,
        origin=origin,
    )


def _named(document: Document, ids: list[str], log: Log) -> dict[str, Span]:
    """The signals that a spec names; each needs the profiling module, and none is mandatory."""
    places = document.places
    found: dict[str, Span] = {}
    mandatory = document.spec.signals.mandatory
    for index, id_ in enumerate(ids):
        place = places.value("collection", "deep", "signals", index)
        if id_ in found:
            there = Related(found[id_], "first named here")
            log.error("SIG107", f"the signal '{id_}' is named twice", place, "remove one", [there])
        elif id_ in mandatory:
            what = f"the mandatory signal '{id_}' cannot be collected on busy nodes only"
            there = Related(places.value("signals", "mandatory", mandatory.index(id_)), "mandatory here")
            log.error("DEP102", what, place, "remove it from one of the two lists", [there])
        elif id_ in profiling_signals():
            found[id_] = place
        else:
            close = near(id_, profiling_signals())
            hint = f"did you mean '{close}'?" if close else f"choose from {', '.join(profiling_signals())}"
            log.error("DEP103", f"'{id_}' is not a signal that can be collected on busy nodes only", place, hint)
    return found

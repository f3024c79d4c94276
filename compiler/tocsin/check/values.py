"""Bounds of labels: a number that nothing is counted against is a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.ingest import carriers

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory


def check_values(factory: Factory, document: Document, log: Log) -> None:
    """A label with `max_values` is one that some collected signal has."""
    for label in factory.labels.values():
        if label.max_values is not None and not log.failed and not carriers(factory, label.name):
            what = f"no signal that is collected has the label `{label.name}`: its values are counted nowhere"
            hint = "remove `max_values`, or name the label at the signal that has it"
            log.error("LBL111", what, document.places.key("labels", label.name, "max_values"), hint)

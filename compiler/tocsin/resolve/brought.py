"""What others wrote: mixins, and dashboards of teams and mixins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory.rules import Mixin, OwnAlert, OwnDashboard, OwnRecord
    from tocsin.factory.signals import Signal
    from tocsin.resolve.signals import Known


def resolve_brought(
    document: Document,
    known: Known,
    signals: Mapping[str, Signal],
    records: dict[str, OwnRecord],
    alerts: dict[str, OwnAlert],
    log: Log,
) -> tuple[dict[str, Mixin], tuple[OwnDashboard, ...]]:
    """The mixins by name, and all dashboards; a spec that brings none does not load what reads them."""
    if not (document.mixins or document.dashboards):
        return {}, ()
    from tocsin.resolve.dashboards import resolve_dashboards
    from tocsin.resolve.mixins import resolve_mixins

    mixins = resolve_mixins(document, known, signals, records, alerts, log)
    return mixins, resolve_dashboards(document, known.owners, log)

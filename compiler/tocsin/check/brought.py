"""What others wrote: mixins, and dashboards of teams and mixins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory


def check_brought(factory: Factory, document: Document, log: Log) -> None:
    """Every rule and every query of theirs; a spec that brings none does not load what looks at them."""
    if not (document.mixins or document.dashboards) or document.is_broken("clusters"):
        return
    from tocsin.check.dashboards import check_dashboards
    from tocsin.check.mixins import check_mixins

    check_mixins(factory, document, log)
    check_dashboards(factory, document, log)

"""The samples that one rule may load: above Prometheus' limit it fails, and the alerts that need it never fire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity
from tocsin.units import amount

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory


def check_samples(factory: Factory, document: Document, log: Log) -> None:
    """No rule of an SLO loads more samples than a query may, in any cluster.

    Says nothing where something else is wrong: what could not be read is not counted.
    """
    if log.failed:
        return
    for one in capacity.loads(factory):
        if one.rule <= capacity.MOST_SAMPLES:
            continue
        query = one.biggest
        what = f"a rule of {one.slo} would load {amount(one.rule)} samples in {one.cluster}"
        what += f", a query may load {amount(capacity.MOST_SAMPLES)}"
        hint = f"most are of `{query.name}`: {query.series:,} series over {query.window}, a sample every {query.pace}. "
        hint += "Select fewer, tell fewer apart with `by`, or shorten the windows"
        log.error("CAP105", what, document.places.key("slos", one.slo), hint)

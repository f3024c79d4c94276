"""Availabilities: a gauge that is 0 or 1, scraped often enough for its alerts to fire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.check.queries import metric_of
from tocsin.indicators import Availability
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo


def check_availability(factory: Factory, document: Document, log: Log) -> None:
    """Of a metric of the catalogue it is known what its values are; of the spec's own, that it is a gauge."""
    for slo in factory.slos.values():
        if not isinstance(slo.indicator, Availability):
            continue
        gauge, where = slo.indicator.gauge, ("slos", slo.id, slo.kind, "gauge")
        metric = metric_of(factory, gauge)
        is_own = metric.signal in document.spec.signals.define
        if metric.type != "gauge" or not (is_own or metric.reading == "flag"):
            what = f"{metric.name} is a {metric.type}{f' ({metric.reading})' if metric.type == 'gauge' else ''}"
            place = document.places.inside(where, gauge.start, gauge.start + len(gauge.metric or ""))
            hint = "name a gauge that is 1 while all is well and 0 while it is not, or write a `ratio` of counters"
            log.error("SLO153", f"{what}: it does not say whether something is there", place, hint)
        elif slo.expected is None and 0 < slo.objective < 1:
            _check_samples(slo, slo.indicator.pace, document, log)


def _check_samples(slo: Slo, pace: Duration, document: Document, log: Log) -> None:
    """An alert's long window has samples enough to be judged, if one series is all that there is of each budget."""
    window = slo.pairs[0].long
    if window.seconds / pace.seconds < slo.least:
        what = f"the {window} alert can never fire: a series has {window // pace} samples in {window}"
        fast = Duration.of(seconds=max(int(window.seconds / slo.least), 1))
        hint = f"{number(slo.least)} are needed: scrape it every {fast} or faster, or lower the objective; where a "
        hint += "budget has many series, say how many samples they have, as in `traffic: {expected: 1/s}`"
        log.error("SLO105", what, document.places.key("slos", slo.id, slo.kind), hint)

"""Latencies: a threshold that a histogram can tell, and nothing else that chooses among its buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import versions
from tocsin.check.queries import metric_of
from tocsin.indicators import TIMES, Latency
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from fractions import Fraction

    from tocsin.catalog.kinds import Metric
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Factory


def check_latency(factory: Factory, document: Document, log: Log) -> None:
    """A threshold between two bounds would be guessed at: how many events of a bucket were fast is not known."""
    for slo in factory.slos.values():
        if isinstance(slo.indicator, Latency):
            path = ("slos", slo.id, slo.kind)
            metric = metric_of(factory, slo.indicator.total)
            _check_matchers(slo.indicator, (*path, "histogram"), document, log)
            if slo.indicator.native:
                _check_target(factory, path, document, log)
            elif not document.is_broken("signals", "define", metric.signal):
                _check_bound(metric, slo.indicator.below, (*path, "below"), document, log)


def _check_target(factory: Factory, path: Path, document: Document, log: Log) -> None:
    """The release can have native histograms, and show that the rules about them are right."""
    need, have = versions.SINCE["native_histograms"][1], factory.targets.prometheus
    if have < need:
        what = f"native histograms need prometheus {versions.show(need)}; the target is {versions.show(have)}"
        hint = f'write `prometheus: "{versions.show(need)}"` or later, or promise a bound of the classic buckets'
        log.error("TGT103", what, document.places.key(*path, "native"), hint)


def _check_matchers(latency: Latency, path: Path, document: Document, log: Log) -> None:
    for matcher in latency.histogram.matchers:
        if matcher.label == "le":
            place = document.places.inside(path, matcher.start, matcher.end)
            log.error("SLO152", "which bucket is asked for is said by `below`", place, "leave `le` out")


def _check_bound(metric: Metric, below: Fraction, path: Path, document: Document, log: Log) -> None:
    place = document.places.value(*path)
    if not metric.buckets:
        what = f"the bounds of the buckets of {metric.name} are not known"
        hint = f"add them in {metric.unit}: `signals.define.{metric.signal}.buckets: [0.1, 0.25, 0.5, 1]`"
        if metric.signal not in document.spec.signals.define:
            hint = "the catalogue does not have them: write a `ratio` of its `_bucket` and its `_count`"
        log.error("SLO151", what, place, hint)
    elif below not in metric.buckets:
        near = [max((one for one in metric.buckets if one < below), default=None)]
        near.append(min((one for one in metric.buckets if one > below), default=None))
        lengths = [_length(one, metric.unit) for one in near if one is not None]
        what = f"{metric.name} has no bucket that ends at {_length(below, metric.unit)}"
        hint = f"write {' or '.join(lengths)}: between two bounds nobody knows how many events were fast enough"
        log.error("SLO150", what, place, hint)


def _length(bound: Fraction, unit: str) -> str:
    """A bound as the spec writes a length of time, or in its unit where that has no words for it."""
    length = bound * TIMES[unit] / Duration(1).seconds
    return str(Duration(int(length))) if length.denominator == 1 else f"{number(bound)} {unit}"

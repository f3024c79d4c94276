"""SLOs: their selectors are parsed, their metrics found."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin import burn, pattern
from tocsin.catalog import signal_kinds
from tocsin.diagnostics import near
from tocsin.factory.clusters import paces
from tocsin.factory.slos import Slo
from tocsin.indicators import COVERED, SLICED, Availability, Latency, Ratio, in_unit
from tocsin.promql import PromqlError, parse_selector
from tocsin.resolve.exporters import how_to_scrape, who_shows
from tocsin.resolve.owners import known_owner
from tocsin.resolve.slices import Around, resolve_composite, resolve_slices, resolve_utilisation
from tocsin.spec.retention import kept_by_servers
from tocsin.spec.slos import INDICATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.burn import Pair
    from tocsin.catalog.kinds import Metric
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.owners import Owner
    from tocsin.factory.signals import Signal
    from tocsin.indicators import Composite, Indicator, Slowdown, TimeSlice, Utilisation
    from tocsin.promql import Selector
    from tocsin.spec import slos as written


def resolve_slos(
    document: Document,
    owners: dict[str, Owner],
    clusters: dict[str, Cluster],
    signals: dict[str, Signal],
    log: Log,
) -> dict[str, Slo]:
    """The SLOs by id; one whose indicator resolves to nothing is left out."""
    layers = {metric.name: one.layer for one in signals.values() for metric in one.metrics}
    slos: dict[str, Slo] = {}
    known = _Known(_series(signals), layers, signals, clusters, slos)
    kept = kept_by_servers(document.spec.retention)
    # What is made of others comes after them.
    for id_, slo in sorted(document.spec.slos.items(), key=lambda item: (item[1].composite is not None, item[0])):
        path = ("slos", id_)
        known_owner(document, owners, slo.owner, (*path, "owner"), log)
        kind = _kind(document, path, slo, log)
        indicator = RESOLVERS[kind](document, (*path, kind), getattr(slo, kind), known, log) if kind else None
        if indicator is None:
            continue
        pairs = burn.chosen(slo.alerts, slo.period, kept)
        slos[id_] = Slo(
            id=id_,
            owner=slo.owner,
            layer=known.layers[known.series[indicator.total.metric or ""].name],
            objective=slo.objective,
            period=slo.period,
            by=tuple(slo.by),
            kind=kind,
            indicator=indicator,
            pairs=pairs,
            # Events that should have come are seen in steps only, not in counters. Slices are recorded anyway.
            windows=burn.windows(pairs, only_steps=slo.no_traffic == "bad" and kind not in SLICED),
            expected=slo.traffic.expected,
            least=_least(slo, pairs, indicator),
            covered=COVERED if kind in SLICED and slo.traffic.min_events is None else Fraction(0),
            idle=slo.no_traffic,
            origin=document.places.key(*path),
        )
    return dict(sorted(slos.items()))


def _least(slo: written.Slo, pairs: tuple[Pair, ...], indicator: Indicator) -> Fraction:
    """The events that a long window must have to be judged, slices as seconds.

    By default so many that one failure pages nobody: of time, one that every slice sees which looks back to it.
    """
    slices, least = getattr(indicator, "slices", None), slo.traffic.min_events
    if least is None:
        least = Fraction(burn.min_events(pairs, 1 - slo.objective)) if 0 < slo.objective < 1 else Fraction(1)
        least *= 1 if slices is None else -(-slices.look // slices.every)
    return least if slices is None else least * slices.every.seconds


def _kind(document: Document, path: Path, slo: written.Slo, log: Log) -> str:
    """The key of the SLO's one indicator; nothing where it has another number of them, which is told."""
    found = [key for key in INDICATORS if getattr(slo, key) is not None]
    if len(found) == 1 or any(document.is_broken(*path, key) for key in INDICATORS):
        return found[0] if len(found) == 1 else ""
    if found:
        what = f"this SLO has {len(found)} indicators: {', '.join(f'`{key}`' for key in found)}"
        log.error("SLO118", what, document.places.key(*path, found[1]), "keep one, and make SLOs of the others")
    else:
        hint = "say what is counted: `ratio: {bad: 'requests_total{code=~\"5..\"}', total: requests_total}`"
        log.error("SLO118", "this SLO has no indicator", document.places.key(*path), hint)
    return ""


class _Known(NamedTuple):
    """The metric behind every series, the layer of each metric, the signals, the clusters, the SLOs so far."""

    series: dict[str, Metric]
    layers: dict[str, str]
    signals: dict[str, Signal]
    clusters: dict[str, Cluster]
    slos: dict[str, Slo]


def _ratio(document: Document, path: Path, ratio: written.Ratio, known: _Known, log: Log) -> Ratio | None:
    if (ratio.bad is None) == (ratio.good is None) and not document.is_broken(*path):
        hint = "give the bad events or the good ones, and all as `total`"
        log.error("SLO102", "a ratio has one of `bad` and `good`", document.places.key(*path), hint)
    texts = (("bad", ratio.bad), ("good", ratio.good), ("total", ratio.total))
    bad, good, total = (_selector(document, (*path, key), text, known.series, log) for key, text in texts)
    return None if total is None else Ratio(total, bad, good)


def _latency(document: Document, path: Path, latency: written.Latency, known: _Known, log: Log) -> Latency | None:
    where = (*path, "histogram")
    metrics = {metric.name: metric for metric in known.series.values()}
    selector = _selector(document, where, latency.histogram, {**known.series, **metrics}, log)
    if selector is None or selector.metric is None:
        return None
    metric = known.series.get(selector.metric) or metrics[selector.metric]
    below = in_unit(latency.below, metric.unit)
    is_own = not latency.native or metric.native
    if metric.type == "histogram" and metric.name == selector.metric and below is not None and is_own:
        return Latency(selector, below, latency.native)
    hint = f"name it as `histogram: {metric.name}`"
    if metric.type != "histogram":
        what = f"{metric.name} is a {metric.type}: it does not tell how long each event took"
        hint = "name a histogram"
    elif metric.name != selector.metric:
        what = f"{selector.metric} is one of the series of a histogram"
    elif below is None:
        what = f"{metric.name} is in {metric.unit}, which is no unit of time"
        hint = "write a `ratio` of its buckets, or correct the signal's `unit`: seconds, milliseconds"
    else:
        what = f"{metric.name} is a classic histogram"
        hint = "leave `native` out, and promise one of its bounds"
    place = document.places.inside(where, selector.start, selector.start + len(selector.metric))
    log.error("SLO152", what, place, hint)
    return None


def _availability(
    document: Document, path: Path, availability: written.Availability, known: _Known, log: Log
) -> Availability | None:
    selector = _selector(document, (*path, "gauge"), availability.gauge, known.series, log)
    if selector is None:
        return None
    usual = document.spec.collection.intervals.default
    job = known.series[selector.metric or ""].exporter
    return Availability(selector, max(paces(known.clusters.values(), job, usual), default=usual))


def _around(document: Document, path: Path, known: _Known, log: Log) -> Around:
    slo = document.spec.slos[str(path[1])]
    return Around(
        document=document,
        path=path,
        select=lambda key, text: _selector(document, (*path, key), text, known.series, log),
        signals=known.signals,
        series=known.series,
        clusters=known.clusters,
        unit=burn.windows(burn.chosen(slo.alerts, slo.period, kept_by_servers(document.spec.retention))).unit,
        every=document.spec.collection.intervals.default,
    )


def _slices(
    document: Document,
    path: Path,
    one: written.TimeSlice | written.Throughput | written.Slowdown,
    known: _Known,
    log: Log,
) -> TimeSlice | Slowdown | None:
    return resolve_slices(one, _around(document, path, known, log), log)


def _utilisation(
    document: Document, path: Path, one: written.Utilisation, known: _Known, log: Log
) -> Utilisation | None:
    return resolve_utilisation(one, _around(document, path, known, log), log)


def _composite(document: Document, path: Path, one: written.Composite, known: _Known, log: Log) -> Composite | None:
    return resolve_composite(one, path, document, known.slos, log)


RESOLVERS: dict[str, Callable[..., Indicator | None]] = {
    "ratio": _ratio,
    "latency": _latency,
    "availability": _availability,
    "time_slice": _slices,
    "throughput": _slices,
    "slowdown": _slices,
    "utilisation": _utilisation,
    "composite": _composite,
}


def _series(signals: dict[str, Signal]) -> dict[str, Metric]:
    """The metric behind every series name that can be queried."""
    found: dict[str, Metric] = {}
    for signal in signals.values():
        for metric in signal.metrics:
            found |= dict.fromkeys(metric.series, metric)
    return found


def _selector(
    document: Document, where: Path, text: str | None, series: dict[str, Metric], log: Log
) -> Selector | None:
    if text is None:
        return None
    try:
        selector = parse_selector(text)
        _judge_patterns(selector)
    except PromqlError as error:
        hint = error.hint or 'a selector is a metric with its matchers: name{label="value", other=~"a|b"}'
        log.error("PQL101", error.message, document.places.inside(where, error.start, error.end), hint)
        return None
    if selector.metric is None:
        place = document.places.inside(where, selector.start, selector.end)
        matchers = text[selector.start : selector.end]
        shown = matchers if len(matchers) <= 60 else '{label="value"}'
        log.error("PQL102", "this selector names no metric", place, f"put the metric first: requests_total{shown}")
        return None
    if selector.metric not in series:
        place = document.places.inside(where, selector.start, selector.start + len(selector.metric))
        if document.is_broken("signals") or selector.metric in _refused(document):
            return None
        close, exporter = near(selector.metric, series), who_shows(selector.metric)
        hint = f"did you mean {close}?" if close else "define its signal under `signals.define`"
        hint = how_to_scrape(*exporter) if exporter else hint
        log.error("SIG106", f"no signal has the metric {selector.metric}", place, hint)
        return None
    return selector


def _judge_patterns(selector: Selector) -> None:
    """PromqlError where a regular expression is too long, or wrong beyond what its grammar says."""
    for matcher in selector.matchers:
        if matcher.op in ("=~", "!~"):
            try:
                pattern.validate(matcher.value)
            except pattern.PatternError as error:
                what = f"this is not a regular expression of Prometheus: {error}"
                raise PromqlError(what, matcher.value_start, matcher.value_end) from None


def _refused(document: Document) -> set[str]:
    """The series of definitions that were refused: that much is told already."""
    kinds = signal_kinds()
    defined = document.spec.signals.define.items()
    refused = (definition for id_, definition in defined if id_ in kinds and not kinds[id_].mapped)
    parts = ("_bucket", "_count", "_sum", "")
    return {one.metric + suffix for one in refused for suffix in parts}

"""SLOs: their selectors are parsed, their metrics found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import pattern
from tocsin.catalog import signal_kinds
from tocsin.diagnostics import near
from tocsin.factory import Slo
from tocsin.promql import PromqlError, parse_selector
from tocsin.resolve.exporters import how_to_scrape, who_shows
from tocsin.resolve.owners import known_owner

if TYPE_CHECKING:
    from tocsin.catalog import Metric
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Owner, Signal
    from tocsin.promql import Selector
    from tocsin.spec import slos as written

_PARTS = {"histogram": ("_bucket", "_count", "_sum")}  # the series of a histogram; each is a counter


def resolve_slos(document: Document, owners: dict[str, Owner], signals: dict[str, Signal], log: Log) -> dict[str, Slo]:
    """The SLOs by id; one whose `total` resolves to nothing is left out."""
    series = _series(signals)
    layers = {metric.name: signal.layer for signal in signals.values() for metric in signal.metrics}
    slos = {}
    for id_, slo in sorted(document.spec.slos.items()):
        path = ("slos", id_)
        known_owner(document, owners, slo.owner, (*path, "owner"), log)
        if (slo.ratio.bad is None) == (slo.ratio.good is None) and not document.is_broken(*path, "ratio"):
            hint = "give the bad events or the good ones, and all as `total`"
            log.error("SLO102", "a ratio has one of `bad` and `good`", document.places.key(*path, "ratio"), hint)
        bad, good, total = (_selector(document, path, key, slo.ratio, series, log) for key in ("bad", "good", "total"))
        if total is None:
            continue
        slos[id_] = Slo(
            id=id_,
            owner=slo.owner,
            layer=layers[series[total.metric or ""].name],
            objective=slo.objective,
            period=slo.period,
            by=tuple(slo.by),
            bad=bad,
            good=good,
            total=total,
            expected=slo.traffic.expected,
            min_events=slo.traffic.min_events,
            origin=document.places.key(*path),
        )
    return slos


def _series(signals: dict[str, Signal]) -> dict[str, Metric]:
    """The metric behind every series name that can be queried."""
    found = {}
    for signal in signals.values():
        for metric in signal.metrics:
            for suffix in _PARTS.get(metric.type, ("",)):
                found[metric.name + suffix] = metric
    return found


def _selector(
    document: Document, path: Path, key: str, ratio: written.Ratio, series: dict[str, Metric], log: Log
) -> Selector | None:
    text: str | None = getattr(ratio, key)
    if text is None:
        return None
    where: Path = (*path, "ratio", key)
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
    return {one.metric + suffix for one in refused for suffix in _PARTS.get(one.type, ("",))}

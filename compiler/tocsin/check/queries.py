"""Selectors against the catalogue and the label schema: counters where rates are taken, labels that exist."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tocsin.catalog import units
from tocsin.diagnostics import Related, near
from tocsin.examples import labels_beside, labels_for, labels_of_each, value_for
from tocsin.indicators import GAUGES, Ratio
from tocsin.ingest import labels_of
from tocsin.pattern import matches
from tocsin.promql import quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.catalog.kinds import Metric
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Factory
    from tocsin.factory.signals import Label
    from tocsin.factory.slos import Slo
    from tocsin.promql import Matcher, Selector

    LabelsOf = Callable[[str], set[str]]  # of a metric's series, by its name


def check_queries(factory: Factory, document: Document, log: Log) -> None:
    """Every selector of every SLO asks for something that is there and means what is done with it."""
    of_pods = factory.of_pods

    @cache
    def labels(metric: str) -> set[str]:
        return labels_of(factory.metrics[metric], of_pods)

    for id_ in document.spec.slos:
        _check_by(factory, labels, id_, document, log)
    for slo in factory.slos.values():
        fits = [
            _check_selector(factory, labels, ("slos", slo.id, slo.kind, key), selector, document, log)
            for key, selector in slo.indicator.selectors.items()
        ]
        if isinstance(slo.indicator, Ratio):
            _check_unit(factory, slo, slo.indicator, document, log)
            if all(fits) and len(fits) == 2:
                _check_difference(factory, slo, slo.indicator, document, log)
        elif all(fits):
            _check_meeting(factory, slo, document, log)


def metric_of(factory: Factory, selector: Selector) -> Metric:
    """The metric that a selector asks for, by its own name or by one of a histogram's series."""
    name = selector.metric or ""
    stem = name.removesuffix("_bucket").removesuffix("_count").removesuffix("_sum")
    return factory.metrics.get(name) or factory.metrics[stem]


def _check_selector(
    factory: Factory, labels: LabelsOf, path: Path, selector: Selector, document: Document, log: Log
) -> bool:
    """Whether every matcher of a selector can match; what is wrong with the metric or a matcher is told."""
    metric = metric_of(factory, selector)
    bounds = [matcher for matcher in selector.matchers if matcher.label == "le"]
    if path[-1] not in GAUGES and (metric.type == "gauge" or bounds):
        _check_type(factory, path, selector, document, log)
    if document.is_broken("signals", "define", metric.signal):
        return True  # which labels it has is not known
    known = labels(metric.name)
    fits = [_check_matcher(factory, metric, known, matcher, path, document, log) for matcher in selector.matchers]
    return all(fits)


def _check_type(factory: Factory, path: Path, selector: Selector, document: Document, log: Log) -> None:
    """The rate of a selector, as the type checker sees it: of a gauge, or of a bucket as the release spells its bound.

    Labels and values of the schema are told by themselves.
    """
    from tocsin.promtypes import check_rate, of_factory  # other counters do without

    bounds = [matcher.value_start for matcher in selector.matchers if matcher.label == "le"]
    for finding in check_rate(selector.render(), selector, of_factory(factory)):
        place = document.places.inside(path, finding.start, finding.end)
        if finding.code == "PQL201":
            place = document.places.inside(path, selector.start, selector.start + len(selector.metric or ""))
            hint = "events are counted by a counter; find the one beside this gauge"
            log.error("SLO108", finding.message, place, hint)
        elif finding.code == "PQL104" and finding.start in bounds:
            log.error(finding.code, finding.message, place, finding.hint)


def _check_matcher(
    factory: Factory, metric: Metric, known: set[str], matcher: Matcher, path: Path, document: Document, log: Log
) -> bool:
    label = matcher.label
    if label not in known:
        place = document.places.inside(path, matcher.start, matcher.start + len(label))
        close = near(label, known)
        hint = f"did you mean `{close}`?" if close else f"it has {', '.join(sorted(known))}"
        log.error("PQL103", f"{metric.name} has no label `{label}` after ingest", place, hint)
        return False
    rule = factory.labels.get(label)
    if rule and matcher.op in ("=", "=~") and not _can_match(matcher, rule):
        close = near(matcher.value, rule.values or ())
        hint = f"did you mean '{close}'?" if close else f"correct the value, or widen `labels.{label}`"
        place = document.places.inside(path, matcher.value_start, matcher.value_end)
        never = f"is never '{matcher.value}'" if matcher.op == "=" else f"never matches '{matcher.value}'"
        what = f"`{label}` {never} by the label schema: this selects nothing"
        log.error("PQL104", what, place, hint, [Related(rule.origin, "the schema of the label")])
        return False
    return True


def _can_match(matcher: Matcher, rule: Label) -> bool:
    """Whether a series can have a value that the matcher takes; without the label it has the empty one."""
    if (rule.values is None and rule.pattern is None) or (matcher.op == "=" and not matcher.value):
        return True
    return value_for([matcher], rule) is not None or (matcher.op == "=~" and matches(matcher.value, ""))


def _check_by(factory: Factory, labels: LabelsOf, id_: str, document: Document, log: Log) -> None:
    by, slo = document.spec.slos[id_].by, factory.slos.get(id_)
    metrics = [metric_of(factory, selector) for selector in slo.indicator.selectors.values()] if slo else []
    for index, label in enumerate(by):
        if by.index(label) != index:
            place = document.places.value("slos", id_, "by", index)
            log.error("SLO110", f"`{label}` is named twice in `by`", place, "remove one")
        elif label not in factory.labels and not document.is_broken("labels", label):
            close = near(label, factory.labels)
            hint = f"did you mean `{close}`?" if close else "declare it under `labels`"
            place = document.places.value("slos", id_, "by", index)
            log.error("LBL102", f"the schema has no label `{label}`", place, hint)
        else:
            for metric in metrics:
                if label not in labels(metric.name) and not document.is_broken("signals", "define", metric.signal):
                    place = document.places.value("slos", id_, "by", index)
                    hint = "every label of `by` must be on each metric, or their sums do not meet"
                    log.error("SLO109", f"{metric.name} has no label `{label}`", place, hint)


def _check_unit(factory: Factory, slo: Slo, ratio: Ratio, document: Document, log: Log) -> None:
    """What is told apart is of what is counted in all: seconds are no share of requests."""
    told, total = (_unit(factory, selector) for selector in (ratio.told, ratio.total))
    of = {name: unit.of for name, unit in units().items()} | {"observations": ()}
    if told in of and total in of and of[told] != of[total]:
        key = "bad" if ratio.bad else "good"
        what = f"`{key}` counts {told}, and `total` {total}: one is no share of the other"
        hint = "a histogram counts its events by `_count` and `_bucket`; its `_sum` adds up their values"
        log.error("SLO119", what, document.places.value("slos", slo.id, "ratio", key), hint)


def _unit(factory: Factory, selector: Selector) -> str:
    """The unit of what a series counts."""
    metric, name = metric_of(factory, selector), selector.metric or ""
    return "observations" if metric.type == "histogram" and not name.endswith("_sum") else metric.unit


def _check_difference(factory: Factory, slo: Slo, ratio: Ratio, document: Document, log: Log) -> None:
    """There are events that are bad and events that are good, or nothing is promised; both go into the tests."""
    told, key = ratio.told, "bad" if ratio.bad else "good"
    place = document.places.value("slos", slo.id, "ratio", key)
    if labels_for([ratio.total, told], None, slo.by, factory.labels) is None:
        what = f"no event can be in `{key}` and in `total`: their matchers contradict each other"
        log.error("SLO111", what, place, "every event of one must be an event of `total`")
    elif told.metric != ratio.total.metric:
        return
    elif labels_beside(ratio.total, told, slo.by, factory.labels) is None:
        is_some = labels_for([ratio.total], told, slo.by, factory.labels) is not None
        of_group = f" of the same {', '.join(slo.by)}" if is_some else ""
        what = f"every event of `total`{of_group} is in `{key}` as well"
        log.error("SLO112", what, place, f'narrow `{key}` by a matcher, as in code=~"5.."')
    elif outside := labels_beside(told, ratio.total, slo.by, factory.labels):
        shown = ", ".join(f"{label}={quote(outside[label])}" for label in sorted(outside))
        what = f"`{key}` counts events that are not in `total`, as those of {shown}"
        log.error("SLO111", what, place, f"give `{key}` the matchers of `total` as well")


def _check_meeting(factory: Factory, slo: Slo, document: Document, log: Log) -> None:
    """What is counted, and what says when, can be of the same place; both go into the tests."""
    selectors = slo.indicator.selectors
    if labels_of_each([*selectors.values()], slo.by, factory.labels) is None:
        named = " and ".join(f"`{key}`" for key in selectors)
        what = f"no series of {named} can have the same {', '.join(slo.by)}: their matchers contradict each other"
        if len(selectors) == 1:
            what = f"no series can be selected by {named}: its matchers contradict each other"
        place = document.places.value("slos", slo.id, slo.kind, next(reversed(selectors)))
        log.error("SLO134", what, place, "nothing would ever be counted: correct the matchers")

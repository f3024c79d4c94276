"""Selectors: is there such a series, does it have these labels, can they have these values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.catalog import spellings
from tocsin.diagnostics import near
from tocsin.examples import value_for
from tocsin.pattern import PatternError, matches
from tocsin.promtypes.ranges import check_reach
from tocsin.promtypes.vector import Vector
from tocsin.promtypes.world import before_ingest, catalogue, is_of_boards

if TYPE_CHECKING:
    from tocsin.factory.signals import Label
    from tocsin.promql import Duration, Matcher, Selector
    from tocsin.promtypes.checker import Checker
    from tocsin.promtypes.labels import Labels

_WHOLE = re.compile(r"[0-9]+")
_PINS = ("node", "gpu_uuid", "instance", "job_id", "pod")


def selected(checker: Checker, selector: Selector, offset: Duration | None, window: int) -> Vector:
    """The type of a selector, or of a range of it."""
    name = selector.metric or next((m.value for m in selector.matchers if m.label == "__name__" and m.op == "="), "")
    vector = checker.world.series.get(name)
    if vector is None:
        _check_name(checker, selector, name)
        vector = Vector()
    for matcher in selector.matchers:
        if matcher.label != "__name__":
            _check_label(checker, selector, matcher, vector.labels)
    vector = _narrowed(vector, selector)._replace(window=window)
    check_reach(checker, selector, window, offset, vector)
    return vector


def _check_name(checker: Checker, selector: Selector, name: str) -> None:
    place = (
        (selector.start, selector.start + len(selector.metric)) if selector.metric else (selector.start, selector.end)
    )
    if f"{name}_bucket" in checker.world.series:
        what = f"{name} is a histogram: it has no series of that name, but buckets, a sum and a count"
        checker.tell("PQL215", what, place, f"write {name}_bucket with histogram_quantile(), or {name}_count")
    elif why := checker.world.unnamed(name):
        close = near(name, (known for known in checker.world.series if known[:4] == name[:4]))
        hint = f"write {spellings()[name]}" if name in spellings() else f"did you mean {close}?" if close else ""
        if name in catalogue():
            hint = f"scrape its exporter, {catalogue()[name][0].exporter}, by `clusters.<name>.exporters`"
        elsewhere = checker.world.applications and name in catalogue() and not is_of_boards(name)
        checker.tell("PQL214", why, place, hint or "ask for a metric that it has", shown=elsewhere)


def _check_label(checker: Checker, selector: Selector, matcher: Matcher, labels: Labels) -> None:
    place = (matcher.start, matcher.start + len(matcher.label))
    if not labels.can_be(matcher.label):
        lacking = matcher.op == "=" and not matcher.value
        if not lacking or before_ingest(matcher.label):
            checker.tell("PQL103", *no_label(matcher.label, labels, selector.metric or "this selector", place))
        return
    value = (matcher.value_start, matcher.value_end)
    if matcher.label == "le" and matcher.op == "=" and _WHOLE.fullmatch(matcher.value) and checker.world.new_le:
        what = f'Prometheus 3 stores le="{matcher.value}" as "{matcher.value}.0": this selects nothing'
        checker.tell("PQL104", what, value, f'write le=~"{matcher.value}(\\\\.0)?", which every version takes')
    rule = checker.world.schema.get(matcher.label)
    if rule and matcher.op in ("=", "=~") and not _can_match(matcher, rule):
        close = near(matcher.value, rule.values or ())
        never = f"is never '{matcher.value}'" if matcher.op == "=" else f"never matches '{matcher.value}'"
        hint = f"did you mean '{close}'?" if close else f"correct the value, or widen `labels.{matcher.label}`"
        checker.tell("PQL104", f"`{matcher.label}` {never} by the label schema: this selects nothing", value, hint)


def no_label(label: str, labels: Labels, what: str, place: tuple[int, int]) -> tuple[str, tuple[int, int], str]:
    """The message, the place and the hint for a label that series do not have."""
    new = before_ingest(label)
    if labels.can_be(new):
        return f"`{label}` is called `{new}` after ingest: no series has it", place, f"write `{new}`"
    close = near(label, sorted(labels.known))
    hint = f"did you mean `{close}`?" if close else f"it has {', '.join(sorted(labels.known)) or 'no labels'}"
    return f"{what} has no label `{label}` after ingest", place, hint


def _can_match(matcher: Matcher, rule: Label) -> bool:
    if (rule.values is None and rule.pattern is None) or (matcher.op == "=" and not matcher.value):
        return True
    try:
        return value_for([matcher], rule) is not None or (matcher.op == "=~" and matches(matcher.value, ""))
    except PatternError:
        return True  # that it is none is told elsewhere


def _narrowed(vector: Vector, selector: Selector) -> Vector:
    """What the matchers say of the labels: one value, some value, or none."""
    labels, fixed = vector.labels, set()
    for matcher in selector.matchers:
        if matcher.op == "=":
            fixed.add(matcher.label)
        if matcher.op == "=" and not matcher.value:
            labels = labels.without([matcher.label])
        elif (matcher.op == "=" or (matcher.op, matcher.value) == ("!=", "")) and matcher.label != "__name__":
            labels = labels.plus([matcher.label], certain=True)
    return vector._replace(
        labels=labels,
        key=None if vector.key is None else vector.key - fixed,
        copies=vector.copies - fixed,
        job=next((m.value for m in selector.matchers if (m.label, m.op) == ("job", "=")), vector.job),
        pinned=not fixed.isdisjoint(_PINS),
    )

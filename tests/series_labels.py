"""Which labels the series of an expression can have, as far as the rules of one group tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.ingest import VIOLATES
from tocsin.promql import (
    Aggregation,
    Binary,
    Call,
    Expr,
    Number,
    Paren,
    Range,
    Selector,
    String,
    Subquery,
    Unary,
    parse,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.catalog.kinds import Metric
    from tocsin.plan.rules import Alert, Record

ANYTHING = ""
TARGET = frozenset({"cluster", "node", "job", "instance"})
ENTITY = {
    "gpu": TARGET | {"gpu", "gpu_uuid", "gpu_i_id", "job_id"},
    "gpu_instance": TARGET | {"gpu", "gpu_uuid", "gpu_i_id", "job_id"},
    "port": TARGET | {"device", "port"},
    "target": TARGET | {"tenant"},
}
SETS = ("and", "or", "unless")
Labels = frozenset[str]


def of_metrics(metrics: Mapping[str, Metric]) -> dict[str, Labels]:
    """The labels of raw series after ingest, by name; those of histograms under the names of their parts.

    A selector without a name selects `ANYTHING`.
    """
    found = dict.fromkeys(("up", "scrape_samples_scraped", "scrape_samples_post_metric_relabeling"), TARGET)
    found["up"] |= {"server", "peer"}  # a server's, where servers watch each other
    found["ALERTS"] = TARGET | {"alertname", "alertstate", "severity", "owner"}
    found[ANYTHING] = TARGET | {VIOLATES}
    for metric in metrics.values():
        labels = ENTITY.get(metric.entity, TARGET) | set(metric.labels)
        parts = ("_bucket", "_sum", "_count") if metric.type == "histogram" else ("",)
        found |= {metric.name: labels} if metric.native else {}
        found |= {metric.name + part: labels | ({"le"} if part == "_bucket" else set()) for part in parts}
    return found


def of_records(rules: Sequence[Record | Alert], raw: Mapping[str, Labels]) -> dict[str, Labels]:
    """The labels of all series that the rules of a group may read: the raw ones, and what the group records."""
    known = dict(raw)
    for rule in rules:
        if not hasattr(rule, "hold"):
            # One that remembers reads what it said itself the last time.
            known.setdefault(rule.name, frozenset())
            known[rule.name] |= labels_of(parse(rule.expr), known) | set(rule.labels)
    return known


def labels_of(expr: Expr, known: Mapping[str, Labels]) -> Labels:
    """The labels that the expression's series can have; KeyError where it reads a series that nobody knows."""
    match expr:
        case Number() | String():
            return frozenset()
        case Selector():
            return frozenset().union(*(known[name] for name in names_of(expr)))
        case Range(selector=inner) | Subquery(expr=inner) | Unary(expr=inner) | Paren(expr=inner):
            return labels_of(inner, known)
        case Aggregation(grouping=None):
            return frozenset()
        case Aggregation(grouping=grouping, expr=inner) if grouping is not None:
            listed = {label.name for label in grouping.labels}
            inside = labels_of(inner, known)
            return inside - listed if grouping.without else inside & listed
        case Call():
            return _of_call(expr, known)
        case Binary():
            return _of_binary(expr, known)
    raise TypeError(expr)


def names_of(selector: Selector) -> list[str]:
    """The metrics that a selector names: one, or the alternatives of `__name__=~"a|b"`."""
    if selector.metric is not None:
        return [selector.metric]
    names = [m.value for m in selector.matchers if m.label == "__name__" and m.op in ("=", "=~")]
    return [name for value in names for name in value.split("|")] or [ANYTHING]


def _of_call(call: Call, known: Mapping[str, Labels]) -> Labels:
    if call.function == "absent" and isinstance(call.args[0], Selector):
        return frozenset(matcher.label for matcher in call.args[0].matchers if matcher.op == "=")
    inside = frozenset().union(*(labels_of(argument, known) for argument in call.args))
    written = call.args[1] if call.function in ("label_replace", "label_join") else None
    return inside | {written.value} if isinstance(written, String) else inside


def _of_binary(binary: Binary, known: Mapping[str, Labels]) -> Labels:
    left, right = labels_of(binary.left, known), labels_of(binary.right, known)
    if binary.op in SETS:
        return left | right if binary.op == "or" else left
    if binary.left.type != binary.right.type:
        return left | right  # a scalar has none
    matching = binary.matching
    if matching is None:
        return left
    listed = frozenset(label.name for label in matching.labels)
    if matching.group:
        many = left if matching.group == "left" else right
        return many | {label.name for label in matching.include}
    return listed if matching.on else left - listed

"""Aggregations: labels that survive, values that may be added up, and boards that are counted once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promql import Aggregation, Binary, Selector, String, walk
from tocsin.promql.operators import COMPARISONS
from tocsin.promtypes.functions import check_share
from tocsin.promtypes.labels import implied
from tocsin.promtypes.quantity import Quantity, number
from tocsin.promtypes.selectors import no_label

if TYPE_CHECKING:
    from tocsin.promql import Expr
    from tocsin.promtypes.checker import Checker
    from tocsin.promtypes.findings import Finding
    from tocsin.promtypes.labels import Labels
    from tocsin.promtypes.vector import Vector

_ADDING = ("sum", "avg", "count", "count_values")
_MIXING = ("sum", "avg", "stddev", "stdvar", "quantile")
_KEEPING = ("topk", "bottomk")


def aggregated(checker: Checker, node: Aggregation) -> Vector:
    """The type of an aggregation."""
    inner = checker.infer(node.expr)
    if node.op == "quantile" and node.param is not None:
        check_share(checker, "quantile", node.param)
    _check_grouping(checker, node, inner)
    if _mixes(checker, node, inner):
        inner = inner.unsound
    # Who counts groups does not ask what each of them adds up to, unless some were sorted out by it.
    doubled = () if node.op in ("count", "group") and not _is_sorted_out(node.expr) else inner.doubled
    if node.op in _ADDING and (repeated := _repeated(node, inner)):
        doubled = (*doubled, _doubling(checker, node, inner, repeated))
    if node.op in _KEEPING:
        return inner
    labels = _labels(node, inner.labels)
    if node.op in ("sum", "avg") and "le" in inner.labels.certain and not labels.can_be("le"):
        doubled = (*doubled, *_all_buckets(checker, node))
    if isinstance(node.param, String):  # the label that count_values() writes
        labels = labels.plus([node.param.value])
    key = inner.key
    if key is not None and node.grouping and node.grouping.without:
        key = None if inner.labels.open else key & labels.known
    elif key is not None and not key <= labels.known:
        key = labels.known
    summed = inner.sum_of or (node.op in ("sum", "avg", "count") and inner.quantity.reading == "total")
    return inner._replace(
        quantity=_quantity(node, inner.quantity),
        labels=labels,
        key=key,
        copies=_copies(node, inner, labels),
        doubled=doubled,
        sum_of=summed,
        filled=inner.filled and not node.grouping,
    )


def _is_sorted_out(expr: Expr) -> bool:
    """Whether a comparison leaves out some series."""
    return any(isinstance(inside, Binary) and inside.op in COMPARISONS for inside in walk(expr))


def _all_buckets(checker: Checker, node: Aggregation) -> list[Finding]:
    """What is told where the buckets of a histogram are added up, unless some are selected."""
    selectors = [inside for inside in walk(node.expr) if isinstance(inside, Selector)]
    if any(matcher.label == "le" and matcher.op in ("=", "=~") for one in selectors for matcher in one.matchers):
        return []
    what = f"`{node.op}` adds up all buckets of a histogram, each of which holds those below: it counts much twice"
    hint = 'take the _count for how many there are, keep `le` for a quantile, or select one bucket: {le="…"}'
    return [checker.finding("PQL215", what, node, hint)]


def _labels(node: Aggregation, labels: Labels) -> Labels:
    names = [label.name for label in node.grouping.labels] if node.grouping else []
    if node.grouping and node.grouping.without:
        return labels.without(names)
    return labels.only(names)


def _check_grouping(checker: Checker, node: Aggregation, inner: Vector) -> None:
    labels = inner.labels
    metric = inner.quantity.metric
    for label in node.grouping.labels if node.grouping else ():
        if labels.can_be(label.name):
            continue
        what = metric.name if metric else "what is aggregated"
        message, place, hint = no_label(label.name, labels, what, (label.start, label.end))
        if "is called" in message:
            checker.tell("PQL103", message, place, hint)
        elif node.grouping and node.grouping.without:
            continue  # nothing is lost that was not there
        elif any(isinstance(inside, Aggregation) for inside in walk(node.expr)):
            lost = f"the aggregation inside takes `{label.name}` off"
            checker.tell("PQL208", lost, place, f"keep it inside: by ({label.name}, …)")
        else:
            checker.tell("PQL103", message, place, hint)


def _mixes(checker: Checker, node: Aggregation, inner: Vector) -> bool:
    """Whether it adds up what cannot be, or takes the highest of masks, which is neither of them: that is told."""
    quantity, op = inner.quantity, node.op
    asked = checker.source(node.expr)
    if quantity.reading == "bits" and op not in ("count", "group", "count_values") and not _one_each(inner, node):
        what = f"`{op}` of bitmasks of several boards loses bits: {quantity.name} holds reasons"
        hint = f"take each bit out first: {op} by (…) ({_param(checker, node)}floor({asked} / 64) % 2)"
        checker.tell("PQL205", what, node, hint)
    elif op not in _MIXING:
        return False
    elif quantity.reading == "code":
        what = f"{quantity.name} holds a code: `{op}` of codes is none of them"
        offer = _of_single(checker, node, inner, "count_values", '"code", ')
        checker.tell("PQL206", what, node, f"write {offer}, or compare with one first")
    elif quantity.reading == "total" and op != "sum":
        what = f"{quantity.name} is a counter: `{op}` of counters says how long each has run"
        rate = checker.rated(node.expr, "rate")
        checker.tell("PQL202", what, node, f"write {op}{_by(node)} ({_param(checker, node)}{rate})")
    elif op == "sum" and (quantity.unit == "celsius" or quantity.reading == "timestamp"):
        things = "temperatures" if quantity.unit == "celsius" else "moments"
        checker.tell("PQL203", f"a sum of {things} means nothing", node, "write max or avg")
    else:
        return False
    return True


def _by(node: Aggregation) -> str:
    """The grouping as it is written in front."""
    word = "without" if node.grouping and node.grouping.without else "by"
    return f" {word} ({', '.join(label.name for label in node.grouping.labels)})" if node.grouping else ""


def _param(checker: Checker, node: Aggregation) -> str:
    """What stands before the expression: the label of count_values, the share of quantile, the number of topk."""
    return f"{checker.source(node.param)}, " if node.param is not None else ""


def _one_each(inner: Vector, node: Aggregation) -> bool:
    """Whether each group holds copies of one value only."""
    if node.op not in ("max", "min"):
        return node.op in _KEEPING
    names = {label.name for label in node.grouping.labels} if node.grouping else set()
    if inner.key is None:
        return True
    rest = inner.key - inner.copies - {"cluster"}
    return rest.isdisjoint(names) if node.grouping and node.grouping.without else rest <= implied(names)


def _repeated(node: Aggregation, inner: Vector) -> frozenset[str]:
    """The labels of copies that this aggregation adds up."""
    names = {label.name for label in node.grouping.labels} if node.grouping else set()
    repeated = inner.copies & names if node.grouping and node.grouping.without else inner.copies - names
    is_mean_of_instances = node.op == "avg" and "gpu_i_id" in inner.entity
    return frozenset() if is_mean_of_instances else repeated


def _copies(node: Aggregation, inner: Vector, labels: Labels) -> frozenset[str]:
    """The labels under which values are still repeated: those of an entity that is still told apart."""
    kept = labels.known
    rest = frozenset() if inner.key is None else inner.key - inner.copies - {"cluster", "node"}
    return inner.copies & kept if rest <= kept and node.op in ("max", "min", "group") else frozenset()


def _doubling(checker: Checker, node: Aggregation, inner: Vector, repeated: frozenset[str]) -> Finding:
    """What is told where copies are added up."""
    things = {"job_id": "each job on it", "gpu_i_id": "each MIG instance", "replica_role": "each replica"}
    copied = " and ".join(things.get(label, f"each {label}") for label in sorted(repeated, reverse=True))
    metric = inner.quantity.metric
    one = metric.entity.replace("gpu_instance", "instance").replace("gpu", "board") if metric else "thing"
    does = "counts" if node.op.startswith("count") else "adds"
    what = f"`{node.op}` {does} the value of one {one} once for {copied}"
    hint = f"make it one first: {_of_single(checker, node, inner, node.op, _param(checker, node))}"
    return checker.finding("PQL207", what, node, hint)


def _of_single(checker: Checker, node: Aggregation, inner: Vector, op: str, param: str) -> str:
    """The aggregation with one series of each thing inside; the same where nothing is repeated."""
    named = [label.name for label in node.grouping.labels] if node.grouping and not node.grouping.without else []
    inside = checker.source(node.expr)
    if _repeated(node, inner):
        by = ", ".join((*inner.entity, *(label for label in named if label not in inner.entity)))
        inside = f"max by ({by}) ({inside})"
    grouping = f" by ({', '.join(named)}) " if named else " by (…) " if node.grouping else ""
    return f"{op}{grouping}({param}{inside})"


def spread_of(quantity: Quantity) -> str:
    """The reading of a deviation."""
    return quantity.reading if quantity.reading in ("any", "number") else "change"


def _quantity(node: Aggregation, inner: Quantity) -> Quantity:
    op = node.op
    if op in ("count", "count_values"):
        return number(1)
    if op == "group":
        return number(1, 1)
    if op in ("stddev", "stdvar"):
        return inner._replace(reading=spread_of(inner), low=0.0, high=None, share=False)
    if op == "sum":
        return inner._replace(
            reading="level" if inner.reading in ("flag", "percent", "ratio", "info") else inner.reading,
            low=0.0 if inner.low is not None and inner.low >= 0 else None,
            high=None,
            share=False,
            whole=True,
            constant=None,
        )
    if op == "avg" and inner.reading == "flag":
        return inner._replace(reading="ratio", share=True)
    return inner

"""Comparisons: with what the values can be, in the unit that they have."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin.catalog import units
from tocsin.promql import Binary, Number, Paren, ValueType
from tocsin.promtypes.arithmetic import check_same_unit
from tocsin.promtypes.labels import NO_LABELS
from tocsin.promtypes.masks import check_code, check_mask_comparison
from tocsin.promtypes.quantity import Quantity, dimension_text, plain

if TYPE_CHECKING:
    from tocsin.catalog.kinds import Metric, Unit
    from tocsin.promql import Expr
    from tocsin.promtypes.checker import Checker
    from tocsin.promtypes.findings import Finding
    from tocsin.promtypes.vector import Vector

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_EPOCH = 1e9  # seconds since 1970, in 2001


class Comparison:
    """A vector against a constant, the vector on the left; `value` and `limit` are their nodes."""

    def __init__(self, checker: Checker, node: Binary, vector: Vector, threshold: float, *, swapped: bool) -> None:
        self.checker, self.node, self.vector, self.threshold = checker, node, vector, threshold
        self.op = _MIRRORED.get(node.op, node.op) if swapped else node.op
        self.value: Expr = node.right if swapped else node.left
        self.limit: Expr = node.left if swapped else node.right
        self.swapped = swapped

    @property
    def is_some(self) -> bool:
        """Whether it asks for anything above nothing."""
        return (self.op, self.threshold) in ((">", 0), ("!=", 0), (">=", 1))

    def written(self, value: str, limit: str) -> str:
        """The comparison with another value or limit, the way round it was written."""
        return f"{limit} {self.node.op} {value}" if self.swapped else f"{value} {self.node.op} {limit}"

    def with_limit(self, limit: str) -> str:
        """The comparison with another limit."""
        return self.written(self.checker.source(self.value), limit)


def compared(checker: Checker, node: Binary, left: Vector, right: Vector, series: Vector) -> Vector:
    """The type of a comparison: the series of its vector, or 0 and 1."""
    doubled, standing = (*left.doubled, *right.doubled), series.standing
    swapped = node.left.type is ValueType.SCALAR
    vector, limit = (right, left) if swapped else (left, right)
    if limit.quantity.constant is not None and limit.labels == NO_LABELS and limit.filled:
        comparison = Comparison(checker, node, vector, limit.quantity.constant, swapped=swapped)
        standing = (*standing, *_check(comparison))
        if comparison.threshold == 0 or comparison.is_some:
            doubled = ()
    elif checker.source(node.left) != checker.source(node.right):
        check_same_unit(checker, node, left.quantity, right.quantity)
    quantity = vector.quantity if swapped else left.quantity
    key = series.key
    if quantity.reading in ("flag", "info") and node.op == "==":
        key = None  # of several states a thing is in one
    result = series._replace(quantity=quantity, key=key, doubled=doubled, standing=standing, filled=False)
    if node.returns_bool:
        return result._replace(quantity=Quantity("flag", "bool", (), Fraction(1), None, 0.0, 1.0), standing=())
    return result


def _check(comparison: Comparison) -> tuple[Finding, ...]:
    quantity = comparison.vector.quantity
    if quantity.reading == "samples" and (comparison.is_some or comparison.op == ">="):
        what = f"count_over_time() counts the samples of {quantity.name}, whatever they hold: this is always true"
        hint = "compare the values: count_over_time((… == 79)[5m:1m]) counts those that are one"
        comparison.checker.tell("PQL204", what, comparison.node, hint)
    elif quantity.reading == "bits":
        check_mask_comparison(comparison)
    elif quantity.reading == "code":
        return check_code(comparison)
    elif quantity.reading == "total":
        return _check_total(comparison)
    elif quantity.reading == "timestamp" and 0 < abs(comparison.threshold) < _EPOCH and quantity.metric:
        asked = comparison.checker.source(comparison.value)
        what = f"{quantity.name} is a moment in seconds since 1970, and {plain(comparison.threshold)} a length of time"
        op = _MIRRORED.get(comparison.op, comparison.op)
        hint = f"write time() - {asked} {op} {comparison.checker.source(comparison.limit)}"
        comparison.checker.tell("PQL203", what, comparison.node, hint)
    elif not (_check_share(comparison) or _check_unit(comparison)):
        _check_bounds(comparison)
    return ()


def _check_total(comparison: Comparison) -> tuple[Finding, ...]:
    """A counter's level says how long it has counted; that there was something at all is lawful, once."""
    quantity, checker = comparison.vector.quantity, comparison.checker
    if comparison.op in ("==", "!=") and not comparison.is_some:
        return ()
    if quantity.metric is None or quantity.metric.stock or (comparison.threshold == 0 and not comparison.is_some):
        return ()
    asked = comparison.written(checker.rated(comparison.value, "increase"), checker.source(comparison.limit))
    if comparison.is_some:
        what = f"{quantity.name} is a counter: once above 0 it stays there, and so does this"
        return (checker.finding("PQL216", what, comparison.node, f"write {asked}"),)
    what = f"{quantity.name} is a counter: its level says how long it has counted, not what happens"
    checker.tell("PQL202", what, comparison.node, f"write {asked}")
    return ()


def _check_share(comparison: Comparison) -> bool:
    """A part of a whole is compared with a part of it, in its own scale."""
    quantity, limit = comparison.vector.quantity, comparison.threshold
    checker, high = comparison.checker, quantity.high
    name = quantity.name
    if quantity.share and high == 1 and limit > 1 and quantity.low == 0:
        effect = "is always true" if comparison.op in ("<", "<=", "!=") else "can never be true"
        better = f"{plain(float(Fraction(limit).limit_denominator(10**9) / 100))}"
        hint = f"write {comparison.with_limit(better)}" if limit <= 100 else "a ratio is at most 1"
        checker.tell("PQL203", f"{name} is a ratio of 0 to 1: this {effect}", comparison.node, hint)
        return True
    is_percent = quantity.reading == "percent" and quantity.metric and quantity.unit == "percent" and not quantity.whole
    if is_percent and 0 < limit < 1:
        better = f"{plain(float(Fraction(limit).limit_denominator(10**9) * 100))}"
        what = f"{name} is a percentage of 0 to 100: {plain(limit)} is less than one percent"
        checker.tell("PQL203", what, comparison.node, f"write {comparison.with_limit(better)}")
        return True
    if quantity.unit == "mebibytes" and comparison.op in (">", ">=") and 50 <= limit < 100:
        what = f"{name} is in MiB: {plain(limit)} MiB are next to nothing, the threshold looks like a percentage"
        checker.tell("PQL203", what, comparison.node, "divide by the whole, or write the threshold in MiB")
        return True
    if quantity.reading == "quotient" and quantity.times == 1 and 50 <= limit <= 100:
        what = "this quotient is a ratio, and a whole is 1: the threshold looks like a percentage"
        checker.tell("PQL203", what, comparison.node, f"write {comparison.with_limit(plain(limit / 100))}")
        return True
    return _check_time(comparison)


def _check_time(comparison: Comparison) -> bool:
    """The share of time that a counter of time gives."""
    quantity, limit, high = comparison.vector.quantity, comparison.threshold, comparison.vector.quantity.high
    metric = quantity.metric
    if not metric or not metric.share or quantity.reading not in ("rate", "increase") or not high or limit <= 0:
        return False
    if quantity.reading == "rate":
        wrong = high not in (1, 100) and (limit <= 1 or limit / high <= 1e-4)
        factor, then = high, "a share of 0 to 1"
    else:
        wrong = quantity.times != 1 and limit / high <= 1e-4
        factor, then = float(1 / quantity.times) if quantity.times else 1.0, "seconds"
    if not wrong:
        return False
    unit = {1e9: "nanoseconds", 1e6: "microseconds", 1e3: "milliseconds"}.get(factor, "another unit")
    what = f"{metric.name} counts {metric.unit}: this is in {unit} of time, a factor {plain(factor)} above {then}"
    asked = _in_seconds(comparison, quantity, metric)
    comparison.checker.tell("PQL203", what, comparison.node, f"write {comparison.written(asked, plain(limit))}")
    return True


def _in_seconds(comparison: Comparison, quantity: Quantity, metric: Metric) -> str:
    """The value as a share of time, or in seconds: divided by what its counter counts a second."""
    value, source = comparison.value, comparison.checker.source
    while isinstance(value, Paren):
        value = value.expr
    times = units()[metric.unit].times
    if isinstance(value, Binary) and value.op == "/" and isinstance(value.right, Number):
        return f"{source(value.left)} / {plain(float(1 / times))}"
    inner = source(value) if quantity.times == times else f"{quantity.reading}({metric.name}[5m])"
    return f"{inner} / {plain(float(1 / times))}"


def _check_unit(comparison: Comparison) -> bool:
    """A threshold is one that the thing can have, in the unit that its exporter gives it in."""
    quantity, limit = comparison.vector.quantity, comparison.threshold
    if quantity.of is None or quantity.times is None or limit <= 0:
        return False
    if quantity.of == (("second", 1),) and quantity.times <= Fraction(1, 1000) and limit < 1:
        _tell_unit(comparison, better=plain(float(Fraction(limit).limit_denominator(10**9) / quantity.times)))
        return True
    row = _row(quantity)
    if row is None or quantity.reading not in ("level", "rate", "throughput"):
        return False
    meant = Fraction(limit).limit_denominator(10**12) * quantity.times / row.times
    few = row.least is not None and meant < row.least
    much = row.most is not None and not quantity.whole and meant > row.most
    if few or much:
        _tell_unit(comparison)
    return few or much


def _row(quantity: Quantity) -> Unit | None:
    metric = quantity.metric
    own = units().get(metric.unit) if metric else None
    if own is None or metric is None:
        return None
    if own.of == quantity.of and (own.least or own.most):
        return own
    if quantity.reading == "rate" and own.of == units()["joules"].of:
        return units()["watts"]
    return None


def _tell_unit(comparison: Comparison, better: str = "") -> None:
    quantity, limit = comparison.vector.quantity, plain(comparison.threshold)
    unit = dimension_text(quantity.of or (), quantity.times)
    what = f"{quantity.name} is in {unit}: {limit} is no threshold of it"
    hint = f"{comparison.with_limit(better)}" if better else f"the threshold in {unit}, or convert the value"
    comparison.checker.tell("PQL203", what, comparison.node, f"write {hint}")


def _span(low: float | None, high: float | None) -> str:
    """Two bounds in words."""
    if high is None:
        return f"at least {plain(low or 0)}"
    return plain(high) if low == high else f"from {plain(low or 0)} to {plain(high)}"


def _check_bounds(comparison: Comparison) -> None:
    """What can never be true says nothing."""
    quantity, limit, op = comparison.vector.quantity, comparison.threshold, comparison.op
    low, high = quantity.low, quantity.high
    above = high is not None and (limit > high or (limit == high and op == ">"))
    below = low is not None and (limit < low or (limit == low and op == "<"))
    never = (above and op in (">", ">=", "==")) or (below and op in ("<", "<=", "=="))
    if not never:
        return
    span = _span(low, high)
    what, hint = f"this can never be true: the value is {span}", ""
    if quantity.reading == "number" and low == 1 and high is None:
        what = "this can never be true: of nothing the count is no series, and not 0"
        value = comparison.checker.source(comparison.value)
        hint = f"write {comparison.written(f'({value} or vector(0))', comparison.checker.source(comparison.limit))}"
    elif quantity.metric:
        what = f"this can never be true: {quantity.name} is {span} here"
    comparison.checker.tell("PQL204", what, comparison.node, hint or "correct the threshold")

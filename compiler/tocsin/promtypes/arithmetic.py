"""Arithmetic: units are multiplied and divided, sums are of one unit, and masks are only taken apart."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin.catalog import units
from tocsin.promql import Aggregation, Binary, Paren, selectors, walk
from tocsin.promtypes.quantity import ANY, Quantity, constant, dimension_text, multiplied, number, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.promql import Expr
    from tocsin.promtypes.checker import Checker
    from tocsin.promtypes.vector import Vector

_TINY = 1e-300
_SMALLEST, _LARGEST = 1e-12, 1e24  # factors between two units of one thing
_TOLERATED = 50  # a factor such as 0.9 or 2 compares, a larger one between two units converts wrongly
_GROWING = ("sum", "count", "max", "group")  # what more series can only make larger


_OPERATIONS: dict[str, Callable[[float, float], object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": math.fmod,
    "^": operator.pow,
    "atan2": math.atan2,
}


def folded(op: str, left: Quantity, right: Quantity) -> Quantity:
    """What two scalars give."""
    a, b = left.constant, right.constant
    if left.reading == "timestamp" or right.reading == "timestamp":
        return _moments(op, left, right)
    if a is None or b is None or op not in _OPERATIONS:
        return number()
    try:
        value = _OPERATIONS[op](a, b)
    except (ZeroDivisionError, OverflowError, ValueError):
        return number()
    return constant(value) if isinstance(value, float | int) and math.isfinite(value) else number()


def calculated(checker: Checker, node: Binary, left: Vector, right: Vector) -> Quantity:
    """What two sides give, one of which at least is a vector."""
    a, b = left.quantity, right.quantity
    if b.constant is not None:
        return _with_constant(checker, node, a, b.constant, swapped=False)
    if a.constant is not None:
        return _with_constant(checker, node, b, a.constant, swapped=True)
    if node.op in ("+", "-"):
        return _added(checker, node, a, b)
    if node.op == "*":
        return _product(a, b)
    if node.op == "/":
        return _quotient(checker, node, a, b)
    return number()


# --- with a constant --------------------------------------------------------------------------------------------------


def _with_constant(checker: Checker, node: Binary, quantity: Quantity, value: float, *, swapped: bool) -> Quantity:
    quantity = quantity._replace(constant=None)
    if quantity.reading == "bits":
        return _of_mask(checker, node, quantity, value, swapped=swapped)
    if quantity.reading == "code" and value != 0 and node.op != "%":
        what = f"{quantity.name} holds a code: `{node.op}` of a code is none"
        checker.tell("PQL206", what, (node.op_start, node.op_end), "compare it with one: == 79")
    if node.op in ("*", "/") and not (swapped and node.op == "/"):
        if value == 0 or (quantity.reading == "any" and quantity.low is None):
            return number(0, 0) if value == 0 and node.op == "*" else ANY
        return _scaled(quantity, value if node.op == "*" else 1 / value) if abs(value) > _TINY else number()
    if node.op in ("+", "-"):
        return _shifted(checker, node, quantity, value, swapped=swapped)
    return number()


def _scaled(quantity: Quantity, factor: float) -> Quantity:
    bounds = [None if bound is None else bound * factor for bound in (quantity.low, quantity.high)]
    low, high = bounds if factor > 0 else bounds[::-1]
    if high is not None and math.isclose(high, round(high)):
        high = float(round(high))
    times = None
    if quantity.times is not None and _SMALLEST < factor < _LARGEST:
        times = quantity.times / Fraction(factor).limit_denominator(10**15)
    return quantity._replace(low=low, high=high, times=times, unit="")


def _shifted(checker: Checker, node: Binary, quantity: Quantity, value: float, *, swapped: bool) -> Quantity:
    if node.op == "-" and swapped and quantity.share and quantity.low == 0:
        whole = {1.0: 100.0, 100.0: 1.0}.get(value)
        if whole is not None and quantity.high == whole:
            kind = "a percentage" if whole == 100 else "a ratio of 0 to 1"
            what = f"{quantity.name} is {kind}: what is left of the whole is not {value:g} minus that"
            checker.tell("PQL203", what, node, f"write {whole:g} - {checker.source(node.right)}")
    if quantity.reading in ("any", "number") and quantity.low is None and quantity.high is None:
        return quantity
    low, high = quantity.low, quantity.high
    if swapped and node.op == "-":
        low, high = (None if high is None else value - high), (None if low is None else value - low)
    else:
        by = value if node.op == "+" else -value
        low, high = (None if low is None else low + by), (None if high is None else high + by)
    return quantity._replace(low=low, high=high)


def _of_mask(checker: Checker, node: Binary, quantity: Quantity, value: float, *, swapped: bool) -> Quantity:
    """A bit is taken out by floor(mask / bit) % 2, or mask % (2 * bit) >= bit."""
    if swapped or node.op not in ("/", "%"):
        return number(0, 0) if value == 0 else number()
    if value < 1 or not float(value).is_integer() or int(value) & (int(value) - 1):
        what = f"{quantity.name} is a bitmask: {value:g} is no bit of it"
        checker.tell("PQL205", what, node.right, "bits are powers of two: 1, 2, 4, 8, 16 and so on")
        return number()
    if node.op == "/":
        return quantity._replace(unit="shifted" if value > 1 else quantity.unit, high=None)
    if quantity.unit == "shifted":
        return quantity._replace(unit="unfloored", high=value)
    if value == 2:
        return Quantity("flag", "bool", (), Fraction(1), None, 0.0, 1.0)
    return number(0, value - 1)


# --- of two vectors ---------------------------------------------------------------------------------------------------


def _moments(op: str, left: Quantity, right: Quantity) -> Quantity:
    if op == "-" and left.reading == right.reading == "timestamp":
        return Quantity("level", "seconds", (("second", 1),), Fraction(1))
    return left if left.reading == "timestamp" else right


def _added(checker: Checker, node: Binary, left: Quantity, right: Quantity) -> Quantity:
    check_same_unit(checker, node, left, right)
    if "timestamp" in (left.reading, right.reading):
        return _moments(node.op, left, right)
    if "any" in (left.reading, right.reading):
        return ANY
    low = (
        0.0
        if node.op == "+" and (left.low or 0) >= 0 and (right.low or 0) >= 0 and None not in (left.low, right.low)
        else None
    )
    reading = left.reading if left.reading == right.reading else "number"
    if node.op == "-":
        reading = "increase" if left.reading == right.reading == "total" else "change"
    metric = left.metric if left.metric == right.metric else None
    of, times = (left.of, left.times) if left.of == right.of else (None, None)
    if reading in ("flag", "percent", "ratio", "code", "bits", "info"):
        reading = "level"
    return Quantity(reading, left.unit, of, times, metric, low=low, whole=True)


def _product(left: Quantity, right: Quantity) -> Quantity:
    for one, other in ((left, right), (right, left)):
        if one.reading in ("flag", "info") or (one.low == one.high == 1):
            return other if other.reading != "any" else ANY
    if left.of is None or right.of is None:
        return number() if left.reading != "any" and right.reading != "any" else ANY
    times = None if left.times is None or right.times is None else left.times * right.times
    return Quantity("number", "", multiplied(left.of, right.of), times)


def _quotient(checker: Checker, node: Binary, left: Quantity, right: Quantity) -> Quantity:
    if left.reading == right.reading == "total":
        what = "the quotient of two counters is that of their whole lives: what fails now hardly moves it"
        matching = f" {_matching_text(checker, node)}" if node.matching else ""
        hint = f"write {checker.rated(node.left, 'rate')} /{matching} {checker.rated(node.right, 'rate')}"
        checker.tell("PQL202", what, node, hint)
        return number(0)
    if left.of == right.of:
        check_same_unit(checker, node, left, right)
    if (left.of, left.times) == (right.of, right.times) and _is_part(checker, node.left, node.right):
        return Quantity("ratio", "ratio", (), Fraction(1), None, 0.0, 1.0, share=True)
    if left.of is None or right.of is None:
        return number() if "any" not in (left.reading, right.reading) else ANY
    times = None if left.times is None or right.times is None else left.times / right.times
    of = multiplied(left.of, right.of, -1)
    low = 0.0 if left.low is not None and left.low >= 0 and right.low is not None and right.low >= 0 else None
    if of == () and left.physical and times == 1:
        return Quantity("quotient", "", of, times, None, low=low)
    return Quantity("number", "", of, times, None, low=low)


def _matching_text(checker: Checker, node: Binary) -> str:
    """What stands between an operator and its right side."""
    return " ".join(checker.text[node.op_end : node.right.start].split())


def _is_part(checker: Checker, part: Expr, whole: Expr) -> bool:
    """Whether the one is among what the other adds up: a / (a + b), or the same with fewer matchers."""
    bare = whole
    while isinstance(bare, Paren):
        bare = bare.expr
    if isinstance(bare, Binary) and bare.op == "+":
        return checker.source(part) in (checker.source(bare.left), checker.source(bare.right))
    if any(isinstance(inner, Aggregation) and inner.op not in _GROWING for inner in walk(whole)):
        return False
    mine, all_ = selectors(part), selectors(whole)
    if len(mine) != len(all_) or _shape(checker, part) != _shape(checker, whole):
        return False
    return all(
        {m.render() for m in wide.matchers} <= {m.render() for m in narrow.matchers}
        for narrow, wide in zip(mine, all_, strict=True)
    )


def _shape(checker: Checker, expr: Expr) -> str:
    """The text of an expression without its matchers."""
    text, at = "", expr.start
    for selector in selectors(expr):
        if selector.matchers:
            text += checker.text[at : selector.start] + (selector.metric or "")
            at = max(m.end for m in selector.matchers)
    return "".join((text + checker.text[at : expr.end]).replace("{", "").replace("}", "").replace(",", "").split())


def check_same_unit(checker: Checker, node: Binary, left: Quantity, right: Quantity) -> None:
    """Sums and comparisons are of one unit; a factor between two names of it is converted, or told."""
    if left.of is None or right.of is None or "number" in (left.reading, right.reading):
        return
    if left.of != right.of:
        if (left.physical or right.physical) and all(q.physical or q.share or q.of for q in (left, right)):
            mine, other = dimension_text(left.of, left.times), dimension_text(right.of, right.times)
            what = f"`{node.op}` of different things: the left side is in {mine}, the right one in {other}"
            checker.tell("PQL203", what, node, "compare, add or subtract what has one unit")
        return
    if not (left.physical or (left.share and right.share) or left.of == (("second", 1),)):
        return
    if left.times is None or right.times is None or _written_unit(left) == _written_unit(right):
        return
    factor = left.times / right.times
    if not Fraction(1, _TOLERATED) < factor < _TOLERATED:
        mine, other = dimension_text(left.of, left.times), dimension_text(right.of, right.times)
        what = f"`{node.op}` of different units: the left side is in {mine}, the right one in {other}"
        side, by = ("left", factor) if factor > 1 else ("right", 1 / factor)
        checker.tell("PQL203", what, node, f"multiply the {side} side by {plain(float(by))}")


def _written_unit(quantity: Quantity) -> object:
    """The unit that an exporter gives the value in."""
    return units().get(quantity.metric.unit) if quantity.metric else (quantity.of, quantity.times)

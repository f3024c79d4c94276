"""Codes and bitmasks against constants: a code has no order, and a mask has more than one bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promql import Aggregation, Paren, Selector
from tocsin.promtypes.quantity import plain

if TYPE_CHECKING:
    from tocsin.promql import Expr
    from tocsin.promtypes.comparisons import Comparison
    from tocsin.promtypes.findings import Finding


def check_mask_comparison(comparison: Comparison) -> None:
    """A bit is taken out of its mask before it is compared."""
    quantity, limit, checker = comparison.vector.quantity, comparison.threshold, comparison.checker
    metric, asked = quantity.metric, checker.source(comparison.value)
    if quantity.unit == "unfloored":
        if comparison.op in ("==", "!="):
            what = "without floor() the bits below are behind the point: this holds only where none of them is set"
            inner, _, rest = asked.rpartition("%")
            hint = comparison.written(f"floor({inner.strip()}) % {rest.strip()}", checker.source(comparison.limit))
            checker.tell("PQL205", what, comparison.node, f"write {hint}")
        return
    if (comparison.op == "==" and limit == 0) or (comparison.is_some and metric and not metric.harmless):
        return
    if (comparison.op, limit) in (("<", 1), ("<=", 0)):
        return
    if comparison.is_some and quantity.unit == "bits" and metric:
        what = f"{metric.name} is a bitmask, and above 0 it is no fault: {metric.harmless}"
    elif quantity.unit != "bits":
        what = f"{quantity.name} is a bitmask: the bits above the one that is meant are in this number, too"
    else:
        what = f"{quantity.name} is a bitmask: a number compares all of its bits at once"
    bit = int(limit) if limit >= 1 and float(limit).is_integer() and not int(limit) & (int(limit) - 1) else 64
    mask = asked if quantity.unit == "bits" else "…"
    one = f"floor({_once(comparison.value, mask, comparison)} / {bit if bit > 1 else 64}) % 2 == 1"
    checker.tell("PQL205", what, comparison.node, f"take the bit out: {one if mask != '…' else asked + ' % 2 == 1'}")


def _once(expr: Expr, asked: str, comparison: Comparison) -> str:
    """The mask of each board once."""
    while isinstance(expr, Paren):
        expr = expr.expr
    if isinstance(expr, Aggregation) or not isinstance(expr, Selector) or not comparison.vector.copies:
        return asked
    return f"max by ({', '.join(comparison.vector.entity)}) ({asked})"


def check_code(comparison: Comparison) -> tuple[Finding, ...]:
    """States are ordered by their makers, other codes are not; a latched code stays when its event is over."""
    quantity, limit, checker = comparison.vector.quantity, comparison.threshold, comparison.checker
    metric = quantity.metric
    is_one = comparison.op == "==" and limit != 0
    if metric is None or metric.unit == "state" or (comparison.op == "==" and not (is_one and metric.latched)):
        return ()
    if comparison.is_some or is_one or (comparison.op, limit) in (("<=", 0), ("<", 1)):
        if not (metric.latched and (comparison.is_some or is_one)):
            return ()
        by, asked = ", ".join(comparison.vector.entity), checker.source(comparison.value)
        inner = _selector(comparison.value)
        name = checker.source(inner) if inner else asked
        what = f"{metric.name} keeps the last code until its host engine restarts: this would hold for weeks"
        now, before = f"max by ({by}) ({name})", f"max by ({by}) ({name} offset 5m)"
        shown = f"== {plain(limit)}" if is_one else "> 0"
        hint = f"write ({now} {shown}) unless on ({by}) ({before} {shown}), which holds when a code is new"
        return (checker.finding("PQL216", what, comparison.node, hint),)
    if comparison.op == "!=":
        return ()
    what = f"{metric.name} holds a code, and codes have no order: {plain(limit)} is not less than the next one"
    label = metric.spells
    hint = f'select codes by their label: {label}=~"79|119"' if label else f"compare with one: == {plain(limit)}"
    checker.tell("PQL206", what, comparison.node, hint)
    return ()


def _selector(expr: Expr) -> Selector | None:
    while isinstance(expr, Paren | Aggregation):
        expr = expr.expr
    return expr if isinstance(expr, Selector) else None

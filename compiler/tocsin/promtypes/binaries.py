"""Operators between two expressions: which series meet, and what becomes of their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promql import ValueType
from tocsin.promtypes.arithmetic import calculated, folded
from tocsin.promtypes.comparisons import compared
from tocsin.promtypes.matching import joined, united
from tocsin.promtypes.vector import Vector, scalar

if TYPE_CHECKING:
    from tocsin.promql import Binary
    from tocsin.promtypes.checker import Checker

COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
SETS = frozenset(("and", "or", "unless"))


def combined(checker: Checker, node: Binary) -> Vector:
    """The type of a binary operation."""
    left, right = checker.infer(node.left), checker.infer(node.right)
    if node.op in SETS:
        return united(checker, node, left, right)
    if node.type is ValueType.SCALAR:
        return scalar(folded(node.op, left.quantity, right.quantity))
    if node.left.type is ValueType.SCALAR:
        series = right
    elif node.right.type is ValueType.SCALAR:
        series = left
    else:
        series = joined(checker, node, left, right)
    if node.op in COMPARISONS:
        return compared(checker, node, left, right, series)
    doubled = (*left.doubled, *right.doubled)
    quantity = calculated(checker, node, left, right)
    summed = (left.sum_of or right.sum_of) and quantity.reading == "total"
    return series._replace(
        quantity=quantity, doubled=doubled, standing=(), sum_of=summed, filled=left.filled and right.filled
    )

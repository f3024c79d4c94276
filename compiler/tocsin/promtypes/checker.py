"""From an expression to its type: every node is looked at once, and what is wrong with it is told at its place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tocsin.promql import selectors
from tocsin.promtypes.aggregations import aggregated
from tocsin.promtypes.binaries import combined
from tocsin.promtypes.findings import Finding
from tocsin.promtypes.functions import called
from tocsin.promtypes.quantity import constant, number
from tocsin.promtypes.ranges import check_reach
from tocsin.promtypes.selectors import selected
from tocsin.promtypes.vector import Vector, scalar

if TYPE_CHECKING:
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
    )
    from tocsin.promtypes.world import World


# What makes a bad alert, and on a page is what it is: how much a counter has counted, what is true for good, what is
# absent, boards that weigh more where they are shared, and a join that fails on the day when two series match.
_SHOWN = frozenset(("PQL202", "PQL207", "PQL209", "PQL213", "PQL216"))


class Checker:
    """Infers the types of one expression; `text` is what its nodes' positions count in."""

    def __init__(self, text: str, world: World) -> None:
        self.text = text
        self.world = world
        self.findings: dict[Finding, None] = {}

    def tell(
        self, code: str, message: str, node: Expr | tuple[int, int], hint: str = "", *, shown: bool = False
    ) -> None:
        """Tell a mistake, which is none where the value is `shown` only."""
        self.findings.setdefault(self.finding(code, message, node, hint, shown=shown))

    def finding(
        self, code: str, message: str, node: Expr | tuple[int, int], hint: str = "", *, shown: bool = False
    ) -> Finding:
        """A mistake that may turn out to be none."""
        start, end = node[:2]
        return Finding(code, message, start, end, hint, shown or code in _SHOWN)

    def source(self, node: Expr) -> str:
        """The text of a node in one line."""
        return " ".join(self.text[node.start : node.end].split())

    def rated(self, node: Expr, function: str) -> str:
        """The text of a node with the rate of its one selector in its place; `…` stands where there are several."""
        asked = selectors(node)
        if len(asked) != 1:
            return f"{function}(…[5m])"
        (selector,) = asked
        bare = selector._replace(offset=None, at=None).render()
        behind = selector.render()[len(bare) :]
        before, after = self.text[node.start : selector.start], self.text[selector.end : node.end]
        return " ".join(f"{before}{function}({bare}[5m]{behind}){after}".split())

    def infer(self, expr: Expr) -> Vector:
        """The type of an expression."""
        made: Vector = getattr(self, f"_{type(expr).__name__.lower()}")(expr)
        return made

    def _number(self, expr: Number) -> Vector:
        return scalar(constant(expr.value) if math.isfinite(expr.value) else number())

    def _string(self, _expr: String) -> Vector:
        return scalar(number())

    def _selector(self, expr: Selector) -> Vector:
        return selected(self, expr, expr.offset, 0)

    def _range(self, expr: Range) -> Vector:
        return selected(self, expr.selector, expr.offset, expr.duration.milliseconds)

    def _call(self, expr: Call) -> Vector:
        return called(self, expr)

    def _aggregation(self, expr: Aggregation) -> Vector:
        return aggregated(self, expr)

    def _binary(self, expr: Binary) -> Vector:
        return combined(self, expr)

    def _paren(self, expr: Paren) -> Vector:
        return self.infer(expr.expr)

    def _subquery(self, expr: Subquery) -> Vector:
        inner = self.infer(expr.expr)
        check_reach(self, expr, expr.duration.milliseconds, expr.offset, inner)
        step = expr.step.milliseconds if expr.step else self.world.interval
        return inner._replace(window=expr.duration.milliseconds, interval=step, standing=())

    def _unary(self, expr: Unary) -> Vector:
        inner = self.infer(expr.expr)
        low, high = inner.quantity.low, inner.quantity.high
        if expr.op == "+":
            return inner
        bounds = None if high is None else -high, None if low is None else -low
        return inner.of(inner.quantity._replace(low=bounds[0], high=bounds[1], share=False))

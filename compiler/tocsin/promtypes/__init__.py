"""A type checker for PromQL: expressions against what their series are.

`findings` tells what is wrong with a parsed expression in a `World`: that of the catalogue (`of_catalogue`) or that of
a factory (`of_factory`). It infers, for every part of an expression, the reading and the unit of its values, between
which bounds they lie, which labels its series have, which of those tell them apart, and under which one value is
repeated. What it does not know it lets pass: a name without a type is any number with any labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promtypes.checker import Checker
from tocsin.promtypes.findings import Finding
from tocsin.promtypes.vector import Vector
from tocsin.promtypes.world import World, of_catalogue, of_factory

if TYPE_CHECKING:
    from tocsin.promql import Expr

__all__ = ["Finding", "Vector", "World", "check", "findings", "of_catalogue", "of_factory"]


def check(text: str, expr: Expr, world: World) -> tuple[Vector, tuple[Finding, ...]]:
    """The type of an expression and all that is wrong with it, in the order of the text."""
    checker = Checker(text, world)
    vector = checker.infer(expr)
    for doubt in (*vector.doubled, *vector.standing):
        checker.findings.setdefault(doubt)
    return vector, tuple(sorted(checker.findings, key=lambda finding: (finding.start, finding.end, finding.code)))


def findings(text: str, expr: Expr, world: World) -> tuple[Finding, ...]:
    """All that is wrong with an expression, in the order of the text."""
    return check(text, expr, world)[1]

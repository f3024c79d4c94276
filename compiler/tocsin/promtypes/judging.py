"""Expressions of people: what is wrong with one is told where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import pattern
from tocsin.promql import Call, Duration, PromqlError, Range, Selector, ValueType, parse, selectors
from tocsin.promtypes.checker import Checker

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.diagnostics import Log
    from tocsin.promql import Expr
    from tocsin.promtypes.findings import Finding
    from tocsin.promtypes.vector import Vector
    from tocsin.promtypes.world import World
    from tocsin.source import Span

    Place = Callable[[int, int], Span]  # of the characters [start, end) of an expression

_WINDOW = Duration(0, 0, 5 * 60 * 1000)  # what an SLO looks at first


def parsed(text: str, log: Log, place: Place) -> Expr | None:
    """The tree of an expression; None where it is none, which is told."""
    try:
        expr = parse(text)
        _judge_patterns(expr)
    except PromqlError as error:
        log.error("PQL105", error.message, place(error.start, error.end), error.hint)
        return None
    return expr


def judged(text: str, expr: Expr, world: World, log: Log, place: Place) -> Vector:
    """The type of an expression; all that is wrong with it is told."""
    vector, found = check(text, expr, world)
    for finding in found:
        log.error(finding.code, finding.message, place(finding.start, finding.end), finding.hint)
    return vector


def check(text: str, expr: Expr, world: World) -> tuple[Vector, tuple[Finding, ...]]:
    """The type of an expression and all that is wrong with it, in the order of the text."""
    checker = Checker(text, world)
    vector = checker.infer(expr)
    for doubt in (*vector.doubled, *vector.standing):
        checker.findings.setdefault(doubt)
    return vector, tuple(sorted(checker.findings, key=lambda finding: (finding.start, finding.end, finding.code)))


def check_rate(text: str, selector: Selector, world: World) -> tuple[Finding, ...]:
    """All that is wrong with the rate of a selector, as an SLO takes it: a counter, its labels, their values."""
    window = Range(selector.start, selector.end, selector, _WINDOW)
    return check(text, Call(selector.start, selector.end, "rate", (window,), ValueType.VECTOR), world)[1]


def _judge_patterns(expr: Expr) -> None:
    """PromqlError where a regular expression is too long, or wrong beyond what its grammar says."""
    for selector in selectors(expr):
        for matcher in selector.matchers:
            if matcher.op in ("=~", "!~"):
                try:
                    pattern.validate(matcher.value)
                except pattern.PatternError as error:
                    what = f"this is not a regular expression of Prometheus: {error}"
                    raise PromqlError(what, matcher.value_start, matcher.value_end) from None

"""Selectors, ranges and their modifiers from their parts, where the parts fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promql.advice import source, to_vector, what
from tocsin.promql.errors import PromqlError
from tocsin.promql.functions import ValueType
from tocsin.promql.literals import shorten, string, string_offset
from tocsin.promql.regexp import RegexpError, matches_empty
from tocsin.promql.tree import At, Duration, Expr, Matcher, Range, Selector, Subquery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.promql.lexer import Token


def matcher(label: Token, op: str, literal: Token) -> tuple[Matcher, bool]:
    """A matcher, and whether it lets series pass that do not have the label."""
    value = string(literal.text, literal.start)
    made = Matcher(label.start, literal.end, label.text, op, value, literal.start, literal.end)
    if op in ("=", "!="):
        return made, (value == "") == (op == "=")
    return made, check_regexp(literal.text, literal.start, value) == (op == "=~")


def check_regexp(literal: str, at: int, value: str) -> bool:
    """Whether a regular expression, a literal at offset `at`, matches the empty string; PromqlError if it is none."""
    try:
        return matches_empty(value)
    except RegexpError as error:
        start = at + string_offset(literal, error.start)
        end = at + string_offset(literal, error.end)
        raise PromqlError(
            f"bad regular expression: {error.message}", start, max(end, start + 1), error.hint, error.taken
        ) from None


def selector(metric: str | None, matchers: Sequence[tuple[Matcher, bool]], start: int, end: int) -> Selector:
    """A selector from its name and what `matcher` gave."""
    names = [made for made, _ in matchers if made.label == "__name__"]
    if metric is not None and names:
        hint = f"leave out `{metric}` or the matcher"
        raise PromqlError("the name of the metric is given twice", names[0].start, names[0].end, hint)
    if metric is None and all(lets_pass for _, lets_pass in matchers):
        message = "this selector names no metric, and none of its matchers requires that a label has a value"
        raise PromqlError(message, start, end, 'name the metric, or require a label, like job!=""')
    return Selector(start, end, metric, tuple(made for made, _ in matchers))


def range_(text: str, expr: Expr, duration: Duration, bracket: int, end: int) -> Range:
    """`expr[duration]` with the bracket at offset `bracket`."""
    written = shorten(text[bracket:end])
    if not isinstance(expr, Selector):
        hint = f"write a subquery, `{written[:-1]}:]`" if expr.type is ValueType.VECTOR else ""
        message = f"only a selector can have a range, and `{source(text, expr)}` is none"
        raise PromqlError(message, bracket, end, hint)
    if expr.offset or expr.at:
        modifier = "offset" if expr.offset else "@"
        hint = f"write `{expr._replace(offset=None, at=None).render()}{written} {modifier} …`"
        raise PromqlError(f"a range stands before `{modifier}`", bracket, end, hint)
    return Range(expr.start, end, expr, duration)


def subquery(text: str, expr: Expr, duration: Duration, step: Duration | None, end: int) -> Subquery:
    """`expr[duration:step]`"""
    if expr.type is not ValueType.VECTOR:
        message = f"a subquery expects an instant vector before it, {what(text, expr)}"
        raise PromqlError(message, expr.start, expr.end, to_vector(text, expr))
    return Subquery(expr.start, end, expr, duration, step)


def modified(text: str, expr: Expr, modifier: Duration | At, word: Token) -> Expr:
    """The expression with its `offset` or `@`; `word` is the token that says which."""
    if not isinstance(expr, Selector | Range | Subquery):
        hint = f"put `{text[word.start : modifier.end]}` directly behind the selector inside"
        message = f"`{word.text}` belongs to a selector, a range or a subquery"
        raise PromqlError(message, word.start, modifier.end, hint)
    if expr.offset if isinstance(modifier, Duration) else expr.at:
        message = f"`{source(text, expr)}` has its `{word.text}` already"
        raise PromqlError(message, word.start, modifier.end, "leave one of them out")
    if isinstance(modifier, Duration):
        return expr._replace(end=modifier.end, offset=modifier)
    return expr._replace(end=modifier.end, at=modifier)

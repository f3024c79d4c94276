"""Calls and aggregations from their parts, where the parts fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promql.advice import instead, near, source, what
from tocsin.promql.errors import PromqlError, since
from tocsin.promql.functions import AGGREGATIONS, FUNCTIONS, NOT_PORTABLE, Function, ValueType, taken
from tocsin.promql.mistakes import no_function
from tocsin.promql.selection import check_regexp
from tocsin.promql.tree import LABEL_NAME, Aggregation, Call, Expr, Grouping, String

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.promql.lexer import Token

# Words that name a metric where an operand stands, but no function.
_WORDS = frozenset({"by", "without", "offset", "and", "or", "unless", "start", "end", "inf", "nan"})
_EXAMPLES = {
    ValueType.VECTOR: "metric",
    ValueType.MATRIX: "metric[5m]",
    ValueType.SCALAR: "number",
    ValueType.STRING: '"text"',
}


def function(name: Token) -> Function:
    """The function of that name."""
    if known := FUNCTIONS.get(name.text):
        return known
    if name.text.lower() in _WORDS or ":" in name.text:
        raise no_function(name)
    if name.text in NOT_PORTABLE:
        why, hint = NOT_PORTABLE[name.text]
        raise PromqlError(f"`{name.text}()` {why}", name.start, name.end, hint, taken(name.text))
    if name.text.lower() in FUNCTIONS:
        hint = f"write `{name.text.lower()}`"
        raise PromqlError("functions are written in lower case", name.start, name.end, hint)
    close = near(name.text, [*FUNCTIONS, *AGGREGATIONS])
    hint = f"did you mean `{close}`?" if close else ""
    raise PromqlError(f"there is no function `{name.text}`", name.start, name.end, hint)


def call(text: str, name: Token, args: tuple[Expr, ...], end: int) -> Call:
    """`name(args)`"""
    known = function(name)
    if len(args) < known.least or (known.most is not None and len(args) > known.most):
        bound = "" if known.least == known.most else "at least " if len(args) < known.least else "at most "
        takes = known.least if len(args) < known.least else known.most or 0
        message = f"`{name.text}()` takes {bound}{_arguments(takes)}, not {len(args)}"
        raise PromqlError(message, name.start, end, _usage(name.text, known.parameters[:takes]))
    _check_types(text, name.text, [known.parameter(index) for index in range(len(args))], args)
    if name.text == "label_replace":
        _check_label(args[1])
        _check_pattern(text, args[4])
    elif name.text == "label_join":
        for label in (args[1], *args[3:]):
            _check_label(label)
    return Call(name.start, end, name.text, args, known.returns)


def aggregation(text: str, name: Token, args: tuple[Expr, ...], grouping: Grouping | None, end: int) -> Aggregation:
    """`name grouping (args)`, or with the grouping behind the arguments."""
    op = name.text.lower()
    parameter = AGGREGATIONS[op]
    wanted = [parameter, ValueType.VECTOR] if parameter else [ValueType.VECTOR]
    if len(args) != len(wanted):
        message = f"`{op}()` takes {_arguments(len(wanted))}, not {len(args)}"
        raise PromqlError(message, name.start, end, _usage(op, wanted))
    _check_types(text, op, wanted, args)
    if op == "count_values":
        _check_label(args[0])
    return Aggregation(name.start, end, op, args[0] if parameter else None, args[-1], grouping)


def _arguments(count: int) -> str:
    return f"{count or 'no'} argument{'' if count == 1 else 's'}"


def _usage(name: str, wanted: Sequence[ValueType]) -> str:
    return f"write `{name}({', '.join(_EXAMPLES[type_] for type_ in wanted)})`"


def _check_types(text: str, name: str, wanted: Sequence[ValueType], args: Sequence[Expr]) -> None:
    for index, (want, arg) in enumerate(zip(wanted, args, strict=True), start=1):
        if arg.type is want:
            continue
        if len(args) == 2 and [arg.type for arg in args] == [*reversed(wanted)]:
            hint = f"write `{name}({source(text, args[1])}, {source(text, args[0])})`"
            message = f"the arguments of `{name}()` are in the wrong order"
            raise PromqlError(message, args[0].start, args[1].end, hint)
        place = f" as argument {index}" if len(args) > 1 else ""
        message = f"`{name}()` expects {want.words}{place}, {what(text, arg)}"
        raise PromqlError(message, arg.start, arg.end, instead(text, name, want, arg))


def _check_label(expr: Expr) -> None:
    """Refuse a label name that would fail whenever Prometheus 2 evaluates the expression."""
    if isinstance(expr, String) and not LABEL_NAME.fullmatch(expr.value):
        hint = "a label is named with letters, digits and `_`, and does not begin with a digit"
        raise PromqlError("this is not the name of a label", expr.start, expr.end, hint, since(3))


def _check_pattern(text: str, expr: Expr) -> None:
    """Refuse a regular expression that would fail whenever Prometheus evaluates the expression."""
    if isinstance(expr, String):
        check_regexp(text[expr.start : expr.end], expr.start, expr.value)

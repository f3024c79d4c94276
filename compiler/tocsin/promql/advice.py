"""What to write instead: the half sentences that messages about types share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promql.functions import FUNCTIONS, ValueType
from tocsin.promql.literals import shorten
from tocsin.promql.tree import Aggregation, Binary, Expr, Paren, Selector, String, Unary

if TYPE_CHECKING:
    from collections.abc import Iterable


def source(text: str, expr: Expr) -> str:
    """The expression as it was written, shortened for a message."""
    return shorten(text[expr.start : expr.end])


def what(text: str, expr: Expr) -> str:
    """`` `x` is an instant vector ``"""
    return f"`{source(text, expr)}` is {expr.type.words}"


def near(word: str, known: Iterable[str]) -> str:
    """The closest of the known words, or nothing."""
    from difflib import get_close_matches  # only a mistake pays for this import

    return next(iter(get_close_matches(word.lower(), known, n=1, cutoff=0.78)), "")


def instead(text: str, name: str, want: ValueType, arg: Expr) -> str:
    """How to give the function or aggregation `name` what it wants where it got `arg`."""
    while isinstance(arg, Paren):
        arg = arg.expr
    match want:
        case ValueType.MATRIX:
            return _to_matrix(text, name, arg)
        case ValueType.SCALAR:
            return _to_scalar(text, arg)
        case ValueType.STRING:
            return 'write a text in quotes, "…"'
    if isinstance(arg, String):
        return "write a metric, without quotes"
    if arg.type is ValueType.MATRIX and f"{name}_over_time" in FUNCTIONS:
        return f"`{name}()` goes over series; over time goes `{name}_over_time({source(text, arg)})`"
    return to_vector(text, arg)


def _to_matrix(text: str, name: str, arg: Expr) -> str:
    written = source(text, arg)
    match arg:
        case Selector():
            return f"write `{name}({_with_range(arg)})`"
        case Aggregation(param=None, expr=Selector() as inner):
            before, after = text[arg.start : inner.start], text[inner.end : arg.end]
            return f"aggregate the result: `{shorten(f'{before}{name}({_with_range(inner)}){after}')}`"
        case Binary() | Unary() if arg.type is ValueType.VECTOR:
            return f"write a subquery: `({written})[5m:]`"
    return f"write a subquery: `{written}[5m:]`" if arg.type is ValueType.VECTOR else "write a range: `metric[5m]`"


def _with_range(selector: Selector) -> str:
    bare = selector._replace(offset=None, at=None).render()
    return f"{bare}[5m]{selector.render().removeprefix(bare)}"


def _to_scalar(text: str, arg: Expr) -> str:
    if isinstance(arg, String):
        return "write a number, without quotes"
    if arg.type is ValueType.VECTOR:
        return f"`scalar({source(text, arg)})` is the value of its only series"
    return "write a number"


def to_vector(text: str, expr: Expr) -> str:
    """How to make an instant vector of an expression that is something else."""
    written = source(text, expr)
    if expr.type is ValueType.MATRIX:
        return f"make one value of it: `rate({written})` for a counter, `avg_over_time({written})` for a gauge"
    if expr.type is ValueType.SCALAR:
        return f"write `vector({written})`"
    return 'label values are compared inside braces: `metric{label="…"}`'

"""Operators: how tightly they bind, and their nodes from their parts, where the parts fit."""

from typing import NamedTuple

from tocsin.promql.advice import source, to_vector, what
from tocsin.promql.errors import PromqlError
from tocsin.promql.functions import ValueType
from tocsin.promql.lexer import Token
from tocsin.promql.tree import Binary, Expr, Matching, Number, Unary

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
SETS = frozenset({"and", "or", "unless"})

# The higher, the tighter; all bind to the left but `^`. A sign binds like a multiplication: -2^2 is -4.
BINDING = {
    **dict.fromkeys(("or",), 1),
    **dict.fromkeys(("and", "unless"), 2),
    **dict.fromkeys(COMPARISONS, 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%", "atan2"), 5),
    **dict.fromkeys(("^",), 6),
}
SIGN_BINDING = BINDING["*"]


class Operator(NamedTuple):
    """An operator with what stands between it and its right side; `sign` says that it has no left side."""

    token: Token
    sign: bool = False
    returns_bool: Token | None = None
    matching: Matching | None = None

    @property
    def word(self) -> str:
        """The operator in lower case."""
        return self.token.text.lower()

    def comes_before(self, later: "Operator | None") -> bool:
        """Whether it is applied before the operator that follows in the text (None: the expression ends)."""
        if later is None:
            return True
        own = SIGN_BINDING if self.sign else BINDING[self.word]
        return own > BINDING[later.word] or (own == BINDING[later.word] and self.word != "^")


def unary(text: str, operator: Operator, expr: Expr) -> Number | Unary:
    """`-expr` or `+expr`; the sign of a number becomes part of it."""
    sign = operator.token
    if isinstance(expr, Number):
        return Number(sign.start, expr.end, -expr.value if sign.kind == "-" else expr.value)
    _expect_numbers(text, sign.kind, expr, "an instant vector or a scalar")
    return Unary(sign.start, expr.end, sign.kind, expr, expr.type)


def binary(text: str, left: Expr, operator: Operator, right: Expr) -> Binary:
    """`left operator right`"""
    token, op, returns_bool, matching = operator.token, operator.word, operator.returns_bool, operator.matching
    for side in (left, right):
        _expect_numbers(text, op, side, "instant vectors or scalars")
        if op in SETS and side.type is ValueType.SCALAR:
            message = f"`{op}` expects instant vectors on both sides, {what(text, side)}"
            raise PromqlError(message, side.start, side.end, to_vector(text, side))
    scalars = left.type is right.type is ValueType.SCALAR
    if returns_bool and op not in COMPARISONS:
        message = f"`bool` makes a comparison return 0 or 1, and `{op}` compares nothing"
        raise PromqlError(message, returns_bool.start, returns_bool.end, "leave `bool` out")
    if op in COMPARISONS and scalars and not returns_bool:
        hint = f"write `{source(text, left)} {op} bool {source(text, right)}`"
        raise PromqlError("two scalars can only be compared with `bool`", token.start, token.end, hint)
    if matching:
        _check_matching(op, matching, vectors=left.type is right.type is ValueType.VECTOR)
    type_ = ValueType.SCALAR if scalars else ValueType.VECTOR
    return Binary(
        left.start, right.end, left, op, token.start, token.end, returns_bool is not None, matching, right, type_
    )


def _expect_numbers(text: str, op: str, side: Expr, wanted: str) -> None:
    if side.type not in (ValueType.VECTOR, ValueType.SCALAR):
        message = f"`{op}` expects {wanted}, {what(text, side)}"
        raise PromqlError(message, side.start, side.end, to_vector(text, side))


def _check_matching(op: str, matching: Matching, *, vectors: bool) -> None:
    word = "on" if matching.on else "ignoring"
    if matching.labels and not vectors:
        message = f"`{word}` matches series with series, and a scalar has none"
        raise PromqlError(message, matching.start, matching.end, f"leave `{word} (…)` out")
    if matching.group and op in SETS:
        message = f"`{op}` matches many series with many, `group_{matching.group}` changes nothing there"
        raise PromqlError(message, matching.start, matching.end, f"leave `group_{matching.group}` out")
    matched = {label.name for label in matching.labels} if matching.on else ()
    for label in matching.include:
        if label.name in matched:
            message = f"`{label.name}` stands in `on` and in `group_{matching.group}`"
            raise PromqlError(message, label.start, label.end, f"leave it out of `group_{matching.group}`")

"""What a PromQL text says: a tree of immutable nodes, each at the characters [start, end) of the text."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from tocsin.promql.functions import ValueType
from tocsin.promql.literals import duration_text, quote

_NAMES = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*(?:\|[a-zA-Z_:][a-zA-Z0-9_:]*)*")
LABEL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MATCHER_OPERATORS = ("=", "!=", "=~", "!~")


class Label(NamedTuple):
    """The name of a label in a list such as that of `by (…)`."""

    start: int
    end: int
    name: str


class Matcher(NamedTuple):
    """`label op "value"`; the string literal with its quotes stands at [value_start, value_end)."""

    start: int
    end: int
    label: str
    op: str
    value: str
    value_start: int
    value_end: int

    def render(self) -> str:
        """The matcher as PromQL."""
        return matcher(self.label, self.op, self.value)


class Duration(NamedTuple):
    """A length of time, negative only in an offset; `end` - `start` covers the sign."""

    start: int
    end: int
    milliseconds: int


class At(NamedTuple):
    """The moment after `@`: seconds since 1970, or the start or end of the query."""

    start: int
    end: int
    moment: float | Literal["start", "end"]

    def render(self) -> str:
        """The moment as PromQL."""
        if isinstance(self.moment, str):
            return f"{self.moment}()"
        return str(int(self.moment)) if self.moment.is_integer() else repr(self.moment)


class Number(NamedTuple):
    """A number, its signs included."""

    start: int
    end: int
    value: float

    @property
    def type(self) -> ValueType:
        """What it gives."""
        return ValueType.SCALAR


class String(NamedTuple):
    """A string."""

    start: int
    end: int
    value: str

    @property
    def type(self) -> ValueType:
        """What it gives."""
        return ValueType.STRING


class Selector(NamedTuple):
    """`metric{matchers} offset … @ …`; `metric` is None where no name stands before the braces."""

    start: int
    end: int
    metric: str | None
    matchers: tuple[Matcher, ...]
    offset: Duration | None = None
    at: At | None = None

    @property
    def type(self) -> ValueType:
        """What it gives."""
        return ValueType.VECTOR

    def render(self, extra: Iterable[str] = ()) -> str:
        """The selector as PromQL, with further matchers (made by `matcher`) after its own."""
        matchers = [*[own.render() for own in self.matchers], *extra]
        text = (self.metric or "") + (f"{{{','.join(matchers)}}}" if matchers else "")
        if self.offset:
            text += f" offset {duration_text(self.offset.milliseconds)}"
        return text + (f" @ {self.at.render()}" if self.at else "")


class Range(NamedTuple):
    """`selector[duration] offset … @ …`; the selector itself has neither offset nor moment."""

    start: int
    end: int
    selector: Selector
    duration: Duration
    offset: Duration | None = None
    at: At | None = None

    @property
    def type(self) -> ValueType:
        """What it gives."""
        return ValueType.MATRIX


class Subquery(NamedTuple):
    """`expr[duration:step] offset … @ …`; without a step the server's evaluation interval is taken."""

    start: int
    end: int
    expr: "Expr"
    duration: Duration
    step: Duration | None
    offset: Duration | None = None
    at: At | None = None

    @property
    def type(self) -> ValueType:
        """What it gives."""
        return ValueType.MATRIX


class Call(NamedTuple):
    """`function(args)`; the name stands at the start of the node."""

    start: int
    end: int
    function: str
    args: tuple["Expr", ...]
    type: ValueType


class Grouping(NamedTuple):
    """`by (labels)` or `without (labels)`."""

    start: int
    end: int
    without: bool
    labels: tuple[Label, ...]


class Aggregation(NamedTuple):
    """`op by (…) (param, expr)`; `op` is in lower case, `param` is that of topk, bottomk, quantile and count_values."""

    start: int
    end: int
    op: str
    param: "Expr | None"
    expr: "Expr"
    grouping: Grouping | None

    @property
    def type(self) -> ValueType:
        """What it gives."""
        return ValueType.VECTOR


class Unary(NamedTuple):
    """`+expr` or `-expr`; the sign of a number is part of the number instead."""

    start: int
    end: int
    op: str
    expr: "Expr"
    type: ValueType


class Matching(NamedTuple):
    """`on (labels)` or `ignoring (labels)`, then `group_left (include)`, `group_right (include)` or no group."""

    start: int
    end: int
    on: bool
    labels: tuple[Label, ...]
    group: Literal["left", "right"] | None
    include: tuple[Label, ...]


class Binary(NamedTuple):
    """`left op right`; `op` is in lower case and stands at [op_start, op_end)."""

    start: int
    end: int
    left: "Expr"
    op: str
    op_start: int
    op_end: int
    returns_bool: bool
    matching: Matching | None
    right: "Expr"
    type: ValueType


class Paren(NamedTuple):
    """`(expr)`"""

    start: int
    end: int
    expr: "Expr"
    type: ValueType


Expr = Number | String | Selector | Range | Subquery | Call | Aggregation | Unary | Binary | Paren


def type_of(expr: Expr) -> ValueType:
    """What the expression gives: "vector" (instant), "matrix" (range vector), "scalar" or "string"."""
    return expr.type


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside, in the order of the text."""
    match expr:
        case Range():
            return (expr.selector,)
        case Call():
            return expr.args
        case Aggregation(param=param) if param is not None:
            return (param, expr.expr)
        case Binary():
            return (expr.left, expr.right)
        case Subquery() | Aggregation() | Unary() | Paren():
            return (expr.expr,)
    return ()


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything inside, parents first, in the order of the text."""
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))


def selectors(expr: Expr) -> tuple[Selector, ...]:
    """All selectors in the order of the text, those of ranges included."""
    return tuple(node for node in walk(expr) if isinstance(node, Selector))


def metric_names(expr: Expr, *, alternatives: bool = False) -> tuple[str, ...]:
    """The metrics that the expression reads, each once, in the order of the text.

    A name given as `__name__="…"` counts, and with `alternatives` those of `__name__=~"a|b"`; what another pattern may
    match is not known here.
    """
    names: dict[str, None] = {}
    for selector in selectors(expr):
        if selector.metric is not None:
            names[selector.metric] = None
        for one in selector.matchers if selector.metric is None else ():
            if one.label == "__name__" and one.op == "=":
                names[one.value] = None
            elif one.label == "__name__" and one.op == "=~" and alternatives and _NAMES.fullmatch(one.value):
                names |= dict.fromkeys(one.value.split("|"))
    return tuple(names)


def matcher(label: str, op: str, value: str) -> str:
    """A label matcher as PromQL, the value quoted so that it is inert; ValueError for a bad label name or operator."""
    if not LABEL_NAME.fullmatch(label) or op not in _MATCHER_OPERATORS:
        raise ValueError(f"no label matcher: {label!r} {op!r}")
    return f"{label}{op}{quote(value)}"

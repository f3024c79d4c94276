"""From the words of a PromQL text to its tree."""

from __future__ import annotations

from tocsin.promql import mistakes
from tocsin.promql.advice import to_vector, what
from tocsin.promql.calls import aggregation, call, function
from tocsin.promql.errors import PromqlError
from tocsin.promql.functions import AGGREGATIONS, ValueType
from tocsin.promql.lexer import END, NAME, NUMBER, STRING, Token
from tocsin.promql.literals import number, string
from tocsin.promql.operators import BINDING, Operator, binary, unary
from tocsin.promql.phrases import NUMBERS, Phrases
from tocsin.promql.selection import modified, range_, selector, subquery
from tocsin.promql.tree import Expr, Number, Paren, Range, Selector, String, children
from tocsin.promql.usual import usual_selector

# Brackets inside of brackets, and levels of the tree, where each operator of a chain such as a + b + c is a level.
# They keep the parser and whoever walks the tree by recursion far away from Python's own limit.
MAX_NESTING = 64
MAX_DEPTH = 200


def parse(text: str) -> Expr:
    """The tree of an expression that gives an instant vector or a scalar; PromqlError for the first mistake.

    Only what every Prometheus from 2.42 to 3.5 takes without a feature flag is accepted.
    """
    expr = _Parser(text).whole()
    if expr.type not in (ValueType.VECTOR, ValueType.SCALAR):
        message = f"the result must be an instant vector or a scalar, {what(text, expr)}"
        raise PromqlError(message, expr.start, expr.end, to_vector(text, expr))
    return expr


def parse_selector(text: str) -> Selector:
    """A single instant selector such as `metric{label="value"}`; PromqlError for anything else."""
    expr = usual_selector(text) or _Parser(text).whole()
    if isinstance(expr, Selector) and not (expr.offset or expr.at):
        return expr
    excess = expr.start
    if isinstance(expr, Selector | Range):
        reader = _Parser(text)
        reader.primary()
        excess = reader.token.start
    hint = 'write the metric and its matchers, like x{a="b"}: tocsin adds rate() and sum() itself'
    raise PromqlError("only a selector is expected here", excess, expr.end, hint)


class _Parser(Phrases):
    """Puts expressions together, by recursion only where brackets are nested."""

    nesting = 0

    def whole(self) -> Expr:
        expr = self.expression()
        if self.token.kind != END:
            raise mistakes.no_operator(self.text, self.token, expr)
        _check_depth(expr)
        return expr

    def expression(self) -> Expr:
        """Operands and operators; whatever binds tightest is applied first."""
        operands: list[Expr] = []
        waiting: list[Operator] = []
        while True:
            while self.token.kind in ("+", "-"):
                waiting.append(Operator(self.next(), sign=True))
            operands.append(self.operand())
            operator = self.operator()
            while waiting and waiting[-1].comes_before(operator):
                self.apply(waiting.pop(), operands)
            if operator is None:
                return operands.pop()
            waiting.append(operator)

    def apply(self, operator: Operator, operands: list[Expr]) -> None:
        right = operands.pop()
        if operator.sign:
            operands.append(unary(self.text, operator, right))
        else:
            operands.append(binary(self.text, operands.pop(), operator, right))

    def operator(self) -> Operator | None:
        """A binary operator with its modifiers, None where the expression ends."""
        if self.token.text.lower() not in BINDING:
            return None
        token = self.next()
        returns_bool = self.next() if self.at("bool") else None
        matching = self.matching() if self.at("on", "ignoring") else None
        return Operator(token, returns_bool=returns_bool, matching=matching)

    def operand(self) -> Expr:
        """What stands between operators, with its ranges and modifiers."""
        expr = self.primary()
        while True:
            if self.token.kind == "[":
                expr = self.range(expr)
            elif self.token.kind == "@":
                word = self.next()
                expr = modified(self.text, expr, self.moment(word), word)
            elif self.at("offset"):
                word = self.next()
                expr = modified(self.text, expr, self.offset(), word)
            else:
                return expr

    def primary(self) -> Expr:
        token = self.token
        if token.kind == NAME:
            return self.named()
        if token.kind == "{":
            return self.selector(None)
        if token.kind == "(":
            return self.paren()
        if token.kind == NUMBER:
            self.next()
            return Number(token.start, token.end, number(token.text, token.start))
        if token.kind == STRING:
            self.next()
            return String(token.start, token.end, string(token.text, token.start))
        raise mistakes.no_operand(self.text, token, self.before)

    def named(self) -> Expr:
        """A number, an aggregation, a call or a selector: all begin with a name."""
        word = self.token.text.lower()
        if word in mistakes.RESERVED:
            raise mistakes.no_operand(self.text, self.token, self.before)
        name = self.next()
        if word in AGGREGATIONS and (self.token.kind == "(" or self.at("by", "without")):
            return self.aggregation(name)
        if self.token.kind == "(":
            return self.call(name)
        if word in NUMBERS:
            return Number(name.start, name.end, number(name.text, name.start))
        return self.selector(name)

    def selector(self, name: Token | None) -> Selector:
        start = (name or self.token).start
        matchers = self.braces() if self.token.kind == "{" else []
        return selector(name.text if name else None, matchers, start, self.before.end)

    def paren(self) -> Paren:
        bracket = self.next()
        expr = self.nested(bracket)
        if self.token.kind != ")":
            raise mistakes.no_closer(self.text, self.token, bracket, expr)
        return Paren(bracket.start, self.next().end, expr, expr.type)

    def nested(self, bracket: Token) -> Expr:
        """An expression inside of a bracket."""
        if self.nesting == MAX_NESTING:
            message = f"brackets are nested more than {MAX_NESTING} levels deep"
            raise PromqlError(message, bracket.start, bracket.end, "record a part of the expression as its own series")
        self.nesting += 1
        expr = self.expression()
        self.nesting -= 1
        return expr

    def call(self, name: Token) -> Expr:
        function(name)  # a wrong name is told before a mistake in its arguments
        return call(self.text, name, self.arguments(name), self.before.end)

    def aggregation(self, name: Token) -> Expr:
        grouping = self.grouping() if self.token.kind != "(" else None
        if self.token.kind != "(":
            raise mistakes.no_arguments(self.token, name)
        args = self.arguments(name)
        if self.at("by", "without"):
            if grouping is not None:
                raise mistakes.second_grouping(self.token, name)
            grouping = self.grouping()
        return aggregation(self.text, name, args, grouping, self.before.end)

    def arguments(self, name: Token) -> tuple[Expr, ...]:
        bracket = self.next()
        args: list[Expr] = []
        while self.token.kind != ")" or args:
            args.append(self.nested(bracket))
            if self.token.kind == ")":
                break
            if self.token.kind != ",":
                raise mistakes.no_closer(self.text, self.token, bracket, args[-1])
            comma = self.next()
            if self.token.kind == ")":
                raise mistakes.trailing_comma(comma, name)
        self.next()
        return tuple(args)

    def range(self, expr: Expr) -> Expr:
        """`[5m]`, `[1h:5m]` or `[1h:]` behind an expression."""
        bracket = self.next()
        length = self.duration(bracket)
        if self.token.kind == "]":
            return range_(self.text, expr, length, bracket.start, self.next().end)
        if self.token.kind != ":":
            raise mistakes.no_range_end(self.token, bracket)
        self.next()
        step = None if self.token.kind == "]" else self.duration(bracket)
        if self.token.kind != "]":
            raise mistakes.no_range_end(self.token, bracket)
        return subquery(self.text, expr, length, step, self.next().end)


def _check_depth(expr: Expr) -> None:
    waiting = [(expr, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MAX_DEPTH:
            message = f"the expression is more than {MAX_DEPTH} operators and brackets deep"
            raise PromqlError(message, node.start, node.end, "record a part of it as its own series")
        waiting.extend((child, depth + 1) for child in children(node))

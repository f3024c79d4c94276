"""Our PromQL parser against two others: promql-parser, Prometheus' grammar in Rust, and every promtool at hand."""

import json
import re
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random

import promql_parser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.promql import (
    AGGREGATIONS,
    FUNCTIONS,
    Aggregation,
    Binary,
    Call,
    Expr,
    Function,
    Number,
    Paren,
    PromqlError,
    Range,
    Selector,
    String,
    Subquery,
    Unary,
    ValueType,
    parse,
    quote,
)
from toolbox import INSTALL, found

pytestmark = pytest.mark.no_cover  # of random expressions, which measuring makes twice as slow

SAME_EVERY_TIME = settings(derandomize=True, deadline=None, database=None)

# Where promql-parser 0.12 refuses what Prometheus 2.42, 2.53 and 3.5 accept, so that the generator must not write it:
# - metrics named `smoothed` or `anchored`: words of its newer grammar;
# - numbers that begin with 0 and go on with more than digits, such as 0e5: it reads them as octal;
# - \Q…\E, octal escapes and (?) in regular expressions: it asks Rust's regex crate, not RE2.
METRICS = "up x rate sum by without offset and or unless start end a:b :c node_load1 limitk fill time bottomk".split()
LABELS = "a job instance le by on bool sum offset group_left atan2 __name".split()
PATTERNS = [
    "",
    "a",
    ".*",
    ".+",
    "a|b",
    "(a|b)?c*",
    "[a-z0-9_]+",
    r"\d{2,3}",
    "(?i)x",
    "(?:a|b)+?",
    r"a\.b",
    "[[:alpha:]]",
]
TEXTS = ["", "a", "b c", "é", "q\"uo'te", "back\\slash", "new\nline", "\x7f", "{}()#"]
NUMBERS = ["0", "1", "0.5", ".5", "1.", "1e3", "2.5E-3", "0x1F", "017", "Inf", "NaN", "99999999999999999999"]
DURATIONS = ["5m", "1h30m", "1d", "1w", "1y", "30s", "500ms", "1h0m5s"]
COMPARISONS = ("==", "!=", ">", "<", ">=", "<=")


class Writer:
    """Writes well-formed expressions of a given type, never deeper than `depth`."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def one(self, *choices: Callable[[int], str], depth: int) -> str:
        return self.random.choice(choices)(depth)

    def pick(self, words: list[str] | tuple[str, ...]) -> str:
        return self.random.choice(words)

    def maybe(self, text: str) -> str:
        return text if self.random.random() < 0.5 else ""

    def space(self) -> str:
        return self.random.choice((" ", "  ", "\n", "\t", " # c\n"))

    def cased(self, word: str) -> str:
        return self.random.choice((word, word, word.upper(), word.title()))

    def expression(self, depth: int = 3) -> str:
        return self.one(self.vector, self.vector, self.vector, self.scalar, depth=depth)

    def of(self, type_: ValueType, depth: int) -> str:
        write = {"vector": self.vector, "matrix": self.matrix, "scalar": self.scalar, "string": self.string}
        return write[type_](depth)

    def vector(self, depth: int) -> str:
        if depth <= 0:
            return self.selector(depth)
        operations = (self.arithmetic, self.comparison, self.set_operation, self.joined)
        return self.one(
            self.selector, self.call, self.aggregation, self.signed, self.paren, *operations, depth=depth - 1
        )

    def matrix(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.6:
            return f"{self.bare_selector()}[{self.pick(DURATIONS)}]{self.modifiers()}"
        of = self.one(self.selector, self.call, self.aggregation, self.paren, depth=depth - 1)
        return f"{of}[{self.pick(DURATIONS)}:{self.maybe(self.pick(DURATIONS))}]{self.modifiers()}"

    def scalar(self, depth: int) -> str:
        if depth <= 0:
            return self.pick(NUMBERS)
        left, right = self.scalar(depth - 1), self.scalar(depth - 1)
        space = self.space()
        return self.pick(
            [
                self.pick(NUMBERS),
                "time()",
                "pi ( )",
                f"scalar({self.vector(depth - 1)})",
                f"-{left}",
                f"({left})",
                f"{left}{space}{self.pick(['+', '-', '*', '/', '%', '^', self.cased('atan2')])} {right}",
                f"{left} {self.pick(COMPARISONS)}{space}{self.cased('bool')} {right}",
            ]
        )

    def string(self, _depth: int) -> str:
        value = self.pick(TEXTS)
        plain = not {*"'`\n\\"} & {*value}
        return self.pick([quote(value), *([f"'{value}'", f"`{value}`"] if plain else [])])

    def bare_selector(self) -> str:
        metric = self.maybe(self.pick(METRICS))
        matchers = [self.matcher() for _ in range(self.random.randrange(3))]
        if not metric:
            matchers.append(self.pick(['a!=""', "job = 'x'", '__name__=~".+"']))
        if not matchers:
            return metric + self.maybe("{ }")
        return f"{metric}{self.maybe(' ')}{{{self.space()}{', '.join(matchers)}{self.maybe(',')}}}"

    def matcher(self) -> str:
        op = self.pick(("=", "!=", "=~", "!~"))
        value = quote(self.pick(PATTERNS)) if "~" in op else self.string(0)
        return f"{self.pick(LABELS)}{self.maybe(' ')}{op}{value}"

    def selector(self, _depth: int) -> str:
        return self.bare_selector() + self.modifiers()

    def modifiers(self) -> str:
        offset = (
            f" {self.cased('offset')} {self.maybe('-')}{self.pick(DURATIONS)}" if self.random.random() < 0.2 else ""
        )
        at = f" @ {self.pick(['1700000000', '-5', '1.5', 'start()', 'end ( )'])}" if self.random.random() < 0.2 else ""
        return self.pick((offset + at, at + offset))

    def call(self, depth: int) -> str:
        names = [name for name, function in FUNCTIONS.items() if function.returns == "vector"]
        function = FUNCTIONS[self.pick(names)]
        return f"{function.name}{self.maybe(' ')}({', '.join(self.arguments(function, depth))})"

    def arguments(self, function: Function, depth: int) -> list[str]:
        """Arguments in any permitted number, with labels and regular expressions where they are read as such."""
        most = function.most if function.most is not None else function.least + 2
        count = self.random.randint(function.least, most)
        args = [self.of(function.parameter(index), depth) for index in range(count)]
        if function.name.startswith("label_"):
            args[1] = quote(self.pick(LABELS))
            args[3:] = [quote(self.pick(LABELS)) for _ in args[3:]]
        return args

    def aggregation(self, depth: int) -> str:
        op = self.pick(list(AGGREGATIONS))
        param = AGGREGATIONS[op]
        args = f"({self.parameter(param, depth)}{self.vector(depth)})"
        grouping = f"{self.cased(self.pick(('by', 'without')))} {self.labels()}"
        op = self.cased(op)
        return self.pick((f"{op}{args}", f"{op} {grouping} {args}", f"{op} {args} {grouping}"))

    def parameter(self, type_: ValueType | None, depth: int) -> str:
        if type_ is None:
            return ""
        return f"{quote(self.pick(LABELS)) if type_ == 'string' else self.scalar(depth)}, "

    def labels(self) -> str:
        labels = [self.pick(LABELS) for _ in range(self.random.randrange(3))]
        return f"({', '.join(labels)}{self.maybe(',') if labels else ''})"

    def signed(self, depth: int) -> str:
        return f"{self.pick(('-', '- ', '-'))}{self.vector(depth)}"

    def paren(self, depth: int) -> str:
        return f"({self.space()}{self.vector(depth)})"

    def sides(self, vector: Callable[[int], str], depth: int) -> tuple[str, str]:
        """A vector and another vector or a scalar, in any order."""
        sides = [vector(depth), self.one(vector, self.scalar, depth=depth)]
        self.random.shuffle(sides)
        return sides[0], sides[1]

    def arithmetic(self, depth: int) -> str:
        left, right = self.sides(self.vector, depth)
        return f"{left} {self.pick(['+', '-', '*', '/', '%', '^', self.cased('atan2')])}{self.space()}{right}"

    def comparison(self, depth: int) -> str:
        left, right = self.sides(self.closed, depth)  # 1 > 2 > x would compare two scalars
        return f"{left} {self.pick(COMPARISONS)} {self.maybe(self.cased('bool') + self.space())}{right}"

    def matching(self) -> str:
        return f"{self.cased(self.pick(('on', 'ignoring')))} {self.labels()}"

    def set_operation(self, depth: int) -> str:
        op = self.cased(self.pick(("and", "or", "unless")))
        return f"{self.closed(depth)} {op} {self.maybe(self.matching() + ' ')}{self.closed(depth)}"

    def joined(self, depth: int) -> str:
        """Two vectors with matching; `ignoring` where there is a group, since `on` must not repeat its labels."""
        group = f" {self.cased(self.pick(('group_left', 'group_right')))} {self.labels()}"
        matching = self.pick((self.matching(), f"ignoring {self.labels()}{group}"))
        return f"{self.closed(depth)} {self.pick(('*', '/', '-', '=='))} {matching} {self.closed(depth)}"

    def closed(self, depth: int) -> str:
        """A vector that stays one when something that binds tightly stands beside it."""
        return self.one(self.selector, self.call, self.aggregation, self.paren, depth=depth)


# -- the same tree -----------------------------------------------------------------------------------------------------


def ours(expr: Expr) -> object:
    """A tree without places, and without what promql-parser does not keep: the sign + and moments before 1970."""
    match expr:
        case Number():
            tree: object = repr(expr.value)
        case String():
            tree = ("string", expr.value)
        case Selector():
            tree = (*our_selector(expr), *our_modifiers(expr))
        case Range():
            tree = ("range", *our_selector(expr.selector), expr.duration.milliseconds, *our_modifiers(expr))
        case Subquery():
            step = expr.step and expr.step.milliseconds
            tree = ("subquery", ours(expr.expr), expr.duration.milliseconds, step, *our_modifiers(expr))
        case Unary():
            tree = ours(expr.expr) if expr.op == "+" else ("-", ours(expr.expr))
        case Binary():
            tree = (expr.op, our_matching(expr), ours(expr.left), ours(expr.right))
        case Paren():
            tree = ("paren", ours(expr.expr))
        case _:
            tree = our_call(expr)
    return tree


def our_call(expr: Call | Aggregation) -> object:
    if isinstance(expr, Call):
        return (expr.function, *map(ours, expr.args))
    grouping = expr.grouping and (expr.grouping.without, [label.name for label in expr.grouping.labels])
    return (expr.op, grouping, expr.param and ours(expr.param), ours(expr.expr))


def our_selector(selector: Selector) -> tuple[object, ...]:
    return selector.metric, [(matcher.label, matcher.op, matcher.value) for matcher in selector.matchers]


def our_modifiers(expr: Selector | Range | Subquery) -> tuple[object, ...]:
    at = None
    if expr.at:
        at = f"@ {max(expr.at.moment, 0):.3f}" if isinstance(expr.at.moment, float) else f"@ {expr.at.moment}()"
    return expr.offset and expr.offset.milliseconds, at


def our_matching(expr: Binary) -> object:
    if expr.matching is None:
        return expr.returns_bool, None, None, []
    labels = [label.name for label in expr.matching.labels]
    return expr.returns_bool, (expr.matching.on, labels), expr.matching.group, [i.name for i in expr.matching.include]


def theirs(expr: promql_parser.Expr) -> object:
    """The tree of promql-parser in the form of `ours`."""
    match expr:
        case promql_parser.NumberLiteral():
            tree: object = repr(expr.val)
        case promql_parser.StringLiteral():
            tree = ("string", expr.val)
        case promql_parser.VectorSelector():
            tree = (*their_selector(expr), *their_modifiers(expr))
        case promql_parser.MatrixSelector():
            selector = expr.vector_selector
            tree = ("range", *their_selector(selector), milliseconds(expr.range), *their_modifiers(selector))
        case promql_parser.SubqueryExpr():
            lengths = milliseconds(expr.range), milliseconds(expr.step)
            tree = ("subquery", theirs(expr.expr), *lengths, *their_modifiers(expr))
        case promql_parser.UnaryExpr():
            tree = ("-", theirs(expr.expr))
        case promql_parser.BinaryExpr():
            tree = (str(expr.op), their_matching(expr.modifier), theirs(expr.lhs), theirs(expr.rhs))
        case promql_parser.ParenExpr():
            tree = ("paren", theirs(expr.expr))
        case _:
            tree = their_call(expr)
    return tree


def their_call(expr: promql_parser.Call | promql_parser.AggregateExpr) -> object:
    if isinstance(expr, promql_parser.Call):
        return (expr.func.name, *map(theirs, expr.args))
    without = promql_parser.AggModifierType.Without
    grouping = expr.modifier and (expr.modifier.type == without, list(expr.modifier.labels))
    return (str(expr.op), grouping, expr.param and theirs(expr.param), theirs(expr.expr))


def their_selector(selector: promql_parser.VectorSelector) -> tuple[object, ...]:
    ops = {"Equal": "=", "NotEqual": "!=", "Re": "=~", "NotRe": "!~"}
    matchers = [(m.name, ops[str(m.op).removeprefix("MatchOp.")], m.value) for m in selector.matchers.matchers]
    return selector.name, matchers


def their_modifiers(expr: promql_parser.VectorSelector | promql_parser.SubqueryExpr) -> tuple[object, ...]:
    return milliseconds(expr.offset), expr.at and str(expr.at)


def their_matching(modifier: promql_parser.BinModifier | None) -> object:
    if modifier is None:
        return False, None, None, []
    groups = {"ManyToOne": "left", "OneToMany": "right"}
    group = groups.get(str(modifier.card).removeprefix("VectorMatchCardinality."))
    on = promql_parser.LabelModifierType.Include
    matching = modifier.matching and (modifier.matching.type == on, list(modifier.matching.labels))
    return modifier.return_bool, matching, group, list(modifier.group_labels or [])


def milliseconds(length: timedelta | None) -> int | None:
    return length and round(length / timedelta(milliseconds=1))


@settings(SAME_EVERY_TIME, max_examples=400)
@given(st.randoms(use_true_random=False), st.integers(0, 4))
def test_well_formed_expressions_are_read_as_promql_parser_reads_them(random: Random, depth: int) -> None:
    text = Writer(random).expression(depth)
    assert ours(parse(text)) == theirs(promql_parser.parse(text))


# -- the same refusals -------------------------------------------------------------------------------------------------

# What the generator avoids, and `or` with a space behind it, which is never a label to promql-parser.
THEIR_MISTAKES = re.compile(
    r"\b(?:smoothed|anchored)\b | \b0[0-9]*[eE] | \(\?\) | \\[QE0-9] | [{,](?:\s|\#.*\n)*or[\s\#]",
    re.VERBOSE | re.IGNORECASE,
)
WORD = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*|[0-9.]+[A-Za-z0-9]*|\"(?:[^\"\\]|\\.)*\"|'[^']*'|\s+|.", re.DOTALL)
STRAY_WORDS = [
    *"x 5 5m 1h30m ( ) [ ] { } , = == =~ > bool on by offset @ - + ^ and or sum rate start() group_left 1.5".split(),
    *'[5m] [5m:] # : . _ \\ " ` \' a "a" \'q\' inf 0x1 1e5 (a) {a="b"} atan2 topk {__name__="x"} é \0'.split(" "),
]


def broken(text: str, random: Random) -> str:
    """The text with a few words lost, doubled, swapped or strayed into it, or with a character lost."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        words = WORD.findall(text)
        one, other = random.randrange(len(words)), random.randrange(len(words))
        change = random.choice(("lose", "stray", "replace", "swap", "double", "character"))
        if change == "lose":
            del words[one]
        elif change == "stray":
            words.insert(one, random.choice(STRAY_WORDS))
        elif change == "replace":
            words[one] = random.choice(STRAY_WORDS)
        elif change == "swap":
            words[one], words[other] = words[other], words[one]
        elif change == "double":
            words.insert(one, words[one] + " ")
        else:
            words[one] = words[one][1:]
        text = "".join(words) or "x"
    return text


def accepted(text: str) -> bool:
    try:
        parse(text)
    except PromqlError:
        return False
    return True


def accepted_by_promql_parser(text: str) -> bool:
    try:
        promql_parser.parse(text)
    except ValueError:
        return False
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":  # `x[Inf]` is too much for it
            raise
        return False
    return True


@settings(SAME_EVERY_TIME, max_examples=800)
@given(st.randoms(use_true_random=False), st.integers(0, 3))
def test_what_promql_parser_refuses_is_refused(random: Random, depth: int) -> None:
    text = broken(Writer(random).expression(depth), random)
    if not accepted_by_promql_parser(text) and not THEIR_MISTAKES.search(text):
        assert not accepted(text)


@pytest.mark.parametrize(
    "text",
    ["smoothed", "sum(anchored)", "0e5", 'x{a=~"(?)b"}', r'x{a=~"\\Qa\\E"}', r'x{a=~"\\012"}', 'x{or ="c"}'],
)
def test_what_only_promql_parser_refuses(text: str) -> None:
    assert not accepted_by_promql_parser(text)
    assert accepted(text)


# -- the judge ---------------------------------------------------------------------------------------------------------


def every_function() -> list[str]:
    """Each function with the fewest and the most arguments, each aggregation with and without labels."""
    example = {"vector": "x", "matrix": "x[5m]", "scalar": "1", "string": '"a"'}
    calls = [
        f"{function.name}({', '.join(example[function.parameter(index)] for index in range(count))})"
        for function in FUNCTIONS.values()
        for count in {function.least, function.least + 3 if function.most is None else function.most}
    ]
    args = {op: f"({example[param] + ', ' if param else ''}x)" for op, param in AGGREGATIONS.items()}
    return [*calls, *(op + list_ + args[op] for op in args for list_ in ("", " by (a, b,) ", " without () "))]


def expressions() -> list[str]:
    """Some that were written whole and some that were broken and are accepted all the same."""
    whole = [Writer(Random(seed)).expression(seed % 5) for seed in range(600)]
    cracked = [broken(text, Random(seed)) for seed, text in enumerate(whole)]
    return [*every_function(), *whole, *(text for text in cracked if accepted(text))]


def test_promtool_accepts_what_is_accepted(tmp_path: Path) -> None:
    tools = found("promtool")
    if not tools:
        pytest.skip(INSTALL)
    rules = [{"record": f"level:metric:{number}", "expr": text} for number, text in enumerate(expressions())]
    assert all(accepted(rule["expr"]) for rule in rules)
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "accepted", "rules": rules}]}), encoding="ascii")
    for tool in tools:
        run = subprocess.run([tool.path, "check", "rules", file], capture_output=True, text=True, check=False)
        assert (run.returncode, run.stderr) == (0, ""), f"{tool.path}:\n{run.stderr[-5000:]}"
        assert f"{len(rules)} rules found" in run.stdout

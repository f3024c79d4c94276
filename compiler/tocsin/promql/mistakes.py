"""What to say about a word that does not belong where it stands."""

from __future__ import annotations

import re

from tocsin.promql.advice import near
from tocsin.promql.errors import PromqlError, Taken, since
from tocsin.promql.functions import AGGREGATIONS, FUNCTIONS, NOT_PORTABLE, taken
from tocsin.promql.lexer import DURATION, END, NAME, NUMBER, STRING, Token
from tocsin.promql.literals import duration, shorten
from tocsin.promql.tree import Expr, Selector

_OPENERS = {")": "(", "]": "[", "}": "{"}
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_FOREIGN: dict[str, tuple[str, str, Taken]] = {
    "<>": ("PromQL has no operator `<>`", "write `!=`", None),
    "**": ("PromQL has no operator `**`", "write `^`", None),
    "</": ("the operator `</` needs Prometheus 3.11", "it is for native histograms only", since(3, 11)),
    ">/": ("the operator `>/` needs Prometheus 3.11", "it is for native histograms only", since(3, 11)),
}
_MISPLACED = {
    "bool": "it stands directly behind a comparison: `x > bool y`",
    "on": "it stands directly behind an operator: `x * on (…) y`",
    "ignoring": "it stands directly behind an operator: `x * ignoring (…) y`",
    "group_left": "it stands directly behind `on (…)` or `ignoring (…)`",
    "group_right": "it stands directly behind `on (…)` or `ignoring (…)`",
    "atan2": 'it stands between two operands; a metric of that name is {__name__="atan2"}',
}
RESERVED = frozenset(_MISPLACED)
_GROUP = r"(?i:group_(?:left|right)\s*\([^()]*\)$)"
_EXTENDED_RANGE = "needs Prometheus 3.7 and --enable-feature=promql-extended-range-selectors"


def unclosed(bracket: Token) -> PromqlError:
    """The text ends inside of a bracket."""
    hint = f"add the missing `{_CLOSERS[bracket.kind]}`"
    return PromqlError(f"`{bracket.kind}` is never closed", bracket.start, bracket.end, hint)


def no_operand(text: str, token: Token, before: Token) -> PromqlError:
    """`token` begins no expression; `before` is the word in front of it, END at the beginning of the text."""
    start, end, hint = token.start, token.end, ""
    there: Taken = None
    if token.kind == END:
        return _ends(text, before)
    if token.kind == NAME:  # one of the reserved words, since any other names a metric
        message, hint = f"`{token.text}` cannot stand here", _MISPLACED[token.text.lower()]
    elif token.kind == DURATION:
        seconds, rest = divmod(duration(token.text, token.start), 1000)
        message = f"`{token.text}` can stand for a number only since Prometheus 2.54"
        there = since(2, 54)
        hint = f"write the seconds: `{seconds}{f'.{rest:03}'.rstrip('0') if rest else ''}`"
    elif wrong := _FOREIGN.get(before.kind + token.kind):
        start = before.start
        message, hint, there = wrong
    elif token.kind in _OPENERS and before.kind != _OPENERS[token.kind]:
        message = f"an operand is missing before `{token.kind}`"
    else:
        message = f"a metric, a number, a function or `(` is expected, not `{token.text}`"
        hint = "a range stands behind a selector: `metric[5m]`" if token.kind == "[" else ""
    return PromqlError(message, start, end, hint, there)


def _ends(text: str, before: Token) -> PromqlError:
    if before.kind == END:
        return PromqlError("there is no expression", 0, len(text))
    hint = ""
    if re.search(_GROUP, text[: before.end]):
        hint = "the parentheses behind `group_left` and `group_right` hold labels: write `group_left () (…)`"
    return PromqlError(f"an operand is missing after `{shorten(before.text)}`", before.end, before.end, hint)


def no_closer(text: str, token: Token, bracket: Token, expr: Expr) -> PromqlError:
    """`token` stands behind an expression in parentheses, and neither closes them nor goes on."""
    return unclosed(bracket) if token.kind == END else no_operator(text, token, expr)


def no_operator(text: str, token: Token, expr: Expr) -> PromqlError:
    """`token` cannot follow the complete expression `expr`."""
    start, end = token.start, token.end
    if token.kind == NAME:
        return _misplaced_name(token, expr)
    message, hint = f"`{token.text}` cannot stand here", ""
    if token.kind in (NUMBER, DURATION, STRING, "("):
        message = f"an operator is missing before `{shorten(token.text)}`"
    elif token.kind in _OPENERS:
        message, hint = f"`{token.kind}` closes nothing", f"remove it, or open it with `{_OPENERS[token.kind]}`"
    elif token.kind == ",":
        message, hint = "a comma stands only between arguments", "write one expression"
    elif token.kind == "{":
        message, hint = "braces stand only behind the name of a metric", "put all matchers into one pair of braces"
    elif token.kind in ("=~", "!~"):
        message = f"`{token.kind}` compares the values of labels"
        hint = f'write it inside braces: `metric{{label{token.kind}"…"}}`'
    elif token.kind == "=":
        end += text[end : end + 1] in ("<", ">")
        message = f"PromQL has no operator `{text[start:end]}`"
        hint = f"write `{text[end - 1]}=`"
    return PromqlError(message, start, end, hint)


def _misplaced_name(token: Token, expr: Expr) -> PromqlError:
    span, word = (token.start, token.end), token.text.lower()
    message, hint = f"`{token.text}` cannot stand here", ""
    there: Taken = None
    if word in ("by", "without"):
        if unknown := _unknown_aggregation(expr):
            return unknown
        message = f"`{word}` belongs to an aggregation"
        hint = f"write `sum {word} (…) (…)`, or another aggregation"
    elif word in ("smoothed", "anchored"):
        message, hint, there = f"`{word}` {_EXTENDED_RANGE}", "leave it out", since(3, 7)
    elif word in ("fill", "fill_left", "fill_right"):
        message, hint, there = f"`{word}()` {NOT_PORTABLE[word][0]}", NOT_PORTABLE[word][1], taken(word)
    elif word in _MISPLACED:
        hint = _MISPLACED[word]
    else:
        message = f"an operator is missing before `{shorten(token.text)}`"
        hint = _parentheses(expr, token)
    return PromqlError(message, *span, hint, there)


def _parentheses(expr: Expr, token: Token) -> str:
    """A hint where a function and its argument stand side by side."""
    if isinstance(expr, Selector) and expr.metric and not expr.matchers:
        name = expr.metric.lower()
        if name in FUNCTIONS or name in AGGREGATIONS:
            return f"write `{name}({shorten(token.text)}…)`"
    return ""


def _unknown_aggregation(expr: Expr) -> PromqlError | None:
    """What is wrong with a word in front of `by` that looks like an aggregation."""
    if not isinstance(expr, Selector) or not expr.metric or expr.matchers:
        return None
    if expr.metric in NOT_PORTABLE:
        why, hint = NOT_PORTABLE[expr.metric]
        return PromqlError(f"`{expr.metric}()` {why}", expr.start, expr.end, hint, taken(expr.metric))
    if close := near(expr.metric, AGGREGATIONS):
        message = f"there is no aggregation `{expr.metric}`"
        return PromqlError(message, expr.start, expr.end, f"did you mean `{close}`?")
    return None


def no_duration(token: Token, bracket: Token | None) -> PromqlError:
    """`token` is no duration where one must stand, in a bracket or behind `offset`."""
    span = token.start, token.end
    if token.kind == END:
        missing = PromqlError("a duration is missing after `offset`", *span, "write `5m`")
        return unclosed(bracket) if bracket else missing
    if token.kind == NUMBER:
        hint = f"write `{token.text}s`" if token.text.isdigit() else "write it like `5m`"
        return PromqlError(
            "a duration needs a unit, Prometheus before 2.54 takes no bare number", *span, hint, since(2, 54)
        )
    if bracket and token.kind == "]":
        return PromqlError("the range is empty", bracket.start, token.end, "write it like `[5m]`")
    if token.kind == "+" and bracket is None:
        return PromqlError("Prometheus 2.53 takes no `+` before an offset", *span, "leave out the sign", since(2, 54))
    if token.kind in ("+", "-", "("):
        return _arithmetic(span)
    return PromqlError(f"a duration such as `5m` is expected, not `{shorten(token.text)}`", *span)


def _arithmetic(span: tuple[int, int]) -> PromqlError:
    hint = "write one duration, like `5m`"
    return PromqlError("arithmetic with durations needs Prometheus 3.14", *span, hint, since(3, 4))  # 3.4: by a flag


def no_range_end(token: Token, bracket: Token) -> PromqlError:
    """`token` stands where `]` or, behind the first duration, `:` must follow."""
    span = token.start, token.end
    if token.kind == END:
        return unclosed(bracket)
    if token.kind in ("+", "-", "*", "/", "%", "^"):
        return _arithmetic(span)
    hint = f"write `{token.text.lower()}` behind the `]`" if token.text.lower() in ("offset", "@") else ""
    return PromqlError(f"`]` is expected, not `{shorten(token.text)}`", *span, hint)


def no_label(text: str, token: Token, bracket: Token) -> PromqlError:
    """`token` is no label in a list or in braces."""
    span = token.start, token.end
    if token.kind == END:
        return unclosed(bracket)
    if token.kind == STRING:
        hint = "rename the label when it is scraped: letters, digits and `_` are safe"
        if bracket.kind == "{" and not text[token.end :].lstrip().startswith(("=", "!")):
            hint = f"for the name of a metric write __name__={token.text}"
        # 2.51 reads them, and until 3.0 no server stores such a name without a flag.
        return PromqlError("names in quotes need Prometheus 3.0", *span, hint, since(3))
    if token.kind == NAME:
        return PromqlError(f"`{token.text}` cannot name a label", *span, "a label has no `:` and is not `Inf` or `NaN`")
    return PromqlError(f"the name of a label is expected, not `{shorten(token.text)}`", *span)


def no_matcher(token: Token, label: Token, bracket: Token) -> PromqlError:
    """`token` stands where the operator of a matcher must follow its label."""
    span = token.start, token.end
    if token.kind == END:
        return unclosed(bracket)
    hint = f'write {label.text}="…"'
    if token.kind == "==":
        return PromqlError("inside braces a single `=` compares", *span, hint)
    return PromqlError(f"`=`, `!=`, `=~` or `!~` is expected behind `{label.text}`, not `{token.text}`", *span, hint)


def no_value(token: Token, op: Token, bracket: Token) -> PromqlError:
    """`token` stands where the value of a matcher must."""
    span = token.start, token.end
    if token.kind == END:
        return unclosed(bracket)
    if token.kind in (NAME, NUMBER, DURATION):
        return PromqlError("the value of a label stands in quotes", *span, f'write "{token.text}"')
    if op.kind == token.kind == "=":
        return PromqlError("inside braces a single `=` compares", *span, "write `=` once")
    return PromqlError(f"the value of a label is expected, not `{token.text}`", *span, 'write it in quotes, "…"')


def no_list(token: Token, after: str) -> PromqlError:
    """`token` stands where the labels of the word `after` must begin."""
    hint = f"write `{after} (…)` with the names of the labels"
    return PromqlError(f"`(` is missing behind `{after}`", token.start, token.end, hint)


def no_list_end(token: Token, bracket: Token, where: str) -> PromqlError:
    """`token` stands where `,` or the closing bracket must."""
    span = token.start, token.end
    if token.kind == END:
        return unclosed(bracket)
    if bracket.kind == "{" and token.text.lower() == "or":
        hint = "write two selectors: `x{…} or x{…}`"
        return PromqlError("`or` inside braces is not PromQL", *span, hint)
    hint = "" if "group_" not in where else "for an operand in parentheses write `group_left () (…)`"
    message = f"`,` or `{_CLOSERS[bracket.kind]}` is expected in {where}, not `{shorten(token.text)}`"
    return PromqlError(message, *span, hint)


def no_function(name: Token) -> PromqlError:
    """`name` stands before a parenthesis and names no function."""
    span = name.start, name.end
    if name.text.lower() in ("start", "end"):
        return PromqlError(f"`{name.text}()` stands only behind `@`", *span, "write `metric @ end()`")
    if ":" in name.text:
        return PromqlError(f"`{name.text}` is a recorded series, not a function", *span, "leave the parentheses out")
    return PromqlError(f"`{name.text}` is not a function", *span)


def no_arguments(token: Token, name: Token) -> PromqlError:
    """`token` stands where the arguments of an aggregation must begin."""
    span = token.start, token.end
    return PromqlError(f"the parentheses of `{name.text}` are missing", *span, f"write `{name.text} by (…) (…)`")


def second_grouping(token: Token, name: Token) -> PromqlError:
    """`token` is a `by` or `without` behind an aggregation that has one in front."""
    hint = f"put all labels into one `{token.text} (…)`"
    return PromqlError(f"`{name.text}` is grouped twice", token.start, token.end, hint)


def trailing_comma(comma: Token, name: Token) -> PromqlError:
    """A comma with nothing behind it in the arguments of `name`."""
    message = f"the last argument of `{name.text}()` is followed by a comma"
    return PromqlError(message, comma.start, comma.end, "remove the comma")


def no_moment(token: Token, word: Token) -> PromqlError:
    """`token` begins no moment behind the word `@`."""
    hint = "write seconds since 1970, `start()` or `end()`"
    if token.kind == END:
        return PromqlError("a moment is missing after `@`", word.start, word.end, hint)
    return PromqlError(f"`@` expects a moment, not `{shorten(token.text)}`", token.start, token.end, hint)

"""A query of a dashboard as PromQL: something stands in place of each of Grafana's variables."""

from __future__ import annotations

import re
from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

from tocsin.factory import DASHBOARD_RANGE
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

# One that is never closed goes on to the end: else each quote within would be looked at as the beginning of one.
_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)' + r"|'(?:[^'\\]|\\.)*+(?:'|\\?\Z)|`[^`]*+(?:`|\Z)"
# Grafana, "Variable syntax" and its variableRegex: a name, a field of its value, a format. `$1` is of label_replace.
_NAME = r"[A-Za-z_]\w*"
_VARIABLE = rf"\$\{{{_NAME}(?:\.[^:^}}]+)?(?::[^}}]+)?\}}|\$(?!\d)\w+|\[\[{_NAME}(?::\w+)?\]\]"
_IN_STRING = re.compile(rf"(?<!\\)(?:{_VARIABLE})")  # `\\$` is a dollar of a pattern
_TOKEN = re.compile(
    rf"""(?P<string>{_STRING}) | \#[^\n]* | (?P<offset>(?<![\w:])offset\s+-?\s*(?=\$|\[\[|\d))
    | (?P<variable>{_VARIABLE}) | (?P<bracket>\[) | (?P<brace>[{{}}])""",
    re.VERBOSE,
)
_LENGTH = re.compile(rf"(?:{_VARIABLE}|\w)+")
_PART = re.compile(rf"(?:{_VARIABLE}|[^\]:])+")
_QUOTED = (":doublequote}", ":singlequote}", ":json}")
ANY = "…"  # stands for a variable inside of a text, and is shown in messages
_WINDOW, _STEP = Duration.of(minutes=5), Duration.of(minutes=1)  # of an open dashboard, about
NAME = "tocsin_any_name"  # stands for one where a name or a number may stand
_MATCHER = f'{NAME}=~".+"'
_MOST = 64  # fillings of one query that are tried
_NEAR = 64  # characters beside a variable that say what it stands for


class Filled(NamedTuple):
    """A query with something in place of Grafana's variables; `pieces` are (start, length) here and in the query.

    It is `bare` where a variable stands for a part of the language: what it means is not known then. `windows` are the
    pieces that stand for lengths of time.
    """

    text: str
    pieces: tuple[tuple[int, int, int, int], ...]
    is_bare: bool
    windows: frozenset[int] = frozenset()

    def place(self, offset: int) -> int:
        """Where a character of the filled text stands in the query."""
        for start, length, old, old_length in reversed(self.pieces):
            if offset >= start + length:
                return old + old_length + offset - start - length
            if offset >= start:
                return old
        return offset

    def is_length(self, start: int, end: int) -> bool:
        """Whether the characters [start, end) hold a length of time that is not written."""
        return any(start <= at < end for at in self.windows)


class _Slot(NamedTuple):
    """A variable, at [start, end) of a query, and what may stand in its place."""

    start: int
    end: int
    choices: tuple[str, ...]
    is_bare: bool = False
    is_length: bool = False


def variables(query: str) -> Iterator[tuple[int, str]]:
    """Each variable with the offset at which it stands; comments have none."""
    for found in _TOKEN.finditer(query):
        if found["string"]:
            yield from ((found.start() + inner.start(), inner[0]) for inner in _IN_STRING.finditer(found[0]))
        elif found["variable"]:
            yield found.start(), found[0]


def filled(query: str) -> Filled:
    """A query as PromQL: a variable in a text is any value, in brackets a window, elsewhere a name."""
    return next(fillings(query))


def fillings(query: str) -> Iterator[Filled]:
    """The ways to read a query, the likeliest first: a bare variable may be a name, a number, a function, matchers."""
    slots = list(_slots(query))
    kinds = list(dict.fromkeys((query[one.start : one.end], one.choices) for one in slots))
    for chosen in islice(product(*(choices for _, choices in kinds)), _MOST):
        instead = dict(zip(kinds, chosen, strict=True))
        yield _put(query, slots, [instead[query[one.start : one.end], one.choices] for one in slots])


def _put(query: str, slots: list[_Slot], texts: list[str]) -> Filled:
    parts: list[str] = []
    pieces: list[tuple[int, int, int, int]] = []
    at = size = 0
    for slot, text in zip(slots, texts, strict=True):
        parts += (query[at : slot.start], text)
        size += slot.start - at
        pieces.append((size, len(text), slot.start, slot.end - slot.start))
        size, at = size + len(text), slot.end
    windows = frozenset(piece[0] for piece, slot in zip(pieces, slots, strict=True) if slot.is_length)
    is_bare = any(slot.is_bare for slot in slots)
    return Filled("".join((*parts, query[at:])), tuple(pieces), is_bare, windows)


def _slots(query: str) -> Iterator[_Slot]:
    at, in_braces = 0, False
    while found := _TOKEN.search(query, at):
        at = found.end()
        if found["string"]:
            yield from _of_string(query, found, in_braces=in_braces)
        elif found["offset"]:
            length = _LENGTH.match(query, at)
            if length and _IN_STRING.search(length[0]):
                at = length.end()
                yield _Slot(length.start(), at, (str(_WINDOW),), is_length=True)
        elif found["bracket"]:
            slots, at = _of_range(query, at)
            yield from slots
        elif found["brace"]:
            in_braces = found[0] == "{"
        elif found["variable"]:
            before, after = query[max(found.start() - _NEAR, 0) : found.start()], query[at : at + _NEAR]
            choices = _in_braces(before, after) if in_braces else _elsewhere(found[0], before, after)
            yield _Slot(found.start(), at, choices, is_bare=True)


def _of_string(query: str, found: re.Match[str], *, in_braces: bool) -> Iterator[_Slot]:
    """What an argument says is the name of a label, or becomes one's value; in braces it is any value."""
    before = query[max(found.start() - _NEAR, 0) : found.start()].rstrip()
    is_argument = not in_braces and before.endswith(("(", ","))
    for inner in _IN_STRING.finditer(found[0]):
        start, end = found.start() + inner.start(), found.start() + inner.end()
        yield _Slot(start, end, (NAME if is_argument else ANY,), is_bare=is_argument)


def _of_range(query: str, at: int) -> tuple[list[_Slot], int]:
    """The window and the step of a bracket that opens before `at`, and where that is read to."""
    slots: list[_Slot] = []
    while part := _PART.match(query, at):
        if first := _IN_STRING.search(part[0]):
            is_whole = first[0].lstrip("${[").startswith("__range")
            length = DASHBOARD_RANGE if is_whole else _STEP if query[at - 1] == ":" else _WINDOW
            slots.append(_Slot(at, part.end(), (str(length),), is_length=True))
        at = part.end()
        if query[at : at + 1] != ":":
            break
        at += 1
    return slots, at


def _in_braces(before: str, after: str) -> tuple[str, ...]:
    """A matcher, some of them, the label of one, or its value with the quotes."""
    before, after = before.rstrip(), after.lstrip()
    if before.endswith(("=", "~")):
        return (f'"{ANY}"',)
    if before.endswith(("{", ",")):
        return (_MATCHER,) if after.startswith((",", "}")) else (NAME,)
    return ("", NAME)


def _elsewhere(variable: str, before: str, after: str) -> tuple[str, ...]:
    """A name, a number, a function, an operator, or what follows an expression."""
    if re.search(r"(?<![\w.:])(?:\d[\d.]*|\.)$", before):
        return ("1",)
    if called := re.match(r"[\w:]*\s*(?=\(|(?:by|without)\b)", after):
        return ("max",) if called[0].strip() else ("sum", "rate", "+")
    if re.search(r"[\w:]$", before) or re.match(r"[\w:]", after):
        return (NAME,)
    return (f'"{NAME}"',) if variable.endswith(_QUOTED) else (NAME, "1", "+", "")

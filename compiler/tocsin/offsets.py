"""Where each character of a YAML scalar's value stands in the file, so that a caret inside PromQL is exact.

The value is read a second time, by the rules of folding and escaping (YAML 1.1, chapters 5 and 9), and each character
remembers the stretch of the file that it came from.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.source import Node, Span

    Piece = tuple[str, int, int]  # a character of the value, and the offsets [start, end) of what is written for it

_NO_BREAK = r"[^\r\n\x85\u2028\u2029]"
_BREAK = r"(?:\r\n|[\r\n\x85\u2028\u2029])"
_BREAKS = re.compile(_BREAK)
_WHITE = re.compile(rf"[ \t]*+((?:{_BREAK}[ \t]*+)*+)")
_ESCAPED_BREAK = re.compile(rf"\\{_BREAK}[ \t]*+((?:{_BREAK}[ \t]*+)*+)")
_ESCAPE = re.compile(r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = dict(zip('0abt\tnvfre "/\\N_LP', '\0\a\b\t\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029', strict=True))
_HEADER = re.compile(rf"[|>]([-+0-9]*){_NO_BREAK}*{_BREAK}?")
_LINE = re.compile(rf"( *+)({_NO_BREAK}*+)({_BREAK}?)")
_SEEN = re.compile(r"[^ \t\r\n\x85\u2028\u2029]")


def inside(node: Node, start: int, end: int) -> Span:
    """The span of the characters [start, end) of a scalar's value, in any style, folds and escapes included.

    What lies behind the value is where the value ends. A span is at least one character wide.
    """
    pieces = _pieces(node)
    behind = pieces[-1][2] if pieces else node.source.offset(*node.end)
    first = pieces[start][1] if start < len(pieces) else behind
    until = pieces[min(end, len(pieces)) - 1][2] if pieces and end > 0 else first
    return node.source.span(first, max(until, first + 1))


@lru_cache(maxsize=8)  # one text is often asked about many of its parts
def _pieces(node: Node) -> tuple[Piece, ...]:
    text, start, end = node.source.text, node.source.offset(*node.start), node.source.offset(*node.end)
    quote = text[start : start + 1] if node.style in ("'", '"') else ""
    if node.style in ("|", ">"):
        pieces = tuple(_block(node, start))
    elif quote == node.style:
        pieces = tuple(_flow(text, start + len(quote), end - len(quote), quote))
    else:
        pieces = tuple(_flow(text, start, end, ""))  # plain text behind `!!str`
    if "".join(char for char, _, _ in pieces) == node.text:
        return pieces
    return tuple((char, start, end) for char in node.text)  # right, if not exact


# --- plain and quoted: lines are folded, blanks around a line break go ------------------------------------------------


def _flow(text: str, at: int, end: int, quote: str) -> Iterator[Piece]:
    while at < end:
        white = _WHITE.match(text, at, end)
        if white and white[1]:
            yield from _folded(list(_breaks(text, *white.span(1))))
        elif white:
            yield from _characters(text, at, white.end())
        at = white.end() if white else at
        if at == end:
            return
        if quote == '"' and text[at] == "\\":
            broken, escape = _ESCAPED_BREAK.match(text, at, end), _ESCAPE.match(text, at, end)
            if broken:  # it stands for nothing; the empty lines behind it stand for themselves
                yield from _breaks(text, *broken.span(1))
            elif escape:
                yield _escaped(escape), at, escape.end()
            at = next(found.end() for found in (broken, escape) if found)
        else:
            width = 2 if text[at] == quote == "'" else 1
            yield text[at], at, at + width
            at += width


def _characters(text: str, start: int, end: int) -> Iterator[Piece]:
    return ((text[at], at, at + 1) for at in range(start, end))


def _escaped(escape: re.Match[str]) -> str:
    code = escape["x"] or escape["u"] or escape["U"]
    return chr(int(code, 16)) if code else _ESCAPED.get(escape[4], "")


def _breaks(text: str, start: int, end: int) -> Iterator[Piece]:
    for found in _BREAKS.finditer(text, start, end):
        yield found[0] if found[0] in "\u2028\u2029" else "\n", *found.span()


def _folded(breaks: list[Piece]) -> list[Piece]:
    """A single line break is a space, the first of several is nothing; U+2028 and U+2029 are kept."""
    if breaks[0][0] != "\n":
        return breaks
    return breaks[1:] or [(" ", *breaks[0][1:])]


# --- block scalars: the indentation goes, a literal keeps its lines, a folded one joins those that are not indented ---


def _block(node: Node, start: int) -> Iterator[Piece]:
    text, header = node.source.text, _HEADER.match(node.source.text, start)
    if not header:
        return
    at = header.end()
    indent = _indent(node.text, text, at)
    last: list[Piece] = []  # the break behind the last line that is not empty
    empty: list[Piece] = []  # the breaks of the empty lines since then
    folds = False  # whether the last line may be joined with the next
    while at < len(text) and (line := _LINE.match(text, at)):
        if len(line[1]) < indent and line[2]:
            break
        at, content, stop = line.end(), line.start() + min(indent, len(line[1])), line.end(2)
        if content == stop:
            empty += _breaks(text, *line.span(3))
            continue
        joins = node.style == ">" and text[content] not in " \t"
        yield from _folded([*last, *empty]) if last and folds and joins else (*last, *empty)
        yield from _characters(text, content, stop)
        last, empty, folds = list(_breaks(text, *line.span(3))), [], joins
    yield from last if "-" not in header[1] else ()
    yield from empty if "+" in header[1] else ()


def _indent(value: str, text: str, at: int) -> int:
    """How many spaces a line has in the file, but not in the value."""
    seen, shown = _SEEN.search(text, at), _SEEN.search(value)
    if seen and shown:
        return _last_line(text[at : seen.start()]) - _last_line(value[: shown.start()])
    width = max(map(len, _BREAKS.split(value)))
    if not width:
        return len(text)  # no line reaches it: all of them are empty
    blank = _BREAKS.split(text[at : seen.start() if seen else len(text)])
    return max(map(len, blank[:-1] if seen else blank), default=width) - width


def _last_line(text: str) -> int:
    return len(_BREAKS.split(text)[-1])

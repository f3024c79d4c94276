"""JSON in, Python's values out, and of every text among them where each of its characters stands.

A text is a `Text`: a str that knows its place. Numbers are int and float; a key that is written twice, NaN, and more
nesting than Python bears are refused, as Grafana would misread them.
"""

from __future__ import annotations

import json
import math
import re
from json.decoder import py_scanstring  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tocsin.source import Source, Span

_SURROGATE = re.compile("[\ud800-\udfff]")
_PIECE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|[^\\]", re.DOTALL
)


class Text(str):
    """A text of a file; `start` is the offset of its first character there, behind the quote."""

    __slots__ = ("source", "start")
    source: Source
    start: int

    def inside(self, start: int, end: int) -> Span:
        """Where the characters [start, end) stand; at least one character wide."""
        at, first, last = self.start, None, None
        for index, piece in enumerate(_PIECE.finditer(self.source.text, self.start)):
            if index == start:
                first = piece.start()
            if index == end or index == len(self):
                last = piece.start()
                break
            at = piece.end()
        first = at if first is None else first
        return self.source.span(first, max(last or at, first + 1))


class JsonError(Exception):
    """Why a text is no JSON, and the offset at which that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message, self.offset = message, offset


def read(source: Source) -> Any:
    """The value of a JSON text; JsonError where it is none."""
    try:
        return _Decoder(source).decode(source.text)
    except json.JSONDecodeError as error:
        raise JsonError(error.msg[:1].lower() + error.msg[1:], error.pos) from None
    except RecursionError:
        raise JsonError("it nests too deeply", 0) from None
    except ValueError as error:
        raise JsonError(str(error), 0) from None


class _Decoder(json.JSONDecoder):
    """The decoder of the library, with its scanner in Python, since only that one can be told how to read a text."""

    def __init__(self, source: Source) -> None:
        super().__init__(object_pairs_hook=_once, parse_constant=_refused, parse_float=_finite)
        plain = py_scanstring

        def text(string: str, start: int, strict: bool = True) -> tuple[Text, int]:
            value, end = plain(string, start, strict)
            if not value.isascii() and _SURROGATE.search(value):
                raise json.JSONDecodeError("an escape names half a character", string, start)
            found = Text(value)
            found.source, found.start = source, start
            return found, end

        self.parse_string = text
        self.scan_once = py_make_scanner(self)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key '{next(key for key in keys if keys.count(key) > 1)}' is written twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is larger than any number that Grafana reads")
    return number


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")

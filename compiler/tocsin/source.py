"""Texts, the nodes that YAML makes of them, and where each stands: the ground that every message stands on."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # YAML's line breaks; str.splitlines knows more


class Span(NamedTuple):
    """A stretch of one source text. Lines and columns count from 1, in characters; the end is exclusive.

    `route` is the part of the spec that stands there, as in `slos.chat-availability`, where one was asked for.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    route: str = ""


@dataclass(frozen=True)
class Source:
    """One text and the name its reader knows it by."""

    path: str
    text: str

    @cached_property
    def line_starts(self) -> array[int]:
        """The offset at which each line begins."""
        starts = array("I", [0])
        starts.extend(m.end() for m in _BREAK.finditer(self.text))
        return starts

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its break; empty past the end."""
        if not 1 <= number <= len(self.line_starts):
            return ""
        start = self.line_starts[number - 1]
        found = _BREAK.search(self.text, start)
        return self.text[start : found.start() if found else len(self.text)]

    def offset(self, line: int, column: int) -> int:
        """The offset of a position, both counted from 1."""
        return self.line_starts[line - 1] + column - 1

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both counted from 1, of an offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        """The span between two offsets."""
        return Span(self.path, *self.position(start), *self.position(end))


@dataclass(slots=True, eq=False)
class Node:
    """A YAML value and where it stands. Aliases share the node of their anchor.

    `entries` holds (key, value) pairs of a mapping in the order written, `items` the values of a sequence,
    `text` and `style` (one of: plain "", ', ", |, >) a scalar. `weight` counts the node and all keys and values
    below it, aliases written out; `height` is how many levels of mappings and sequences it is high.
    """

    kind: str
    source: Source
    start: tuple[int, int]
    end: tuple[int, int]
    text: str = ""
    style: str = ""
    entries: dict[str, tuple[Node, Node]] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    weight: int = 1
    height: int = 0

    @property
    def span(self) -> Span:
        """Where the value stands."""
        return Span(self.source.path, *self.start, *self.end)

    def get(self, key: str) -> Node | None:
        """The value of a key of a mapping."""
        pair = self.entries.get(key)
        return pair[1] if pair else None

    def data(self) -> Any:
        """Plain Python values by the YAML 1.2 core schema; decimals stay exact. `no`, `1:30` and dates are text.

        So are `.inf` and `.nan`, numbers of more than 40 digits and exponents of more than three: nothing in a spec
        is that large.
        """
        if self.kind == "mapping":
            return {key: value.data() for key, (_, value) in self.entries.items()}
        if self.kind == "sequence":
            return [item.data() for item in self.items]
        return self.text if self.style else _core_scalar(self.text)


_NULL = {"", "~", "null", "Null", "NULL"}
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NUMERIC_START = frozenset("+-.0123456789")
_INT = re.compile(r"[-+]?[0-9]{1,40}|0o[0-7]{1,40}|0x[0-9a-fA-F]{1,40}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,40}|[0-9]{1,40}(?:\.[0-9]{0,40})?)(?:[eE][-+]?[0-9]{1,3})?")


def _core_scalar(text: str) -> bool | int | Decimal | str | None:
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if text[0] in _NUMERIC_START:
        if _INT.fullmatch(text):
            return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
        if _FLOAT.fullmatch(text):
            return Decimal(text)
    return text

"""A query of a dashboard as PromQL: something stands in place of each of Grafana's variables."""

from __future__ import annotations

import re
from typing import NamedTuple

_STRINGS = r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'|`[^`]*`"
_VARIABLE = r"\$\{(?:[A-Za-z_]\w*)(?::\w+)?\}|\$[A-Za-z_]\w*|\[\[[A-Za-z_]\w*(?::\w+)?\]\]"  # `$1` is of label_replace
_TOKEN = re.compile(f"(?P<string>{_STRINGS})|(?P<variable>{_VARIABLE})")
_IN_STRING = re.compile(_VARIABLE)
ANY = "…"  # stands for a variable inside of a text, and is shown in messages
NAME = "tocsin_any_name"  # stands for one where a name or a number may stand


class Filled(NamedTuple):
    """A query with something in place of Grafana's variables; `pieces` are (start, length) here and in the query."""

    text: str
    pieces: tuple[tuple[int, int, int, int], ...]
    is_bare: bool

    def place(self, offset: int) -> int:
        """Where a character of the filled text stands in the query."""
        for start, length, old, old_length in reversed(self.pieces):
            if offset >= start + length:
                return old + old_length + offset - start - length
            if offset >= start:
                return old
        return offset


def filled(query: str) -> Filled:
    """A query as PromQL: a variable in a text is any value, in brackets a window, elsewhere a name."""
    parts: list[str] = []
    pieces: list[tuple[int, int, int, int]] = []
    at = size = 0
    is_bare = False

    def put(start: int, end: int, instead: str) -> None:
        nonlocal at, size
        parts.extend((query[at:start], instead))
        size += start - at
        pieces.append((size, len(instead), start, end - start))
        size, at = size + len(instead), end

    for found in _TOKEN.finditer(query):
        if found["string"]:
            for inner in _IN_STRING.finditer(found[0]):
                put(found.start() + inner.start(), found.start() + inner.end(), ANY)
            continue
        before, after = query[: found.start()].rstrip(), query[found.end() : found.end() + 1]
        is_window = before.endswith(("[", ":", "offset"))
        is_bare |= not is_window
        put(found.start(), found.end(), ("300" if after in ("s", "m") else "5m") if is_window else NAME)
    return Filled("".join((*parts, query[at:])), tuple(pieces), is_bare)

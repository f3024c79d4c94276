"""A query of a dashboard as PromQL: something stands in place of each of Grafana's variables."""

from __future__ import annotations

import re
from typing import NamedTuple

from tocsin.factory import DASHBOARD_RANGE
from tocsin.units import Duration

_STRINGS = r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'|`[^`]*`"
# Grafana, "Variable syntax": a name, a field of its value, and a format. `$1` is of label_replace.
_NAMED = r"(?P<{}>[A-Za-z_]\w*)(?:\.\w+)*(?::[\w:.-]+)?"
_VARIABLE = rf"\$\{{{_NAMED.format('braced')}\}}|\$(?P<plain>[A-Za-z_]\w*)|\[\[{_NAMED.format('old')}\]\]"
_TOKEN = re.compile(rf"(?P<string>{_STRINGS})|#[^\n]*|(?P<variable>{_VARIABLE})")
_IN_STRING = re.compile(_VARIABLE)
ANY = "…"  # stands for a variable inside of a text, and is shown in messages
_WINDOW, _STEP = Duration.of(minutes=5), Duration.of(minutes=1)  # of an open dashboard, about
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
        if found[0].startswith("#"):
            continue
        if found["string"]:
            for inner in _IN_STRING.finditer(found[0]):
                put(found.start() + inner.start(), found.start() + inner.end(), ANY)
            continue
        before, after = query[: found.start()].rstrip(), query[found.end() : found.end() + 2]
        is_window = before.endswith(("[", ":", "offset"))
        is_bare |= not is_window
        put(found.start(), found.end(), _length(found, before, after) if is_window else NAME)
    return Filled("".join((*parts, query[at:])), tuple(pieces), is_bare)


def _length(found: re.Match[str], before: str, after: str) -> str:
    """How long a variable is that stands for a window or a step, as a duration or as the number before its unit."""
    name = found["braced"] or found["plain"] or found["old"]
    length = DASHBOARD_RANGE if name.startswith("__range") else _STEP if before.endswith(":") else _WINDOW
    if after == "ms":
        return str(int(length))
    if after[:1] == "s":
        return str(int(length) // 1000)
    if after[:1] == "m":
        return str(int(length) // 60_000)
    return str(length)

"""Where a slip was made that YAML only notices on a later line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.source import Span

if TYPE_CHECKING:
    from tocsin.composer import YamlError
    from tocsin.source import Source

# A comment, or a quoted text where a value may begin; one that is not closed reaches to the end.
_QUOTED = re.compile(
    r"""(?<!\S)\#[^\n]*+|(?<=[\s,\[{])(?P<quote>"(?:[^"\\]|\\.)*+(?:"|\Z)|'(?:[^']|'')*+(?:'|\Z))""", re.DOTALL
)
_NOWHERE = 2**31  # the column at which the text of an empty line begins


def open_quote(error: YamlError, source: Source) -> str:
    """The hint where a quoted text ends right before the error: what ends it was meant to open the next one."""
    end = source.offset(error.span.line, error.span.column)
    begin = source.offset(*error.related[1:3]) if error.related else source.offset(error.span.line, 1)
    for found in _QUOTED.finditer(source.text, begin):
        if found.end() > end:
            break
        if found.end() == end and found["quote"]:
            line, _ = source.position(found.start())
            if line == error.span.line:
                return "a quote is missing in this line, or there is one too many"
            closed = "never closed" if end == len(source.text) else f"not closed before line {error.span.line}"
            return f"the quote opened at line {line} is {closed}"
    return ""


def odd_line(error: YamlError, source: Source) -> Span | None:
    """The first line of what is indented further than the keys around it, where the error is told at the next of them.

    That one and the key behind it agree, so neither is the odd one.
    """
    at, column = error.span.line, error.span.column
    if "block mapping did not find expected key" not in error.message or _indented(source, at) != column:
        return None
    after, line, odd = at + 1, at - 1, 0
    while after <= len(source.line_starts) and _indented(source, after) > column:
        after += 1
    while line and (found := _indented(source, line)) > column:
        odd, line = odd if found == _NOWHERE else line, line - 1
    if not odd or _indented(source, line) == column or _indented(source, after) != column:
        return None
    return Span(source.path, odd, _indented(source, odd), odd, _indented(source, odd) + 1)


def _indented(source: Source, number: int) -> int:
    """The column at which the text of a line begins; comments are none."""
    text = source.line(number)
    blanks = len(text) - len(text.lstrip())
    return _NOWHERE if text[blanks : blanks + 1] in ("", "#") else blanks + 1

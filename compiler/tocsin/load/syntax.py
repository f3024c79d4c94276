"""What is wrong with a text as YAML, with the way to mend it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.diagnostics import Related
from tocsin.load.slips import odd_line, open_quote

if TYPE_CHECKING:
    from tocsin.composer import YamlError
    from tocsin.diagnostics import Log
    from tocsin.source import Source, Span

# A part of the scanner's message, and what mends that mistake most often; the first that fits is said.
_ADVICE = (
    ("tab character", "indent with spaces"),
    ("found unknown escape", "use single quotes: in double ones a backslash begins an escape"),
    (
        "mapping values are not allowed",
        "put the value into quotes if the `:` is part of it, else mend the indentation",
    ),
    (
        "did not find expected ',' or",
        "close the bracket, or put a value that has brackets or commas into quotes",
    ),
    ("did not find expected key", "indent all keys of a mapping alike"),
    ("did not find expected '-'", "indent all items of a list alike"),
    ("unexpected end of stream", "close the quote"),
    ("could not find expected ':'", "write `key: value`, with a space behind the colon"),
    ("cannot start any token", "put the value into quotes"),
    ("while scanning an alias", "put the value into quotes: a `*` begins an alias"),
    ("while scanning an anchor", "put the value into quotes: an `&` begins an anchor"),
    ("block sequence entries are not allowed", "begin the list on a line of its own"),
    ("did not find expected comment or line break", "begin the text on the next line, or put it into quotes"),
    ("did not find expected node content", "write the missing value, or put one into quotes that begins like this"),
    ("did not find expected <document start>", "look at the indentation and the brackets of the lines above"),
    ("found unexpected ':'", "put the value into quotes"),
    ("while scanning a directive", "put it into quotes: a line cannot begin with `%`"),
)
_SELECTOR = re.compile(r"[\w:]\{[^{}=!]*+[=!][^{}]*+\}")
_COMMENT = re.compile(r":\s+#\S")


def tell_syntax(error: YamlError, source: Source, log: Log) -> None:
    """Report one thing that is wrong with a document as YAML."""
    note = "first written here" if error.code == "YML103" else "it begins here"
    related = [Related(error.related, note)] if error.related else []
    hint = error.hint or open_quote(error, source) or _advice(error, source)
    span = error.span
    if not error.hint and (odd := odd_line(error, source)):
        span, related = odd, [Related(error.span, "the next key begins here")]
    log.error(error.code, error.message, _visible(span, source), hint, related)


def _advice(error: YamlError, source: Source) -> str:
    line = source.line(error.span.line)
    if line[: error.span.column].endswith("\t"):
        return "indent with spaces: a tab cannot stand here"
    if "flow" in error.message:
        for text in (line, source.line(error.related.line) if error.related else ""):
            if _COMMENT.search(text):
                return 'put the value into quotes: a `#` behind a space begins a comment, write "#team"'
            if _SELECTOR.search(text):
                return "put the selector into quotes: inside of brackets YAML reads its braces and commas as its own"
    return next((hint for part, hint in _ADVICE if part in error.message), "")


def _visible(span: Span, source: Source) -> Span:
    """The place; where it is past the last line that says something, the end of that line."""
    if source.line(span.line).strip():
        return span
    end = len(source.text[: source.offset(span.line, span.column)].rstrip())
    return source.span(end, end)._replace(end_column=source.position(end)[1] + 1) if end else span

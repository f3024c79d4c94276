"""For people: the sentence, the line it is about with the place underlined, and how to fix it."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from tocsin.diagnostics import MAX_TOLD, Severity
from tocsin.secrecy import hidden, stars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.diagnostics import Diagnostic
    from tocsin.source import Source, Span

MAX_WIDTH = 160  # of a shown line; a longer one is cut around its place
_COLORS = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m"}
_BOLD, _DIM, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def as_text(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], *, color: bool = False) -> str:
    """One block a diagnostic, a count at the end; nothing where there is nothing to say."""
    lines = _Lines(diagnostics, sources)
    blocks = [_block(diagnostic, lines, color=color) for diagnostic in diagnostics]
    errors = sum(d.severity is Severity.ERROR for d in diagnostics)
    counts = [_counted(errors, "error"), _counted(len(diagnostics) - errors, "warning")]
    rest = "; further ones are told once these are mended" if len(diagnostics) >= MAX_TOLD else ""
    return "\n".join([*blocks, ", ".join(filter(None, counts)) + f"{rest}\n"]) if diagnostics else ""


class _Lines:
    """The lines of the sources with stars over every secret that is told, and over whatever else looks like one."""

    def __init__(self, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._secrets: dict[tuple[str, int], list[Span]] = {}
        for span in (d.span for d in diagnostics if d.code.startswith("SEC")):
            for number in range(span.line, span.end_line + 1):
                self._secrets.setdefault((span.path, number), []).append(span)
        self._shown: dict[tuple[str, int], str] = {}

    def at(self, path: str, number: int) -> str:
        """The line as it may be shown; empty where there is none."""
        place = (path, number)
        if place not in self._shown:
            source = self._sources.get(path)
            text = source.line(number) if source else ""
            for secret in self._secrets.get(place, ()):
                start = secret.column - 1 if number == secret.line else 0
                end = secret.end_column - 1 if number == secret.end_line else len(text)
                text = text[:start] + stars(text[start:end]) + text[end:]
            self._shown[place] = hidden(text)
        return self._shown[place]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count > 1 else ''}" if count else ""


def _block(diagnostic: Diagnostic, sources: _Lines, *, color: bool) -> str:
    paint, bold, dim, reset = (_COLORS[diagnostic.severity], _BOLD, _DIM, _RESET) if color else ("", "", "", "")
    head = f"{paint}{diagnostic.severity}[{diagnostic.code}]{reset}{bold}: {visible(diagnostic.message)}{reset}"
    lines = [head, *_excerpt(diagnostic.span, sources, "-->", paint, dim, reset)]
    for related in diagnostic.related:
        lines += _excerpt(related.span, sources, f"::: {related.note} at", dim, dim, reset)
    if diagnostic.hint:
        lines.append(f"  = hint: {visible(diagnostic.hint)}")
    return "\n".join(lines) + "\n"


def _excerpt(span: Span, sources: _Lines, arrow: str, paint: str, dim: str, reset: str) -> list[str]:
    lines = [f"  {dim}{arrow}{reset} {visible(span.path)}:{span.line}:{span.column}"]
    text = sources.at(span.path, span.line)
    if text.strip():
        start = max(span.column - 1, 0)
        end = span.end_column - 1 if span.end_line == span.line else len(text)
        text, start, end = _cut(text, start, max(end, start + 1))
        margin = f"{span.line} | "
        pad = "".join("\t" if char == "\t" else " " * _columns(char) for char in text[:start])
        marks = "^" * max(sum(_columns(char) for char in text[start:end]), 1)
        lines.append(f"{dim}{margin}{reset}{visible(text)}")
        lines.append(f"{' ' * len(margin)}{pad}{paint}{marks}{reset}")
    return lines


def _cut(text: str, start: int, end: int) -> tuple[str, int, int]:
    if len(text) <= MAX_WIDTH:
        return text, start, end
    first = max(min(start - 40, len(text) - MAX_WIDTH), 0)
    before = "…" if first else text[:1]
    after = "…" if first + MAX_WIDTH < len(text) else text[-1:]
    shown = before + text[first + 1 : first + MAX_WIDTH - 1] + after
    return shown, start - first, min(end - first, MAX_WIDTH)


def _columns(char: str) -> int:
    """How many cells of a terminal a character takes."""
    if unicodedata.combining(char) or (unicodedata.category(char) in ("Cf", "Cc") and char != "\t"):
        return 0 if unicodedata.combining(char) else 1
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def visible(text: str) -> str:
    """The text without what could steer a terminal or hide in one: control and direction characters become `?`."""
    return "".join("?" if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\t" else c for c in text)

"""For GitHub Actions: workflow commands that become annotations in a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.report.as_text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.diagnostics import Diagnostic
    from tocsin.source import Source


def as_github(diagnostics: Sequence[Diagnostic], _sources: Mapping[str, Source]) -> str:
    """One command a diagnostic."""
    return "".join(f"{_command(d)}\n" for d in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    there = [f"{r.note}: {r.span.path}:{r.span.line}:{r.span.column}" for r in diagnostic.related]
    text = "\n".join(visible(part) for part in (diagnostic.message, *there, diagnostic.hint) if part)
    place = f"file={_property(visible(span.path))},line={span.line},col={span.column},endLine={span.end_line}"
    return f"::{diagnostic.severity} {place},title={_property(diagnostic.code)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

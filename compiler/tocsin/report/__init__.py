"""Diagnostics to text: for people, for programs, for code review. Nothing here prints."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.diagnostics import Diagnostic
    from tocsin.source import Source

FORMATS = ("text", "json", "github", "sarif")


def report(
    format_: str, diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], *, color: bool = False
) -> str:
    """The diagnostics in one of the formats; only that format's module is loaded. `color` is for text."""
    show = getattr(import_module(f"tocsin.report.as_{format_}"), f"as_{format_}")
    return str(show(diagnostics, sources, color=color) if format_ == "text" else show(diagnostics, sources))

"""What the compiler tells people about their spec: one sentence, one place, one way to fix it."""

from __future__ import annotations

import posixpath
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.source import Span


class Severity(StrEnum):
    """An error stops the build after its stage; a warning is told and the build goes on."""

    ERROR = "error"
    WARNING = "warning"


class Related(NamedTuple):
    """Another place that belongs to the message, with the reason in a few words."""

    span: Span
    note: str


class Diagnostic(NamedTuple):
    """One message about the spec. `message` says what is wrong, `hint` how to fix it, `code` is explained elsewhere."""

    code: str
    severity: Severity
    message: str
    span: Span
    hint: str = ""
    related: tuple[Related, ...] = ()


MAX_TOLD = 1000  # diagnostics of one run: nobody reads more, and each one costs time
MAX_NEAR = 2000  # words that are compared with a mistaken one


class TooManyError(Exception):
    """There are more diagnostics than anybody reads: the rest is told once these are dealt with."""


class Log:
    """Collects diagnostics while a stage goes on; stages stop only between each other, or at MAX_TOLD diagnostics."""

    def __init__(self) -> None:
        self._told: dict[Diagnostic, None] = {}

    def error(self, code: str, message: str, span: Span, hint: str = "", related: Iterable[Related] = ()) -> None:
        """Tell a mistake that stops the build."""
        self.add(Diagnostic(code, Severity.ERROR, message, span, hint, tuple(related)))

    def warning(self, code: str, message: str, span: Span, hint: str = "", related: Iterable[Related] = ()) -> None:
        """Tell a doubt that does not stop the build."""
        self.add(Diagnostic(code, Severity.WARNING, message, span, hint, tuple(related)))

    def add(self, diagnostic: Diagnostic) -> None:
        """Take a diagnostic; the same one twice is told once. TooManyError where the log is full."""
        if len(self._told) >= MAX_TOLD and diagnostic not in self._told:
            raise TooManyError
        self._told.setdefault(diagnostic)

    @property
    def failed(self) -> bool:
        """Whether an error was told."""
        return any(d.severity is Severity.ERROR for d in self._told)

    def sorted(self) -> list[Diagnostic]:
        """All diagnostics by file, line, column, code and message."""
        return sorted(self._told, key=lambda d: (d.span[:3], d.code, d.message))


def near(word: str, known: Iterable[str]) -> str:
    """The closest of the known words, or nothing where none is close."""
    from difflib import get_close_matches  # only a mistaken spec pays for this import

    known = list(islice(known, MAX_NEAR + 1))
    if len(known) > MAX_NEAR or len(word) > MAX_NEAR:
        return ""

    # Compared without case first: `Owner` and `owner` are the same slip of the hand.
    by_fold = {k.casefold(): k for k in sorted(known, reverse=True)}
    found = get_close_matches(word.casefold(), list(by_fold), n=1, cutoff=0.76)
    return by_fold[found[0]] if found else ""


def below(folder: str, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics with every path as seen from the folder above the spec's own."""

    def moved(span: Span) -> Span:
        return span._replace(path=posixpath.join(folder, span.path))

    return [
        d._replace(span=moved(d.span), related=tuple(r._replace(span=moved(r.span)) for r in d.related))
        for d in diagnostics
    ]

"""Regular expressions as Prometheus reads them: RE2, anchored at both ends, in time linear in the text.

Python's own `re` accepts what Prometheus refuses and can run for years on a spec written in bad faith.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import re2

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False  # the caller tells the user; the library would write to standard error
MAX_LENGTH = 2000


class PatternError(ValueError):
    """The text is not a regular expression; the message says why in a few words."""


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    if len(pattern) > MAX_LENGTH:
        raise PatternError(f"longer than {MAX_LENGTH} characters")
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as error:
        raw = error.args[0] if error.args else b""
        raise PatternError(raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)) from None
    except UnicodeEncodeError:
        raise PatternError("not UTF-8") from None


def validate(pattern: str) -> None:
    """PatternError where Prometheus would refuse the expression."""
    _compiled(pattern)


@lru_cache(maxsize=2**16)
def matches(pattern: str, value: str) -> bool:
    """Whether the whole value matches. What is not UTF-8 is no value of a label: nothing matches it."""
    try:
        return _compiled(pattern).fullmatch(value) is not None
    except UnicodeEncodeError:
        return False


def literal(text: str) -> str:
    """An expression that matches the text and nothing else."""
    return re2.escape(text).replace("\\-", "-")  # type: ignore[no-any-return]


@lru_cache(maxsize=1024)
def example(pattern: str) -> str | None:
    """A short text that the expression matches, for test data; None where none was found."""
    try:
        validate(pattern)  # its limits on repetitions hold for the example, too
        text, end = _alternatives(pattern, 0, 0)
        return text if end == len(pattern) and matches(pattern, text) else None
    except (PatternError, IndexError, ValueError):
        return None


_CHARACTERS = "".join(dict.fromkeys("0aA1bB9zZ_-./: " + "".join(map(chr, range(0x20, 0x7F)))))  # the usual ones first
_CLASSES = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a", "b": "", "A": "", "z": ""}
_QUANTIFIER = re.compile(r"(?:([*?])|(\+)|\{(\d{1,3})(?:,\d*)?\})\??")
_GROUP = re.compile(r"\((?:\?(?:P?<\w+>|[imsU-]*:))?")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]")


def _alternatives(pattern: str, at: int, depth: int) -> tuple[str, int]:
    """The first alternative's text and where the alternatives end."""
    if depth > 20:
        raise ValueError(pattern)
    first, at = _sequence(pattern, at, depth)
    while at < len(pattern) and pattern[at] == "|":
        _, at = _sequence(pattern, at + 1, depth)
    return first, at


def _sequence(pattern: str, at: int, depth: int) -> tuple[str, int]:
    text = ""
    while at < len(pattern) and pattern[at] not in "|)":
        atom, at = _atom(pattern, at, depth)
        found = _QUANTIFIER.match(pattern, at)
        if found:
            at = found.end()
            atom = "" if found[1] else atom * int(found[3] or 1)
        text += atom
    return text, at


def _atom(pattern: str, at: int, depth: int) -> tuple[str, int]:
    char = pattern[at]
    if char == "(":
        opening = _GROUP.match(pattern, at)
        text, end = _alternatives(pattern, opening.end() if opening else at + 1, depth + 1)
        return text, end + 1
    if char == "[":
        found = _CLASS.match(pattern, at)
        if not found:
            raise ValueError(pattern)
        return next((c for c in _CHARACTERS if matches(found[0], c)), ""), found.end()
    if char == "\\":
        return _CLASSES.get(pattern[at + 1], pattern[at + 1]), at + 2
    return {".": "0", "^": "", "$": ""}.get(char, char), at + 1

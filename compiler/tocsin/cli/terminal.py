"""The three streams: colour and progress where a terminal is, and no surprise where none is."""

from __future__ import annotations

import io
import os
import sys
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def prepare() -> None:
    """Let every stream be usable: a closed one leads nowhere, and characters that standard output lacks are escaped."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for good
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def say(stream: IO[str], text: str) -> None:
    """Write at once. A reader that went away (`tocsin … | head`) has what it wanted: the rest goes nowhere."""
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        # What is still in the buffer would fail again, loudly, when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


def colored(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Whether to paint: on a terminal, unless NO_COLOR (no-color.org) or a dumb terminal says otherwise."""
    return _steerable(stream, environment) and not environment.get("NO_COLOR")


@contextmanager
def progress(doing: str, environment: Mapping[str, str]) -> Iterator[None]:
    """Say on the terminal what is being done, and take it back when it is done."""
    if not _steerable(sys.stderr, environment):
        yield
        return
    say(sys.stderr, f"{doing} …")
    try:
        yield
    finally:
        say(sys.stderr, "\r\x1b[K")


@contextmanager
def status(environment: Mapping[str, str]) -> Iterator[Callable[[str], None]]:
    """A line on the terminal that says what the function was told last; taken back at the end."""
    if not _steerable(sys.stderr, environment):
        yield lambda _: None
        return
    try:
        yield lambda doing: say(sys.stderr, f"\r\x1b[K{doing} …")
    finally:
        say(sys.stderr, "\r\x1b[K")


def _steerable(stream: IO[str], environment: Mapping[str, str]) -> bool:
    return stream.isatty() and environment.get("TERM") != "dumb"

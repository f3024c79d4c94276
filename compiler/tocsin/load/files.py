"""Bounded reading: only regular files, only text, only so much of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.source import Source, Span

if TYPE_CHECKING:
    from tocsin.diagnostics import Log

MAX_BYTES = 16 * 2**20  # one file; 10,000 SLOs need three of these sixteen MiB

# O_NONBLOCK: opening a FIFO that nobody writes to must not wait. O_NOCTTY: a terminal must not become ours.
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_root(path: str, log: Log, stdin: bytes | None) -> Source | None:
    """The root spec. Its name in every message and manifest is relative to its own folder."""
    if path == "-":
        return _decoded("-", stdin or b"", log, _beginning("-"))
    return read(path, printable(Path(path).name or path), log)


def read(path: str, name: str, log: Log, at: Span | None = None) -> Source | None:
    """The text of a file under the name that messages use; None, and a diagnostic at `at`, where it has none."""
    where = at or _beginning(name)
    try:
        raw = _content(path)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", "") or "it cannot be opened").lower()
        log.error("YML109", f"'{name}' cannot be read: {reason}", where)
        return None
    if isinstance(raw, str):
        hint = "name a YAML file, or `-` for standard input"
        log.error("YML109", f"'{name}' cannot be read: it is {raw}", where, hint)
        return None
    return _decoded(name, raw, log, where)


def printable(name: str) -> str:
    r"""A file's name as text: bytes that are not UTF-8 as `\xff`, since no report or manifest could hold them."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _content(path: str) -> bytes | str:
    """The bytes of a regular file, one more than allowed at most; for anything else what it is. OSError as it comes."""
    descriptor = os.open(path, _FLAGS)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            return "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(MAX_BYTES + 1) or b""  # None where a file such as /proc/kmsg would make us wait
    finally:
        os.close(descriptor)


def _decoded(name: str, raw: bytes, log: Log, where: Span) -> Source | None:
    if len(raw) > MAX_BYTES:
        hint = "split it and list the parts under `include`"
        log.error("YML110", f"'{name}' is larger than {MAX_BYTES // 2**20} MiB", where, hint)
        return None
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return Source(name, raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        before = Source(name, raw[: error.start].decode("utf-8"))
        line, column = before.position(len(before.text))
        is_utf16 = raw[:2] in (b"\xff\xfe", b"\xfe\xff")
        what = "this file is UTF-16" if is_utf16 else f"the byte 0x{raw[error.start]:02x} is not UTF-8"
        log.error("YML111", what, Span(name, line, column, line, column + 1), "save the file as UTF-8")
        return None


def _beginning(name: str) -> Span:
    return Span(name, 1, 1, 1, 1)

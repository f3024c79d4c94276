"""The command line as a user starts it: a process of its own, with limits where a test needs them."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MIB = 2**20


def tocsin(
    arguments: Iterable[str | bytes | Path],
    *,
    folder: Path | None = None,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    limits: Mapping[int, int] | None = None,
    umask: int = -1,
) -> subprocess.CompletedProcess[str]:
    """Run `tocsin` to its end. `limits` are of setrlimit: RLIMIT_AS in bytes, RLIMIT_CPU in seconds and the like."""

    def limit() -> None:
        for what, most in (limits or {}).items():
            resource.setrlimit(what, (most, most))

    return subprocess.run(
        [sys.executable, "-m", "tocsin", *arguments],
        cwd=folder,
        input=stdin.decode("utf-8", "surrogateescape"),
        env={**os.environ, **(environment or {})},
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
        umask=umask,
        preexec_fn=limit if limits else None,
    )


def is_sentence(text: str) -> bool:
    """Whether standard error is what `tocsin` says to people: a line or a few, and no traceback."""
    return text.startswith("tocsin: ") and "Traceback" not in text and "  File " not in text

"""Waiting for what other processes do: by looking again and again, and not for ever."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Seen = TypeVar("Seen")
SECONDS = 90  # a deadline that only a fault reaches, on a busy machine too


def until(what: str, look: Callable[[], Seen], *, also: Callable[[], str] = str, seconds: float = SECONDS) -> Seen:
    """The first look that shows something true; AssertionError with `what` was waited for, the last look and `also`."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        if time.monotonic() > end:
            raise AssertionError(f"waited for {what} in vain; last seen: {seen!r}\n{also()}")
        time.sleep(0.1)
    return seen

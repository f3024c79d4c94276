"""A reading that stands still or grows with time."""

from __future__ import annotations

import time


class Meter:
    """A value that grows by `rate` a second from now on; rate 0 is a gauge that somebody sets."""

    def __init__(self, value: float = 0, rate: float = 0) -> None:
        # One tuple, replaced whole: pages are rendered in other threads than faults happen in.
        self._state = (time.monotonic(), float(value), float(rate))

    @property
    def rate(self) -> float:
        """By how much it grows a second."""
        return self._state[2]

    def read(self) -> float:
        """The value now."""
        since, value, rate = self._state
        return value + rate * (time.monotonic() - since)

    def put(self, value: float) -> None:
        """Jump to a value and go on at the same rate."""
        self._state = (time.monotonic(), float(value), self._state[2])

    def add(self, amount: float) -> None:
        """Jump by an amount and go on at the same rate."""
        self.put(self.read() + amount)

    def run(self, rate: float) -> None:
        """Go on from here at another rate: what was counted stays counted."""
        self._state = (time.monotonic(), self.read(), float(rate))

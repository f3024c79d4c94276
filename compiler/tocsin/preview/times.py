"""The time that a page shows: a grid of moments, so that a series is but its values."""

from __future__ import annotations

from typing import NamedTuple

from tocsin.units import Duration

POINTS = 180  # of a line; half a screen wide, one stands for four pixels


class Period(NamedTuple):
    """From `start`, in steps, through `end`; all in whole seconds, `start` and `end` since 1970."""

    start: int
    end: int
    step: int

    @classmethod
    def before(cls, end: float, length: Duration, step: int = 0) -> Period:
        """The time before a moment, on a grid of at most `POINTS` steps.

        The grid is one of multiples of its step, as Grafana's is, so that two pages of one time have the same points.
        """
        seconds = max(int(length.seconds), 1)
        step = step or max(-(-seconds // POINTS), 1)
        last = int(end) // step * step
        return cls(last - seconds // step * step, last, step)

    @property
    def moments(self) -> int:
        """How many moments the grid has."""
        return (self.end - self.start) // self.step + 1

    def on_grid(self, samples: list[tuple[float, float]]) -> list[float | None]:
        """The values of samples (moment, value) at the moments of the grid, None where there is none."""
        values: list[float | None] = [None] * self.moments
        for moment, value in samples:
            index = round((moment - self.start) / self.step)
            if 0 <= index < self.moments:
                values[index] = value
        return values


def since_now(text: str) -> Duration:
    """The length of Grafana's `now-6h`; ValueError for anything else."""
    if not text.startswith("now-"):
        raise ValueError(text)
    return Duration.parse(text.removeprefix("now-"))

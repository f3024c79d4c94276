"""The result as people read it: rows of a comparison, the bound each has to keep, and their printing."""

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .clock import Spread

COLOURS = {"ok": "32", "MISSED": "31", "FAILED": "31"}
HEADING = ("what", "ours", "the other", "ratio (min–max)", "bound", "")


@dataclass(frozen=True, slots=True)
class Bound:
    """What the median of a ratio may be at most, or has to be at least."""

    sign: str
    value: float

    def __str__(self) -> str:
        return f"{self.sign} {self.value:g}"

    def keeps(self, ratio: Spread) -> bool:
        """Whether the median is within the bound."""
        return ratio.median <= self.value if self.sign == "≤" else ratio.median >= self.value


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison. Without a ratio it failed, for the reason in `failure`; without a bound it only informs."""

    what: str
    ours: str = "–"
    other: str = "–"
    ratio: Spread | None = None
    bound: Bound | None = None
    failure: str = ""

    def verdict(self) -> str:
        """`ok`, `MISSED`, `FAILED`, or nothing where there is no bound."""
        if self.ratio is None:
            return "FAILED"
        if self.bound is None:
            return ""
        return "ok" if self.bound.keeps(self.ratio) else "MISSED"

    def cells(self) -> tuple[str, ...]:
        """The texts of the row, in the order of `HEADING`."""
        ratio = "–"
        if self.ratio is not None:
            ratio = f"{self.ratio.median:.2f} ({self.ratio.low:.2f}–{self.ratio.high:.2f})"
        return self.what, self.ours, self.other, ratio, str(self.bound or "–"), self.verdict()


def print_rows(rows: Sequence[Row]) -> None:
    """Print the comparison, and below it why rows failed."""
    print_aligned([HEADING, *(row.cells() for row in rows)])
    for row in rows:
        if row.failure:
            print(f"{row.what}: {row.failure}")


def print_aligned(lines: Sequence[Sequence[str]]) -> None:
    """Print cells in columns; the last cell of a line is coloured if it is a verdict."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        *cells, last = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        print("  ".join([*cells, _coloured(last.rstrip())]).rstrip())


def show_progress(text: str) -> None:
    """Say on a terminal what runs now, over what was said before; nothing anywhere else."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def all_kept(rows: Iterable[Row]) -> bool:
    """Whether no bound was missed and nothing failed."""
    return not any(row.verdict() in {"MISSED", "FAILED"} for row in rows)


def _coloured(verdict: str) -> str:
    colour = COLOURS.get(verdict)
    if colour is None or os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return verdict
    return f"\x1b[{colour}m{verdict}\x1b[0m"

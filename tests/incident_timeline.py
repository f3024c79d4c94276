"""Values over time as an incident writes them, and as promtool reads them.

A timeline is a list of pieces, `4 | 10m 68 | 20m gone`: from each minute on a value, a value and how it rises
(`0 +20/s`, `7 +1/2m`), only the rise (`+5/s`), two values in turn (`4~68/1m`), the last value (`stays`), or `gone`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEP = 15  # seconds from sample to sample, and from evaluation to evaluation
A_MINUTE = 60 // STEP
UNSEEN = "_"  # promtool's sign for a sample that is not there; a series that ends has None instead

Sample = Fraction | str | None

_PIECE = re.compile(r"(?:(?P<minute>[\d.]+)m )?(?P<what>.+)")
_VALUE = re.compile(
    r"(?P<value>-?[\d.]+)?(?:~(?P<other>[\d.]+)/(?P<turn>\w+))?(?: ?\+(?P<rise>[\d.]+)/(?P<every>\d*[smh]))?"
)


def timeline(text: str, samples: int) -> list[Sample]:
    """The samples of a timeline; ValueError where it is none."""
    out: list[Sample] = []
    pieces = [_PIECE.fullmatch(piece.strip()) for piece in str(text).split(" | ")]
    starts = [at(found["minute"] or 0) if found else 0 for found in pieces]
    for found, end in zip(pieces, [*starts[1:], samples], strict=True):
        if found is None:
            raise ValueError(text)
        last = next((value for value in reversed(out) if isinstance(value, Fraction)), Fraction(0))
        values = _piece(found["what"], last)
        out += [values(n) for n in range(end - len(out))]
    return out[:samples]


def _piece(what: str, last: Fraction) -> Callable[[int], Sample]:
    """A piece as a function of the number of samples since its begin, after a series that was at `last`."""
    if what in ("gone", "stays"):
        return lambda _: None if what == "gone" else last
    found = _VALUE.fullmatch(what)
    if found is None:
        raise ValueError(what)
    if found["other"]:
        both, each = (Fraction(found["value"]), Fraction(found["other"])), _seconds(found["turn"]) // STEP
        return lambda n: both[n // each % 2]
    every = found["every"] or "s"
    rise = Fraction(found["rise"] or 0) * STEP / _seconds(every if every[0].isdigit() else f"1{every}")
    # A counter shows whole events. One that only goes on rising has risen at its first sample already.
    begin, ahead = (Fraction(found["value"]), 0) if found["value"] else (last, 1)
    return lambda n: begin + (int((n + ahead) * rise) if rise else 0)


def _seconds(text: str) -> int:
    return int(Duration.parse(text).seconds)


def at(minute: str | float) -> int:
    """The number of the sample at a minute."""
    return int(Fraction(str(minute)) * A_MINUTE)


def notation(samples: list[Sample]) -> str:
    """The samples as promtool reads them, equal steps written once."""
    out: list[str] = []
    for value in samples:
        out.append(UNSEEN if value == UNSEEN else _shown(value, out))
    return " ".join(_shortened(out))


def _shown(value: Sample, before: list[str]) -> str:
    if isinstance(value, Fraction):
        return number(value)
    return "stale" if before and before[-1] not in (UNSEEN, "stale") else UNSEEN


def _shortened(tokens: list[str]) -> Iterator[str]:
    """Runs of one token, and of numbers that rise by equal steps, as `_x4`, `7x9`, `0+300x9`."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if not token[-1].isdigit() or index + 1 == len(tokens) or not tokens[index + 1][-1].isdigit():
            end = next((n for n in range(index, len(tokens)) if tokens[n] != token), len(tokens))
            yield f"_x{end - index}" if token == UNSEEN else token
            index = end if token == UNSEEN else index + 1
            continue
        step = Fraction(tokens[index + 1]) - Fraction(token)
        end = index + 1
        while (
            end < len(tokens)
            and tokens[end][-1].isdigit()
            and Fraction(tokens[end]) - Fraction(tokens[end - 1]) == step
        ):
            end += 1
        slope = f"{'+' if step > 0 else ''}{number(step)}" if step else ""
        yield f"{token}{slope}x{end - index - 1}"
        index = end

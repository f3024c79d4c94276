"""Values over time as an incident writes them, and as promtool reads them.

A timeline is a list of pieces, `4 | 10m 68 | 20m gone`: from each minute on a value, a value and how it rises
(`0 +20/s`, `7 +1/2m`), only the rise (`+5/s`), two values in turn (`4~68/1m`), the last value (`stays`), `NaN`, or
`gone`. Counters show whole events.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEP = 15  # seconds from sample to sample, and from evaluation to evaluation
A_MINUTE = 60 // STEP
NAN = "NaN"
UNSEEN = "_"  # promtool's sign for a sample that is not there; a series that ends has None instead

Sample = int | float | str | None

_PIECE = re.compile(r"(?:(?P<minute>[\d.]+)m )?(?P<what>.+)")
_VALUE = re.compile(
    r"(?P<value>[\d.]+)?(?:~(?P<other>[\d.]+)/(?P<turn>\w+))?(?: ?\+(?P<rise>[\d.]+)/(?P<every>\d*[smh]))?"
)


@lru_cache(maxsize=1024)
def timeline(text: str, samples: int) -> tuple[Sample, ...]:
    """The samples of a timeline; ValueError where it is none."""
    out: list[Sample] = []
    pieces = [_PIECE.fullmatch(piece.strip()) for piece in str(text).split(" | ")]
    starts = [at(found["minute"] or 0) if found else 0 for found in pieces]
    for found, end in zip(pieces, [*starts[1:], samples], strict=True):
        if found is None:
            raise ValueError(text)
        last = next((value for value in reversed(out) if isinstance(value, int | float)), 0)
        values = _piece(found["what"], last)
        out += [values(n) for n in range(end - len(out))]
    return tuple(out[:samples])


def _piece(what: str, last: float) -> Callable[[int], Sample]:
    """A piece as a function of the number of samples since its begin, after a series that was at `last`."""
    if what in ("gone", "stays"):
        return lambda _: None if what == "gone" else last
    if what == NAN:
        return lambda _: NAN
    found = _VALUE.fullmatch(what)
    if found is None:
        raise ValueError(what)
    value = _number(found["value"]) if found["value"] else last
    if found["other"]:
        both, each = (value, _number(found["other"])), _seconds(found["turn"]) // STEP
        return lambda n: both[n // each % 2]
    if not found["rise"]:
        return lambda _: value
    every = found["every"]
    rise = Fraction(found["rise"]) * STEP / _seconds(every if every[0].isdigit() else f"1{every}")
    # What only goes on rising has risen at its first sample already.
    ahead = 0 if found["value"] else 1
    return lambda n: value + int((n + ahead) * rise)


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _seconds(text: str) -> int:
    return int(Duration.parse(text).seconds)


def at(minute: str | float) -> int:
    """The number of the sample at a minute."""
    return int(Fraction(str(minute)) * A_MINUTE)


@lru_cache(maxsize=4096)
def notation(samples: tuple[Sample, ...]) -> str:
    """The samples as promtool reads them: runs of one value, or of values that rise evenly, are written once."""
    return " ".join(_runs(samples))


def _runs(samples: tuple[Sample, ...]) -> Iterator[str]:
    index = 0
    while index < len(samples):
        value, begin = samples[index], index
        if value == NAN:
            index += 1
            yield NAN
            continue
        if not isinstance(value, int | float):
            ends = value is None and index > 0 and isinstance(samples[index - 1], int | float)
            while index < len(samples) and samples[index] == value:
                index += 1
            yield f"stale _x{index - begin - 1}".removesuffix(" _x0") if ends else f"_x{index - begin}"
            continue
        following = samples[index + 1] if index + 1 < len(samples) else None
        step = following - value if isinstance(following, int | float) else 0
        index += 1
        while index < len(samples) and samples[index] == value + step * (index - begin):
            index += 1
        yield f"{value}{f'{step:+}' if step else ''}x{index - begin - 1}"

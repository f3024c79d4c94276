"""PromQL once more, as small as it gets: selectors, `rate` and sums over regular samples, for Prometheus 2 and 3.

Written from the language's definition and not from our rules, which are judged by it. Times and windows are whole
numbers of samples; a sample is a number, a stale marker, or nothing.
"""

from __future__ import annotations

from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Marker(Enum):
    """What stands where a series ends."""

    STALE = "stale"


Sample = float | Marker | None
LOOKBACK = 5  # samples: five minutes at one a minute


class Dialect(NamedTuple):
    """What differs between releases.

    `open` are windows without the sample at their very begin (from 3.0). `zero_last` is whether a counter is
    extrapolated down to zero after it is cut to half a sample, where it begins far inside the window (from 2.52).
    """

    open: bool
    zero_last: bool

    @classmethod
    def of(cls, version: Sequence[int]) -> Dialect:
        """That of a release."""
        return cls(tuple(version) >= (3,), tuple(version) >= (2, 52))


def instant(series: Sequence[Sample], at: int, dialect: Dialect) -> float | None:
    """The value of a series at a time: the last sample of the five minutes before, unless it has ended."""
    first = at - LOOKBACK + (1 if dialect.open else 0)
    for index in range(min(at, len(series) - 1), max(first, 0) - 1, -1):
        sample = series[index]
        if sample is not None:
            return None if sample is Marker.STALE else sample
    return None


def rate(series: Sequence[Sample], at: int, window: int, dialect: Dialect) -> float | None:
    """The increase of a counter per sample over a window, resets added, extrapolated to the window's ends."""
    first = max(at - window + (1 if dialect.open else 0), 0)
    values = [(index, one) for index, one in enumerate(series[first : at + 1], first) if isinstance(one, float)]
    if len(values) < 2:
        return None
    (begin, lowest), (end, highest) = values[0], values[-1]
    increase = highest - lowest + sum(before for (_, before), (_, after) in pairwise(values) if after < before)
    spanned = end - begin
    each = spanned / (len(values) - 1)
    to_begin, to_end, most = float(begin - (at - window)), float(at - end), each * 1.1
    to_zero = spanned * (lowest / increase) if increase > 0 else float("inf")
    if dialect.zero_last:
        to_begin = min(each / 2 if to_begin >= most else to_begin, to_zero)
    else:
        to_begin = min(to_begin, to_zero)
        to_begin = to_begin if to_begin < most else each / 2
    to_end = to_end if to_end < most else each / 2
    return increase * ((spanned + to_begin + to_end) / spanned) / window


def total(values: Sequence[float | None]) -> float | None:
    """The sum of those that are there; nothing where none is."""
    there = [value for value in values if value is not None]
    return sum(there) if there else None


def over_time(series: Sequence[float | None], at: int, window: int, dialect: Dialect) -> float | None:
    """The sum of a series' samples in a window."""
    return total(series[max(at - window + (1 if dialect.open else 0), 0) : at + 1])

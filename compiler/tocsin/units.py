"""Durations, shares, rates and amounts: exact inside, printed once."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

_SECOND = 1000
_UNITS = {"y": 365 * 86400, "w": 7 * 86400, "d": 86400, "h": 3600, "m": 60, "s": 1}
_DURATION = re.compile("".join(rf"(?:([0-9]{{1,9}}){unit})?" for unit in (*_UNITS, "ms")))
_DECIMAL = r"([0-9]{1,15}(?:\.[0-9]{1,15})?)"
_PERCENT = re.compile(rf"{_DECIMAL}\s*%")
_RATE = re.compile(rf"{_DECIMAL}\s*/\s*(s|min|h|d)")
_AMOUNT = re.compile(rf"{_DECIMAL}\s*([kMGT]?)")
_BIT_RATE = re.compile(rf"{_DECIMAL}\s*([MGT])b/s")
_PER = {"s": 1, "min": 60, "h": 3600, "d": 86400}
_PREFIX = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


class Duration(int):
    """A length of time in milliseconds, written as Prometheus writes it: `15s`, `1h30m`, `28d`."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Duration:
        """Read `1h30m`; ValueError for anything else, units out of order included."""
        return cls(_milliseconds(text))

    @classmethod
    def of(cls, *, days: int = 0, hours: int = 0, minutes: int = 0, seconds: int = 0) -> Duration:
        """A duration from whole numbers."""
        return cls((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * _SECOND)

    @property
    def seconds(self) -> Fraction:
        """The length in seconds, exact."""
        return Fraction(int(self), _SECOND)

    def __str__(self) -> str:
        return _shown(int(self))

    __repr__ = __str__


NO_TIME = Duration(0)


@lru_cache(maxsize=1024)
def _milliseconds(text: str) -> int:
    found = _DURATION.fullmatch(text.strip())
    if not text.strip() or not found:
        raise ValueError(text)
    *units, ms = found.groups()
    total = sum(int(n or 0) * size for n, size in zip(units, _UNITS.values(), strict=True))
    return total * _SECOND + int(ms or 0)


@lru_cache(maxsize=256)
def _shown(rest: int) -> str:
    """Days and smaller: weeks and years would hide how long a window is."""
    parts = ""
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, rest = divmod(rest, size)
        parts += f"{count}{unit}" if count else ""
    return parts or "0s"


@lru_cache(maxsize=1024)
def parse_percent(text: str) -> Fraction:
    """`99.5%` as 199/200; ValueError without the sign, since 99.5 and 0.995 look alike at night."""
    found = _PERCENT.fullmatch(text.strip())
    if not found:
        raise ValueError(text)
    return Fraction(found[1]) / 100


@lru_cache(maxsize=1024)
def parse_rate(text: str) -> Fraction:
    """`20/s`, `1200/min` in events per second; ValueError for anything else."""
    found = _RATE.fullmatch(text.strip())
    if not found:
        raise ValueError(text)
    return Fraction(found[1]) / _PER[found[2]]


@lru_cache(maxsize=1024)
def parse_amount(text: str) -> Fraction:
    """`5M`, `200k`, `50`; ValueError for anything else."""
    found = _AMOUNT.fullmatch(text.strip())
    if not found:
        raise ValueError(text)
    return Fraction(found[1]) * _PREFIX[found[2]]


def parse_bit_rate(text: str) -> Fraction:
    """`400Gb/s` in bits per second; ValueError for anything else."""
    found = _BIT_RATE.fullmatch(text.strip())
    if not found:
        raise ValueError(text)
    return Fraction(found[1]) * _PREFIX[found[2]]


@lru_cache(maxsize=1024)
def number(value: Fraction | int, digits: int = 12) -> str:
    """A number as PromQL and people read it: exact where it ends, else rounded to `digits` significant digits."""
    value = Fraction(value)
    places = _places(value.denominator)
    if places is None or places > 20:
        places = max(digits - 1 - _magnitude(abs(value)), 0)
    if places == 0:
        return str(round(value))
    whole, part = divmod(round(abs(value) * 10**places), 10**places)
    text = f"{whole}.{part:0{places}d}".rstrip("0").rstrip(".")
    return f"-{text}" if value < 0 and text != "0" else text


def _places(denominator: int) -> int | None:
    """How many decimal places a fraction in lowest terms has; None where they do not end."""
    twos = (denominator & -denominator).bit_length() - 1
    rest = denominator >> twos
    fives = 0
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    return max(twos, fives) if rest == 1 else None


def _magnitude(value: Fraction) -> int:
    """The power of ten of the first digit of a value above 0."""
    power = len(str(value.numerator)) - len(str(value.denominator))
    return power if value >= Fraction(10) ** power else power - 1


@lru_cache(maxsize=1024)
def percent(value: Fraction) -> str:
    """A share as people read it: 199/200 is `99.5%`."""
    return f"{number(value * 100)}%"


@lru_cache(maxsize=1024)
def amount(value: Fraction | int) -> str:
    """A number as people read it: to three digits and with its prefix, so 98 000 is `98k` and 1 470 000 is `1.47M`."""
    for prefix, size in reversed(_PREFIX.items()):
        if abs(Fraction(value)) >= size:
            return f"{number(_rounded(Fraction(value) / size))}{prefix}"
    return number(_rounded(Fraction(value)))


def _rounded(value: Fraction) -> Fraction:
    return round(value, 2 - _magnitude(abs(value))) if value else value

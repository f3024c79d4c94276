"""What the numbers of a series are: their reading, their unit, and between which bounds they lie."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin.catalog import units

if TYPE_CHECKING:
    from tocsin.catalog.kinds import Metric

Dimension = tuple[tuple[str, int], ...]  # powers of base units, none of them 0


class Quantity(NamedTuple):
    """What a value is.

    `reading` is one of the catalogue's, or rate (of a counter, per second), increase (of a counter within a window),
    number (a constant or what was made of several things) or any (nothing is known). `of` and `times` are its unit,
    None where nothing is known of it; `unit` is how that is called, empty once it was converted. `metric` is where the
    value comes from, as long as it is one metric's. `low` and `high` bound it; `constant` is a constant's value;
    `share` is a part of a whole; `whole` says that things were added up, so that bounds of one do not hold.
    """

    reading: str = "any"
    unit: str = ""
    of: Dimension | None = None
    times: Fraction | None = None
    metric: Metric | None = None
    low: float | None = None
    high: float | None = None
    constant: float | None = None
    share: bool = False
    whole: bool = False

    @property
    def is_gauge(self) -> bool:
        """Whether it can go down without a restart."""
        return self.reading not in ("any", "total", "number")

    @property
    def name(self) -> str:
        """What a message calls it."""
        return self.metric.name if self.metric else "this"

    @property
    def physical(self) -> bool:
        """Whether it is measured, not counted."""
        return bool(self.of) and any(base != "second" for base, _ in self.of or ())


ANY = Quantity()
_BOUNDS = {"flag": (0.0, 1.0), "ratio": (0.0, 1.0), "percent": (0.0, 100.0), "info": (1.0, 1.0)}


def constant(value: float) -> Quantity:
    """A number that stands in the text."""
    return Quantity("number", constant=value, low=value, high=value)


def number(low: float | None = None, high: float | None = None) -> Quantity:
    """A number of nothing in particular."""
    return Quantity("number", low=low, high=high)


def of_metric(metric: Metric, part: str = "") -> Quantity:
    """What the catalogue says of a metric; `part` is `_bucket`, `_sum` or `_count` of a histogram."""
    reading = "total" if metric.type == "counter" or part else metric.reading
    if metric.type == "histogram" and not part:
        return ANY
    unit = units().get(metric.unit) if part in ("", "_sum") else None
    low, high = _BOUNDS.get(reading, (0.0 if reading in ("total", "bits", "code", "window") else None, None))
    return Quantity(
        reading,
        metric.unit if part in ("", "_sum") else "observations",
        unit.of if unit else (),
        unit.times if unit else Fraction(1),
        metric,
        low,
        high,
        share=bool(unit and unit.share),
    )


def per_second(of: Dimension | None) -> Dimension | None:
    """The dimension of a rate."""
    return None if of is None else multiplied(of, (("second", -1),))


def multiplied(left: Dimension, right: Dimension, power: int = 1) -> Dimension:
    """The dimension of a product, or of a quotient where `power` is -1."""
    powers = dict(left)
    for base, exponent in right:
        powers[base] = powers.get(base, 0) + power * exponent
    return tuple(sorted((base, exponent) for base, exponent in powers.items() if exponent))


def dimension_text(of: Dimension, times: Fraction | None) -> str:
    """A unit in words: its name where it has one."""
    for unit in units().values():
        if unit.of == of and unit.times == times:
            return unit.name
    return next((f"a multiple of {unit.name}" for unit in units().values() if unit.of == of), "another unit")


def plain(value: float) -> str:
    """A number as people write it: 1e9 is `1e9`, and 0.05 is `0.05`."""
    text = f"{value:.10g}"
    mantissa, _, exponent = text.partition("e")
    if exponent:
        return f"{mantissa}e{int(exponent)}"
    zeros = len(text) - len(text.rstrip("0"))
    return f"1e{zeros}" if zeros >= 6 and text.rstrip("0") == "1" and "." not in text else text

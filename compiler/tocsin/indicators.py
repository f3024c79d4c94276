"""What an SLO looks at: its service level indicator, as resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from fractions import Fraction

    from tocsin.promql import Selector
    from tocsin.units import Duration

SLICED = ("time_slice", "throughput", "slowdown", "utilisation", "composite")  # the kinds that count slices of time
GAUGES = ("while", "gauge")  # the keys of selectors whose values are read as they are; of others, rates are
# The least past, in unit windows, by which a job is judged: of twelve, the two that one odd moment spoils are few.
BASELINE_UNITS = 12


class Ratio(NamedTuple):
    """Bad events among all, each a counter. Exactly one of `bad` and `good` is given."""

    total: Selector
    bad: Selector | None
    good: Selector | None

    @property
    def told(self) -> Selector:
        """The events that the spec tells apart, bad or good."""
        return self.bad or self.good or self.total

    @property
    def selectors(self) -> dict[str, Selector]:
        """Every selector by its key in the spec."""
        named = {"bad": self.bad, "good": self.good, "total": self.total}
        return {key: selector for key, selector in named.items() if selector is not None}


class Slices(NamedTuple):
    """Time, cut in slices: one ends every `every`, at each evaluation of the rules. It looks back `look`."""

    every: Duration
    look: Duration


class TimeSlice(NamedTuple):
    """Slices in which a counter rises by `at_least` a second, while `expected`, a gauge, is 1 for `grace` already.

    Without `expected` the counter should always rise. `key` is the selector's in the spec.
    """

    key: str
    counter: Selector
    at_least: Fraction
    expected: Selector | None
    grace: Duration
    slices: Slices

    @property
    def total(self) -> Selector:
        """The series that the indicator is about."""
        return self.counter

    @property
    def selectors(self) -> dict[str, Selector]:
        """Every selector by its key in the spec."""
        return _of_counter(self.key, self.counter, self.expected)


class Slowdown(NamedTuple):
    """Slices in which a counter rises as fast as it used to, or slower by less than the share `at_most`.

    How fast that was is seen over `baseline`. The rest is as in a time slice.
    """

    key: str
    counter: Selector
    at_most: Fraction
    baseline: Duration
    expected: Selector
    grace: Duration
    slices: Slices

    @property
    def total(self) -> Selector:
        """The series that the indicator is about."""
        return self.counter

    @property
    def selectors(self) -> dict[str, Selector]:
        """Every selector by its key in the spec."""
        return _of_counter(self.key, self.counter, self.expected)


class Utilisation(NamedTuple):
    """Boards at work, each a slice of its own, whose `gauge` is `at_least` so high, in the gauge's own unit."""

    gauge: Selector
    at_least: Fraction
    slices: Slices

    @property
    def total(self) -> Selector:
        """The series that the indicator is about."""
        return self.gauge

    @property
    def selectors(self) -> dict[str, Selector]:
        """Every selector by its key in the spec."""
        return {"gauge": self.gauge}


class Part(NamedTuple):
    """An SLO within a composite: the labels it is told by, its unit window, and the share that may be bad."""

    id: str
    by: tuple[str, ...]
    unit: Duration
    budget: Fraction


class Composite(NamedTuple):
    """Slices in which none of its parts fails more than its objective allows. `total` is what the first is about."""

    parts: tuple[Part, ...]
    total: Selector
    slices: Slices

    @property
    def selectors(self) -> dict[str, Selector]:
        """Nothing is selected but what the parts record."""
        return {}


def _of_counter(key: str, counter: Selector, expected: Selector | None) -> dict[str, Selector]:
    return {key: counter} if expected is None else {key: counter, "while": expected}


Indicator = Ratio | TimeSlice | Slowdown | Utilisation | Composite
Kind = TypeVar("Kind", bound=Indicator)


def of_kind(indicator: Indicator, kind: type[Kind]) -> Kind:
    """The indicator, which is of that kind; TypeError where the compiler takes it for another."""
    if not isinstance(indicator, kind):
        raise TypeError(indicator)
    return indicator


def ends(indicator: Indicator) -> bool:
    """Whether the spec says when nothing is to be expected: that it ends is then no surprise."""
    return getattr(indicator, "expected", None) is not None

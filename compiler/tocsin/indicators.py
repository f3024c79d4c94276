"""What an SLO looks at: its service level indicator, as resolved."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tocsin.promql import Matcher, Selector
from tocsin.units import number

if TYPE_CHECKING:
    from tocsin.units import Duration

SLICED = ("time_slice", "throughput", "slowdown", "utilisation", "composite")  # the kinds that count slices of time
GAUGES = ("while", "gauge")  # the keys of selectors whose values are read as they are; of others, rates are
# The least past, in unit windows, by which a job is judged: of twelve, the two that one odd moment spoils are few.
BASELINE_UNITS = 12
# The least share of a long window that a job must have run to be judged by it. Of a young job a pause of two minutes is
# a tenth: by the window of six hours somebody would be woken for it half an hour later, when it has long gone on.
COVERED = Fraction(3, 10)
# The units of time that a metric may have, in seconds.
TIMES = {
    **dict.fromkeys(("seconds", "s"), Fraction(1)),
    **dict.fromkeys(("milliseconds", "ms"), Fraction(1, 10**3)),
    **dict.fromkeys(("microseconds", "us"), Fraction(1, 10**6)),
    **dict.fromkeys(("nanoseconds", "ns"), Fraction(1, 10**9)),
}


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


class Latency(NamedTuple):
    """Events of a histogram, good those at most `below`, which is in the metric's unit.

    A classic histogram makes it a ratio of two of its series, of which one is the bucket that ends there.
    """

    histogram: Selector
    below: Fraction
    native: bool = False

    @property
    def total(self) -> Selector:
        """All events."""
        return self.histogram if self.native else self._part("_count")

    @property
    def ratio(self) -> Ratio:
        """The same of a classic histogram: each bucket counts the events of the smaller ones as well."""
        le = Matcher(0, 0, "le", "=~", spellings(self.below), 0, 0)
        return Ratio(self.total, None, self._part("_bucket", le))

    @property
    def selectors(self) -> dict[str, Selector]:
        """What the spec selects, as one of the series that there are."""
        return {"histogram": self.total}

    def _part(self, suffix: str, *more: Matcher) -> Selector:
        written = self.histogram
        return written._replace(metric=f"{written.metric}{suffix}", matchers=(*written.matchers, *more))


class Availability(NamedTuple):
    """A gauge that is 1 while something is there and 0 while it is not: its samples are the events, those of 0 bad.

    `pace` is how often it is scraped, where that is slowest.
    """

    gauge: Selector
    pace: Duration

    @property
    def total(self) -> Selector:
        """All events."""
        return self.gauge

    @property
    def selectors(self) -> dict[str, Selector]:
        """What the spec selects."""
        return {"gauge": self.gauge}


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


Indicator = Ratio | Latency | Availability | TimeSlice | Slowdown | Utilisation | Composite
Kind = TypeVar("Kind", bound=Indicator)


def of_kind(indicator: Indicator, kind: type[Kind]) -> Kind:
    """The indicator, which is of that kind; TypeError where the compiler takes it for another."""
    if not isinstance(indicator, kind):
        raise TypeError(indicator)
    return indicator


def in_unit(length: Duration, unit: str) -> Fraction | None:
    """A length of time in a metric's unit; None where that is none of time."""
    size = TIMES.get(unit)
    return None if size is None else length.seconds / size


def spellings(bound: Fraction) -> str:
    """A regular expression for a bucket's bound in every spelling of its `le`.

    Prometheus 2.x keeps what the exporter wrote, `1` or `1.0`; 3.x writes floats as OpenMetrics does. Go and Python
    alike write an exponent from a million on, and below a ten thousandth.
    """
    text = number(bound)
    plain = text.replace(".", "\\.") + "0*" if "." in text else f"{text}(\\.0+)?"
    digits = text.replace(".", "").strip("0") or "0"
    power = len(text.partition(".")[0]) - 1 if bound >= 1 else -(len(text) - len(text[2:].lstrip("0")) - 1)
    if -5 < power < 6:
        return plain
    mantissa = digits[0] + (f"\\.{digits[1:]}" if digits[1:] else "")
    sign = "-" if power < 0 else "\\+"
    return f"{plain}|{mantissa}e{sign}{abs(power):02}"


def ends(indicator: Indicator) -> bool:
    """Whether the spec says when nothing is to be expected: that it ends is then no surprise."""
    return getattr(indicator, "expected", None) is not None

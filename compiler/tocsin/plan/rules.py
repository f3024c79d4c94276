"""Rules, and the tests that prove them."""

from typing import NamedTuple

from tocsin.source import Span
from tocsin.units import NO_TIME, Duration


class Record(NamedTuple):
    """A recording rule."""

    name: str
    expr: str
    labels: dict[str, str]
    origin: Span


class Alert(NamedTuple):
    """An alerting rule; its expression must hold for `hold` before it fires, and it fires on for `keep` after."""

    name: str
    expr: str
    hold: Duration
    labels: dict[str, str]
    annotations: dict[str, str]
    origin: Span
    keep: Duration = NO_TIME


class Firing(NamedTuple):
    """One alert as it must fire: all its labels but the name, and its annotations as rendered."""

    labels: dict[str, str]
    annotations: dict[str, str]


class Expectation(NamedTuple):
    """At `at`, the alert fires exactly so often."""

    at: Duration
    alert: str
    firing: tuple[Firing, ...]


class Reading(NamedTuple):
    """At `at`, an expression has exactly these samples, each the series' name with its labels and the value."""

    at: Duration
    expr: str
    samples: tuple[tuple[str, str], ...]


class RuleTest(NamedTuple):
    """A promtool unit test: series in promtool's notation, one sample an `interval`, and what must hold when.

    Rules are evaluated every `pace`, which is the interval where it is not said. What is proven `once` holds in all
    files of the same groups, whatever stands for the blanks: the first of them has the test.
    """

    name: str
    interval: Duration
    series: tuple[tuple[str, str], ...]
    expectations: tuple[Expectation, ...]
    origin: Span
    readings: tuple[Reading, ...] = ()
    pace: Duration | None = None
    once: bool = False


class RuleGroup(NamedTuple):
    """Rules that are evaluated in their order, with their proof; a chain of records and alerts lives in one group.

    They are evaluated every `interval`, or as often as all others.
    """

    name: str
    rules: tuple[Record | Alert, ...]
    tests: tuple[RuleTest, ...]
    interval: Duration | None = None


class RuleFile(NamedTuple):
    """One file of rules and the file of tests that proves every alert of it.

    The rules of a file that is `per_node` look at one node at a time: they hold on a shard, which has some nodes whole.
    Files that differ in some texts only have the same groups, with blanks: `blanks` says what stands for what in this
    one, which comes from `origin`. Blanks and what stands for them are such that they need the same quotes in YAML.
    `beside` are files whose records its tests need, each with one group of its name.
    Those of one that is `everywhere` look at the server itself.
    """

    name: str
    groups: tuple[RuleGroup, ...]
    per_node: bool = False
    blanks: tuple[tuple[str, str], ...] = ()
    origin: Span | None = None

    beside: tuple[str, ...] = ()
    everywhere: bool = False

    def filled(self, text: str) -> str:
        """A text of the groups without blanks, each of which has a `?`."""
        if "?" in text:
            for blank, value in self.blanks:
                text = text.replace(blank, value)
        return text

    @property
    def path(self) -> str:
        """Where the rules go."""
        return f"rules/{self.name}.yml"

    @property
    def test_path(self) -> str:
        """Where the tests go."""
        return f"tests/{self.name}.yml"

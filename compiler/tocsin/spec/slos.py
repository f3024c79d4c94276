"""`slos`: what is promised to whom, over how long."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from tocsin import units
from tocsin.spec.scalars import Amount, Duration, Grace, LabelName, Name, Percent, Rate, Section, SignalId, Text

Severity = Literal["page", "ticket"]

# PyTorch gives the ranks of a job so long to find each other before it fails by itself (torch.distributed,
# default_pg_nccl_timeout): a job that has done no step by then is not starting any more.
GRACE = units.Duration.of(minutes=10)
# A shift: longer than any warm-up or checkpoint, short enough that a job of the day is measured by itself.
BASELINE = units.Duration.of(hours=6)


class Ratio(Section):
    """Events: the bad or the good ones, and all. Each is a selector of a counter; rates and sums are added."""

    bad: Text | None = None
    good: Text | None = None
    total: Text


class Latency(Section):
    """Events of a histogram, which is named without `_bucket`; good are those that took no longer than `below`.

    A `native` one has its buckets wherever its events are: `below` need not be a bound of them.
    """

    histogram: Text
    below: Duration
    native: bool = False


class Availability(Section):
    """A gauge that is 1 while something is there and 0 while it is not: each of its samples is an event."""

    gauge: Text


class TimeSlice(Section):
    """Time while something should run: bad where its counter rises by less than `at_least`, or not at all.

    `while` is a gauge that is 1 while it should, a signal or a selector. Slices count once it was so for `grace`.
    """

    signal: SignalId | None = None
    counter: Text | None = None
    at_least: Rate
    while_: Text = Field(alias="while")
    grace: Grace = GRACE


class Throughput(Section):
    """Time in which a counter that always rises does so: bad where it rises by less than `at_least`."""

    signal: SignalId | None = None
    counter: Text | None = None
    at_least: Rate


class Slowdown(Section):
    """As a time slice, but measured by its own past: bad where it is slower than its `baseline` by `at_most`."""

    signal: SignalId | None = None
    counter: Text | None = None
    at_most: Percent
    baseline: Duration = BASELINE
    while_: Text = Field(alias="while")
    grace: Grace = GRACE


class Utilisation(Section):
    """Boards at work: bad is each board for each slice in which the gauge, a percentage or a ratio, is lower."""

    gauge: Text
    at_least: Percent


class Composite(Section):
    """Several SLOs as one: a slice is bad where any of them fails more than its own objective allows."""

    of: list[Name] = Field(min_length=1)


class Traffic(Section):
    """How much happens: below `min_events` in an alert's long window nobody is paged."""

    expected: Rate | None = None
    min_events: Amount | None = None


class Window(Section):
    """One burn-rate alert: it fires where the budget burns at `factor` times its pace, or a share is `spent`."""

    long: Duration
    short: Duration | None = None
    hold: Duration | None = Field(default=None, alias="for")
    factor: Amount | None = None
    spent: Percent | None = None
    severity: Severity


class Alerts(Section):
    """When an SLO alerts: by a published `table`, whose severities can be changed, or by `windows` of its own."""

    table: Literal["workbook", "sloth", "pyrra"] = "workbook"
    severities: dict[Duration, Severity] = Field(default_factory=dict)
    windows: list[Window] | None = Field(default=None, min_length=1, max_length=8)


_TRAFFIC, _ALERTS = Traffic.model_construct(), Alerts.model_construct()


class Slo(Section):
    """An objective over a rolling period, one budget for each combination of the `by` labels, over one indicator."""

    owner: Name
    objective: Percent
    period: Duration
    by: list[LabelName] = Field(default=["cluster"], min_length=1)
    ratio: Ratio | None = None
    latency: Latency | None = None
    availability: Availability | None = None
    time_slice: TimeSlice | None = None
    throughput: Throughput | None = None
    slowdown: Slowdown | None = None
    utilisation: Utilisation | None = None
    composite: Composite | None = None
    traffic: Traffic = Field(default_factory=lambda: _TRAFFIC)  # a default that is no factory is copied each time
    no_traffic: Literal["good", "ignore", "bad"] = "ignore"
    alerts: Alerts = Field(default_factory=lambda: _ALERTS)


# The keys of an SLO that say what is counted; it has exactly one.
INDICATORS = ("ratio", "latency", "availability", "time_slice", "throughput", "slowdown", "utilisation", "composite")
# The keys of an indicator that select series.
SELECTORS = {
    "ratio": ("bad", "good", "total"),
    "latency": ("histogram",),
    "availability": ("gauge",),
    "time_slice": ("counter", "while"),
    "throughput": ("counter",),
    "slowdown": ("counter", "while"),
    "utilisation": ("gauge",),
}


def selected(slo: Slo) -> Iterator[tuple[str, str, str]]:
    """What an SLO's indicators name, signals and selectors, as kind, key and text; whether it is sound is not asked."""
    for kind, keys in SELECTORS.items():
        section = getattr(slo, kind, None)
        for key in ("signal", *keys) if section else ():
            text = getattr(section, key, None) or getattr(section, f"{key}_", None)
            if isinstance(text, str):
                yield kind, key, text

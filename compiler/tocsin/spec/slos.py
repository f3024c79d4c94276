"""`slos`: what is promised to whom, over how long."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tocsin.spec.scalars import Amount, Duration, LabelName, Name, Percent, Rate, Section, Text

Severity = Literal["page", "ticket"]


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
    traffic: Traffic = Field(default_factory=lambda: _TRAFFIC)  # a default that is no factory is copied each time
    no_traffic: Literal["good", "ignore", "bad"] = "ignore"
    alerts: Alerts = Field(default_factory=lambda: _ALERTS)


INDICATORS = ("ratio", "latency", "availability")  # the keys of an SLO that say what is counted; it has exactly one

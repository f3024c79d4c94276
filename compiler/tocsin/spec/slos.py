"""`slos`: what is promised to whom, over how long."""

from pydantic import Field

from tocsin.spec.scalars import Amount, Duration, LabelName, Name, Percent, Rate, Section, Text


class Ratio(Section):
    """Events: the bad or the good ones, and all. Each is a selector of a counter; rates and sums are added."""

    bad: Text | None = None
    good: Text | None = None
    total: Text


class Traffic(Section):
    """How much happens: below `min_events` in an alert's long window nobody is paged."""

    expected: Rate | None = None
    min_events: Amount | None = None


class Slo(Section):
    """An objective over a rolling period, one budget for each combination of the `by` labels."""

    owner: Name
    objective: Percent
    period: Duration
    by: list[LabelName] = Field(default=["cluster"], min_length=1)
    ratio: Ratio
    traffic: Traffic = Traffic.model_construct()

"""`collection`: how often is looked, and what becomes of series that break the label schema."""

from typing import Literal

from pydantic import Field

from tocsin.spec.deep import Deep
from tocsin.spec.scalars import Amount, Interval, Name, Section, Text
from tocsin.spec.servers import Budget, Servers
from tocsin.units import Duration as Length


class Intervals(Section):
    """Scrape intervals: of the exporters, and of each workload class."""

    default: Interval = Length.of(seconds=15)
    training: Interval = Length.of(seconds=15)
    inference: Interval = Length.of(seconds=15)


class Collection(Section):
    """How the signals are collected.

    `refresh` is how often dcgm-exporter reads its boards; as often as it is scraped, unless the spec says so.
    `other_series` says of a job how many series each of its targets has beside those that tocsin knows, `entities` how
    many one target shows of what the spec does not list: pods, switch ports, queues.
    """

    intervals: Intervals = Intervals.model_construct()
    refresh: Interval | None = None
    deep: Deep | None = None
    on_violation: Literal["quarantine", "drop"] = "quarantine"
    servers: Servers = Servers.model_construct()
    budget: Budget = Budget.model_construct()
    other_series: dict[Name, Amount] = Field(default={})
    entities: dict[Text, Amount] = Field(default={})

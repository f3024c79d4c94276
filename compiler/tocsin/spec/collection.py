"""`collection`: how often is looked, and what becomes of series that break the label schema."""

from typing import Literal

from tocsin.spec.scalars import Interval, Section
from tocsin.units import Duration as Length


class Intervals(Section):
    """Scrape intervals: of the exporters, and of each workload class."""

    default: Interval = Length.of(seconds=15)
    training: Interval = Length.of(seconds=15)
    inference: Interval = Length.of(seconds=15)


class Collection(Section):
    """How the signals are collected."""

    intervals: Intervals = Intervals.model_construct()
    on_violation: Literal["quarantine", "drop"] = "quarantine"

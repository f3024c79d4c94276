"""`collection`: how often is looked."""

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

"""`collection`: how often is looked."""

from tocsin.spec.scalars import Duration, Section
from tocsin.units import Duration as Length


class Intervals(Section):
    """Scrape intervals: of the exporters, and of each workload class."""

    default: Duration = Length.of(seconds=15)
    training: Duration = Length.of(seconds=15)
    inference: Duration = Length.of(seconds=15)


class Collection(Section):
    """How the signals are collected."""

    intervals: Intervals = Intervals.model_construct()

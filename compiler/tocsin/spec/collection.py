"""`collection`: how often is looked."""

from tocsin.spec.deep import Deep
from tocsin.spec.scalars import Interval, Section
from tocsin.units import Duration as Length


class Intervals(Section):
    """Scrape intervals: of the exporters, and of each workload class."""

    default: Interval = Length.of(seconds=15)
    training: Interval = Length.of(seconds=15)
    inference: Interval = Length.of(seconds=15)


class Collection(Section):
    """How the signals are collected.

    `refresh` is how often dcgm-exporter reads its boards; as often as it is scraped, unless the spec says so.
    """

    intervals: Intervals = Intervals.model_construct()
    refresh: Interval | None = None
    deep: Deep | None = None

"""What a factory collects: signals, the labels that series carry, and what is scraped for active jobs only."""

from collections.abc import Collection
from typing import NamedTuple

from tocsin.catalog.kinds import Metric
from tocsin.pattern import matches
from tocsin.source import Span
from tocsin.units import Duration


class Label(NamedTuple):
    """A label of the schema; `values` is a closed list, `pattern` an anchored regular expression, both may be None.

    `max_values` is how many values it may have at a time, None where that is not bounded.
    """

    name: str
    values: Collection[str] | None
    pattern: str | None
    origin: Span
    max_values: int | None = None

    def allows(self, value: str) -> bool:
        """Whether a value lies in the label's domain; a label without one allows all."""
        if self.values is not None:
            return value in self.values
        return self.pattern is None or matches(self.pattern, value)


class Signal(NamedTuple):
    """A signal that this factory collects, with its one owner."""

    id: str
    layer: str
    owner: str
    meaning: str
    metrics: tuple[Metric, ...]
    mandatory: bool
    label: str
    origin: Span


class Deep(NamedTuple):
    """Signals that are scraped only where a job is active, every `interval`, from an exporter of their own.

    `refresh` is how often that exporter reads its boards. `targets` is a folder that Prometheus and the nodes of Slurm
    share, `jobs` the folder of dcgm-exporter's job mapping on each of these. `signals` by id, with the place that asks
    for each.
    """

    signals: dict[str, Span]
    interval: Duration
    refresh: Duration
    port: int
    targets: str
    jobs: str
    origin: Span

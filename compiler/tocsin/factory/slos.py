"""Objectives, resolved."""

from fractions import Fraction
from typing import NamedTuple

from tocsin.burn import Pair, Windows
from tocsin.indicators import Indicator
from tocsin.source import Span
from tocsin.units import Duration


class Slo(NamedTuple):
    """An objective over what its indicator counts; `kind` is the indicator's key in the spec.

    `objective` is the share of good events, `expected` events per second, `least` the events that a long window must
    have to be judged, `covered` the share of it that must have slices, `idle` what no events are: good, bad, or to be
    ignored. `pairs` are its burn-rate alerts, which look at its `windows`.
    """

    id: str
    owner: str
    layer: str
    objective: Fraction
    period: Duration
    by: tuple[str, ...]
    kind: str
    indicator: Indicator
    pairs: tuple[Pair, ...]
    windows: Windows
    expected: Fraction | None
    least: Fraction
    covered: Fraction
    idle: str
    origin: Span

    @property
    def budget(self) -> Fraction:
        """The share of events that may be bad."""
        return 1 - self.objective

    def enough(self, pair: Pair) -> Fraction:
        """The events that the long window of a pair must have for its alert, slices as seconds."""
        return max(self.least, self.covered * pair.long.seconds)

"""How time and memory grow with the number of SLOs, or of nodes."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .clock import Sample, Spread

SIZES = (1_000, 2_500, 5_000, 10_000)


def exponent(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """The k of cost ~ size^k: the slope of the least-squares line through the logarithms; 1 is linear, 2 quadratic."""
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(cost) for cost in costs]).slope


@dataclass(frozen=True, slots=True)
class Growth:
    """The samples of several rounds, each round with a sample for every one of `sizes`, in that order."""

    unit: str
    sizes: Sequence[int]
    rounds: Sequence[Sequence[Sample]]

    def time_exponent(self) -> Spread:
        """The exponents of wall-clock time, one of each round."""
        return Spread.of(exponent(self.sizes, [sample.seconds for sample in samples]) for samples in self.rounds)

    def memory_exponent(self) -> Spread:
        """The exponents of peak memory, one of each round."""
        return Spread.of(exponent(self.sizes, [sample.peak for sample in samples]) for samples in self.rounds)

    def lines(self) -> list[tuple[str, ...]]:
        """A heading and a line for each size, of medians: all and per SLO, of time, of peak memory and of rules."""
        each = f"per {self.unit}"
        cells: list[tuple[str, ...]] = [(f"{self.unit}s", "time", each, "peak memory", each, "rules", each)]
        for position, size in enumerate(self.sizes):
            samples = [samples[position] for samples in self.rounds]
            seconds = statistics.median(sample.seconds for sample in samples)
            peak = statistics.median(sample.peak for sample in samples)
            rules = samples[0].rules
            cells.append(
                (
                    f"{size:,}",
                    f"{seconds:.2f} s",
                    f"{1e3 * seconds / size:.2f} ms",
                    f"{peak / 1e6:.0f} MB",
                    f"{peak / 1e3 / size:.0f} kB",
                    f"{rules:,}",
                    f"{rules / size:.1f}",
                )
            )
        return cells

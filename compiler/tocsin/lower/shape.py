"""The shape of an SLO: all of it that is numbers. What depends on nothing else is worked out once for many SLOs.

Such texts have `ID` where an SLO's own id belongs, in quotes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction

    from tocsin.burn import Pair, Windows
    from tocsin.factory import Slo
    from tocsin.units import Duration

ID = '"?"'
ME = f"{{slo={ID}}}"  # what selects an SLO's own series


class Shape(NamedTuple):
    """The numbers of an SLO. Its period `is_here` where the servers that evaluate its alerts keep that much.

    `tells_bad` is whether its indicator names the bad events; they are `in_total` where they are some of its series.
    """

    period: Duration
    budget: Fraction
    least: Fraction
    expected: Fraction | None
    idle: str
    pairs: tuple[Pair, ...]
    windows: Windows
    is_here: bool
    tells_bad: bool
    in_total: bool


def shape_of(slo: Slo, *, is_here: bool) -> Shape:
    """The shape of an SLO."""
    ratio = slo.indicator
    return Shape(
        period=slo.period,
        budget=slo.budget,
        least=slo.least,
        expected=slo.expected,
        idle=slo.idle,
        pairs=slo.pairs,
        windows=slo.windows,
        is_here=is_here,
        tells_bad=ratio.bad is not None,
        in_total=ratio.told.metric == ratio.total.metric,
    )

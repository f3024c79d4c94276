"""What an SLO looks at: its service level indicator, as resolved."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tocsin.promql import Selector


class Ratio(NamedTuple):
    """Bad events among all, each a counter. Exactly one of `bad` and `good` is given."""

    total: Selector
    bad: Selector | None
    good: Selector | None

    @property
    def told(self) -> Selector:
        """The events that the spec tells apart, bad or good."""
        return self.bad or self.good or self.total

    @property
    def selectors(self) -> dict[str, Selector]:
        """Every selector by its key in the spec."""
        named = {"bad": self.bad, "good": self.good, "total": self.total}
        return {key: selector for key, selector in named.items() if selector is not None}


Indicator = Ratio

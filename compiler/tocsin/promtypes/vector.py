"""The type of an expression: its numbers, its labels, and what tells one of its series from another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.promtypes.labels import ANY_LABELS, NO_LABELS, Labels
from tocsin.promtypes.quantity import ANY, Quantity

if TYPE_CHECKING:
    from tocsin.promtypes.findings import Finding

_NOTHING: frozenset[str] = frozenset()


class Vector(NamedTuple):
    """An instant vector, a range of one, or a scalar (which has no labels).

    `key` are labels that tell its series apart, None where that is not known. `copies` are those of them under which
    one and the same value is repeated, and `entity` the labels of what a value belongs to. `filled` is a vector that is
    never empty. `doubled` and `standing` are doubts, told unless what follows makes them harmless: values that are
    added up several times, and what nothing says the beginning of. `window` is the range and `interval` how often its
    samples come, in milliseconds. `sum_of` says that a counter was added up, `pinned` that a matcher names one place.
    `job` is the value of that label where it is known.
    """

    quantity: Quantity = ANY
    labels: Labels = ANY_LABELS
    key: frozenset[str] | None = None
    copies: frozenset[str] = _NOTHING
    entity: tuple[str, ...] = ()
    filled: bool = False
    doubled: tuple[Finding, ...] = ()
    standing: tuple[Finding, ...] = ()
    window: int = 0
    interval: int = 0
    sum_of: bool = False
    pinned: bool = False
    job: str = ""

    @property
    def unsound(self) -> Vector:
        """What is left of it where its numbers mean nothing, which is told: no further mistake follows from them."""
        return self._replace(quantity=ANY, copies=_NOTHING, standing=())

    def of(self, quantity: Quantity) -> Vector:
        """The same series with other numbers."""
        return self._replace(quantity=quantity)


def scalar(quantity: Quantity) -> Vector:
    """A scalar."""
    return Vector(quantity, NO_LABELS, _NOTHING, filled=True)

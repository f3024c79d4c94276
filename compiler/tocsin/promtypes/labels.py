"""Which labels the series of an expression have."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_NONE: frozenset[str] = frozenset()


def implied(names: Iterable[str]) -> frozenset[str]:
    """These labels and what they say of the place: a board is on one node, and has one number, device and bus there."""
    known = frozenset(names)
    if known & {"node", "instance"} and known & {"gpu", "device", "pci_bus_id"}:
        known |= {"gpu_uuid"}
    return known | {"node"} if known & {"gpu_uuid", "instance"} else known


class Labels(NamedTuple):
    """Those that every series has, those that some may have; where it is `open`, any other but the `gone` ones too."""

    certain: frozenset[str] = _NONE
    maybe: frozenset[str] = _NONE
    open: bool = False
    gone: frozenset[str] = _NONE

    @property
    def known(self) -> frozenset[str]:
        """All whose name is known."""
        return self.certain | self.maybe

    def can_be(self, label: str) -> bool:
        """Whether a series can have the label."""
        return label in self.known or (self.open and label not in self.gone)

    def only(self, names: Iterable[str]) -> Labels:
        """What is left of them where these are kept."""
        kept = frozenset(names)
        maybe = kept - self.certain if self.open else kept & self.maybe
        return Labels(kept & self.certain, maybe - self.gone)

    def without(self, names: Iterable[str]) -> Labels:
        """What is left of them where these are taken off."""
        taken = frozenset(names)
        return Labels(self.certain - taken, self.maybe - taken, self.open, self.gone | taken if self.open else _NONE)

    def plus(self, names: Iterable[str], *, certain: bool = False) -> Labels:
        """Them and these."""
        added = frozenset(names)
        if certain:
            return Labels(self.certain | added, self.maybe - added, self.open, self.gone - added)
        return Labels(self.certain, self.maybe | (added - self.certain), self.open, self.gone - added)

    def either(self, other: Labels) -> Labels:
        """Those of a series of one or the other."""
        certain = self.certain & other.certain
        open_ = self.open or other.open
        gone = frozenset(
            label for label in self.gone | other.gone if not self.can_be(label) and not other.can_be(label)
        )
        return Labels(certain, (self.known | other.known) - certain, open_, gone if open_ else _NONE)


NO_LABELS = Labels()
ANY_LABELS = Labels(open=True)

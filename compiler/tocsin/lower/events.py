"""What an indicator counts, as PromQL: all events and bad ones per second, over a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.units import Duration


class Events(NamedTuple):
    """Expressions of the events per second over a window, all and the bad ones, by the labels of the SLO.

    `before` are further series that are recorded for them, by name, before them and as often.
    """

    total: Callable[[Duration], str]
    errors: Callable[[Duration], str]
    before: tuple[tuple[str, str], ...] = ()

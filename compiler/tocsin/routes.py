"""What Alertmanager does with an alert: the routes that it takes, when they are silent, and what inhibits it.

As in Alertmanager 0.25 to 0.34: `dispatch/route.go`, `inhibit/inhibit.go` and `timeinterval/timeinterval.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.pattern import matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from tocsin.hours import Window
    from tocsin.source import Span
    from tocsin.units import Duration

    Labels = Mapping[str, str]


class Matcher(NamedTuple):
    """What is asked of one label; one that is not there is an empty one. `op` is =, !=, =~ or !~."""

    label: str
    value: str
    op: str = "="

    def takes(self, labels: Labels) -> bool:
        """Whether an alert passes."""
        found = labels.get(self.label, "")
        is_same = matches(self.value, found) if "~" in self.op else found == self.value
        return is_same != self.op.startswith("!")

    def __str__(self) -> str:
        """As every Alertmanager reads it alike, whichever way of parsing matchers is switched on."""
        value = self.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'{self.label}{self.op}"{value}"'


class Route(NamedTuple):
    """A node of the routing tree. Empty timings and groupings are the parent's; time intervals are its own.

    With `goes_on`, what it takes is offered to its next siblings as well.
    """

    receiver: str
    origin: Span
    matchers: tuple[Matcher, ...] = ()
    group_by: tuple[str, ...] = ()
    wait: Duration | None = None
    interval: Duration | None = None
    repeat: Duration | None = None
    children: tuple[Route, ...] = ()
    goes_on: bool = False
    muted: tuple[str, ...] = ()
    active: tuple[str, ...] = ()


class TimeInterval(NamedTuple):
    """A name for windows of time, which routes refer to."""

    name: str
    windows: tuple[Window, ...]
    origin: Span

    def holds(self, at: datetime) -> bool:
        """Whether a moment lies in one of the windows."""
        return any(window.holds(at) for window in self.windows)


class Inhibition(NamedTuple):
    """While an alert that passes `source` fires, those that pass `target` and have its `equal` labels are not told.

    An alert that passes both is no cause of another such. Later releases remember one cause for each set of equal
    labels, which may be that one: then they miss the others. `name` is for readers.
    """

    name: str
    source: tuple[Matcher, ...]
    target: tuple[Matcher, ...]
    equal: tuple[str, ...]
    origin: Span

    def silences(self, source: Labels, target: Labels) -> bool:
        """Whether one alert keeps the other from being told; one that passes both sides does not silence itself."""
        if not takes(self.source, source) or not takes(self.target, target):
            return False
        if takes(self.source, target) and takes(self.target, source):
            return False
        return all(source.get(label, "") == target.get(label, "") for label in self.equal)


def takes(matchers: Sequence[Matcher], labels: Labels) -> bool:
    """Whether an alert passes all matchers."""
    return all(matcher.takes(labels) for matcher in matchers)


def taken(root: Route, labels: Labels) -> tuple[Route, ...]:
    """The routes that tell an alert, in their order; none where the root itself refuses it."""
    if not takes(root.matchers, labels):
        return ()
    found: list[Route] = []
    for child in root.children:
        below = taken(child, labels)
        found += below
        if below and not child.goes_on:
            break
    return tuple(found) or (root,)


def walk(root: Route) -> Iterator[Route]:
    """A route and all below it."""
    yield root
    for child in root.children:
        yield from walk(child)


def is_silent(route: Route, intervals: Mapping[str, TimeInterval], at: datetime) -> bool:
    """Whether a route tells nothing at a moment: it is muted, or its hours are over."""
    if any(intervals[name].holds(at) for name in route.muted):
        return True
    return bool(route.active) and not any(intervals[name].holds(at) for name in route.active)


def inhibitor(inhibitions: Sequence[Inhibition], alert: Labels, firing: Sequence[Labels]) -> Labels | None:
    """The first alert of those that fire which keeps this one from being told; one that is silent itself does, too."""
    for inhibition in inhibitions:
        if takes(inhibition.target, alert):
            for other in firing:
                if inhibition.silences(other, alert):
                    return other
    return None


def told(
    root: Route,
    intervals: Mapping[str, TimeInterval],
    inhibitions: Sequence[Inhibition],
    firing: Sequence[Labels],
    at: datetime,
) -> list[tuple[str, ...]]:
    """For each of the alerts that fire at a moment, the receivers that are told of it then."""
    return [
        ()
        if inhibitor(inhibitions, alert, firing) is not None
        else tuple(route.receiver for route in taken(root, alert) if not is_silent(route, intervals, at))
        for alert in firing
    ]

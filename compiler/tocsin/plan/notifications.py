"""Alertmanager's side of a plan: who is told of which alert."""

from typing import NamedTuple

from tocsin.factory.owners import Channel
from tocsin.routes import Inhibition, Route, TimeInterval
from tocsin.source import Span


class Receiver(NamedTuple):
    """Who is told, through which channels, and whether also of the end; no channel is a receiver that stays silent."""

    name: str
    channels: tuple[Channel, ...]
    origin: Span
    tells_end: bool = True


class RouteTest(NamedTuple):
    """An alert with these labels reaches these receivers, in this order, and no other."""

    labels: tuple[tuple[str, str], ...]
    receivers: tuple[str, ...]
    origin: Span


class Sample(NamedTuple):
    """An alert as it comes to Alertmanager, for all that differ from it in the values of labels only."""

    labels: dict[str, str]
    origin: Span


class Member(NamedTuple):
    """One Alertmanager of several that are one: its name as a file, and the flags by which it finds the others."""

    name: str
    flags: tuple[str, ...]
    origin: Span


class Notifications(NamedTuple):
    """Alertmanager's side. `samples` are the alerts that there are, by which routes and inhibitions are judged."""

    root: Route
    receivers: tuple[Receiver, ...]
    tests: tuple[RouteTest, ...]
    members: tuple[Member, ...]
    intervals: tuple[TimeInterval, ...] = ()
    inhibitions: tuple[Inhibition, ...] = ()
    samples: tuple[Sample, ...] = ()

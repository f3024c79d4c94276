"""Who owns what of a factory, and how they are told."""

from typing import NamedTuple

from tocsin.hours import Window
from tocsin.source import Span
from tocsin.units import Duration

LAYERS = ("silicon", "fabric", "runtime", "application", "facility")


Setting = str | int | bool | dict[str, "Setting"]


class Channel(NamedTuple):
    """One integration of a receiver: `kind` as in the spec, `settings` Alertmanager's fields, secrets as files."""

    kind: str
    settings: dict[str, Setting]


class Step(NamedTuple):
    """Pages that still fire `after` so long are told to the owner `to` as well."""

    after: Duration
    to: str
    origin: Span


class Owner(NamedTuple):
    """A team and how it is reached; `runbooks` ends in a slash. No `hours` are all hours, for its tickets."""

    name: str
    page: tuple[Channel, ...]
    ticket: tuple[Channel, ...]
    runbooks: str
    origin: Span
    hours: tuple[Window, ...] = ()
    escalation: tuple[Step, ...] = ()


class Maintenance(NamedTuple):
    """In these windows the owners are not told what `mutes` says: page, ticket, or both."""

    name: str
    windows: tuple[Window, ...]
    owners: tuple[str, ...]
    mutes: tuple[str, ...]
    origin: Span


class Tenant(NamedTuple):
    """A tenant, its accounts at the scheduler, and its namespaces of Kubernetes.

    It is told of what names it through `page` and `ticket`, where it has them: beside the owner or `instead` of it.
    """

    name: str
    accounts: tuple[str, ...]
    namespaces: tuple[str, ...]
    origin: Span
    page: tuple[Channel, ...] = ()
    ticket: tuple[Channel, ...] = ()
    instead: bool = False


class Alerting(NamedTuple):
    """`heartbeat` is told every `every` that alerting is alive; `fallback` owns what no rule of ours raised."""

    alertmanagers: tuple[str, ...]
    fallback: str
    heartbeat: Channel
    every: Duration
    origin: Span

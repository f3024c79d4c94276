"""What teams and mixins bring: rules with their tests, and dashboards."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from tocsin.promql import Expr
from tocsin.source import Span
from tocsin.units import Duration


class OwnRecord(NamedTuple):
    """A recording rule of the spec, or of a mixin that it names.

    `on_nodes` is whether it reads what exporters on the nodes show, `elsewhere` whether what others do.
    """

    name: str
    owner: str
    layer: str
    text: str
    expr: Expr
    on_nodes: bool
    elsewhere: bool
    origin: Span
    labels: dict[str, str]


class OwnFiring(NamedTuple):
    """An alert that must fire: the labels and the value of its expression."""

    labels: dict[str, str]
    value: Fraction


class OwnTest(NamedTuple):
    """A world and what an alert must do in it: series in promtool's notation, then what fires at which time."""

    story: str
    interval: Duration
    series: tuple[tuple[str, str], ...]
    expectations: tuple[tuple[Duration, tuple[OwnFiring, ...]], ...]


class OwnAlert(NamedTuple):
    """An alerting rule of the spec or of a mixin; `signal` is empty where it is about none.

    `keep` is for how long it fires on, `labels` and `annotations` are what a mixin has beside ours. The rest is as of a
    record.
    """

    name: str
    owner: str
    layer: str
    signal: str
    severity: str
    text: str
    expr: Expr
    hold: Duration
    summary: str
    description: str
    tests: tuple[OwnTest, ...]
    on_nodes: bool
    elsewhere: bool
    origin: Span
    keep: Duration
    labels: dict[str, str]
    annotations: dict[str, str]


class OwnGroup(NamedTuple):
    """Rules of a mixin that are evaluated in their order, every `interval` or as often as all others."""

    name: str
    interval: Duration | None
    rules: tuple[OwnRecord | OwnAlert, ...]


class Mixin(NamedTuple):
    """Rules that others wrote, with our owners, layers and severities."""

    name: str
    groups: tuple[OwnGroup, ...]
    origin: Span

    @property
    def records(self) -> Iterator[OwnRecord]:
        """Its recording rules, in the order of their groups."""
        return (rule for group in self.groups for rule in group.rules if isinstance(rule, OwnRecord))


class OwnDashboard(NamedTuple):
    """A dashboard that a team or a mixin brings, as JSON that Grafana takes; `source` is the file that it stands in.

    `name` is that of its file and its uid, `mixin` the mixin that it is of, empty where it is a team's own.
    """

    name: str
    owner: str
    folder: str
    source: str
    mixin: str
    model: dict[str, Any]
    origin: Span

"""Dashboards: their panels, and what these ask."""

from typing import Any, NamedTuple

from tocsin.source import Span
from tocsin.units import Duration


class Query(NamedTuple):
    """One PromQL query of a panel and how its series are named."""

    expr: str
    legend: str
    instant: bool = False


class Step(NamedTuple):
    """From `value` upwards the colour is `color`; None is the base."""

    value: float | None
    color: str


class Column(NamedTuple):
    """A column of a table: a label, or `Value #A` for the values of the first query, `#B` for the second's."""

    name: str
    heading: str


class Link(NamedTuple):
    """A way from a series to another dashboard: its variables by name, with the label that each takes its value from.

    The time range goes along.
    """

    title: str
    uid: str
    variables: tuple[tuple[str, str], ...]


class Meaning(NamedTuple):
    """What a value is called where it is a state."""

    value: str
    text: str
    color: str


class Panel(NamedTuple):
    """One panel: `width` in 24ths of the page, `height` in Grafana's rows.

    `kind` is stat, gauge, bargauge, timeseries, table, heatmap, status-history or state-timeline. A table has
    `columns`, and the rows of several queries are one where the label `joined` is the same; all its numbers have the
    one unit. A heatmap has a query for each of its rows, or the buckets of a histogram. `band` are the legends of two
    lines, the upper and the lower one, between which a graph is filled.
    """

    kind: str
    title: str
    description: str = ""
    queries: tuple[Query, ...] = ()
    unit: str = "none"
    width: int = 12
    height: int = 8
    steps: tuple[Step, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    columns: tuple[Column, ...] = ()
    joined: str = ""
    links: tuple[Link, ...] = ()
    meanings: tuple[Meaning, ...] = ()
    band: tuple[str, str] | None = None


class Variable(NamedTuple):
    """A dashboard variable filled by a label's values of a metric."""

    name: str
    label: str
    query: str


class Dashboard(NamedTuple):
    """One dashboard, its panels in reading order; it opens with what was within `range`.

    `tags` are what others find it by, `runbooks` the pages of those who own what it shows, by owner. The alerts that
    are marked on its graphs are those with the labels that `marked` matches.
    """

    uid: str
    name: str
    folder: str
    title: str
    description: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]
    refresh: Duration
    range: Duration
    origin: Span
    tags: tuple[str, ...] = ()
    runbooks: tuple[tuple[str, str], ...] = ()
    marked: str = 'cluster=~"$cluster"'


class Page(NamedTuple):
    """A dashboard that a team or a mixin brings: `model` is all of it, as Grafana reads it."""

    name: str
    folder: str
    model: dict[str, Any]
    origin: Span

"""Panels for whatever a signal measures: how a metric is drawn follows from its type, its reading and its unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.catalog import limit_kinds
from tocsin.lower.dashboards.panels import BAD, END, GOOD, LINES, graph, of_signal, up_to_here, worst
from tocsin.plan.dashboards import Meaning, Panel, Query, Step
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tocsin.catalog.kinds import LimitKind, Metric
    from tocsin.factory import Factory
    from tocsin.factory.signals import Signal
    from tocsin.plan.dashboards import Link

    Of = Callable[[Metric], bool]

# Units of the catalogue by Grafana's ids of them, as they are and of what they come to in a second.
_LEVELS = {
    "seconds": "s",
    "milliseconds": "ms",
    "microseconds": "µs",
    "bytes": "bytes",
    "kibibytes": "kbytes",
    "mebibytes": "mbytes",
    "bytes/s": "Bps",
    "megabytes/s": "MBs",
    "gigabytes/s": "GBs",
    "watts": "watt",
    "milliwatts": "mwatt",
    "celsius": "celsius",
    "percent": "percent",
    "ratio": "percentunit",
    "joules": "joule",
    "rpm": "rotrpm",
    "litres/min": "flowlpm",
}
_RATES = {"bytes": "Bps", "requests": "reqps", "joules": "watt", "seconds": "none", "microseconds": "µs"}
_MOST = {"percent": 100.0, "percentunit": 1.0}
_QUANTILES = ("0.5", "0.95", "0.99")
_UNDRAWN = ("info", "timestamp", "bits")
_YES_NO = (Meaning("0", "no", GOOD), Meaning("1", "yes", "blue"))
_LETTERS = 20  # queries of a panel


def measured(
    factory: Factory,
    chosen: Of,
    here: Callable[[Metric], str],
    links: Callable[[Metric], tuple[Link, ...]] | None = None,
) -> Iterator[Panel]:
    """A panel for all metrics of a signal that share a unit, of those that are chosen; `here` are their matchers."""
    for signal in factory.signals.values():
        groups: dict[tuple[str, str], list[Metric]] = {}
        for metric in signal.metrics:
            if chosen(metric) and metric.reading not in _UNDRAWN:
                groups.setdefault(
                    (_shape(metric), metric.name if metric.type == "histogram" else metric.unit), []
                ).append(metric)
        for (shape, _), metrics in groups.items():
            title = _title(signal, metrics, alone=len(groups) == 1)
            lead = links(metrics[0]) if links else ()
            if shape == "histogram":
                yield from _distribution(factory, signal, title, metrics[0], here(metrics[0]))
            elif shape == "state":
                yield _states(factory, signal, title, metrics[:_LETTERS], here, lead)
            else:
                yield _lines(factory, signal, title, metrics[:_LETTERS], here, lead)


def _shape(metric: Metric) -> str:
    if metric.type == "histogram":
        return "histogram"
    if metric.type == "counter":
        return "rate"
    return "state" if metric.unit in ("bool", "state", "code") else "level"


def _title(signal: Signal, metrics: Iterable[Metric], *, alone: bool) -> str:
    name = signal.id.replace("_", " ").capitalize()
    first = next(iter(metrics))
    return name if alone else f"{name}: {first.help[:1].lower()}{first.help[1:]}"


def split(metric: Metric) -> tuple[str, ...]:
    """What the lines of a metric stand for; of two labels that follow from each other both may be there."""
    own = tuple(label for label in metric.labels if label not in (*metric.copies, "cluster", "tenant"))
    return ("cluster", *own)


def window(factory: Factory, metric: Metric) -> Duration:
    """A window for a rate: five minutes, or four scrapes where these take longer."""
    intervals = [
        *(job.interval for cluster in factory.clusters.values() for job in cluster.jobs if job.name == metric.exporter),
        *(
            exporter.interval
            for cluster in factory.clusters.values()
            for exporter in cluster.exporters
            if exporter.kind.job == metric.exporter
        ),
        factory.interval,
    ]
    return max(Duration.of(minutes=5), Duration.of(seconds=int(4 * max(intervals).seconds)))


def value(factory: Factory, metric: Metric, here: str, by: tuple[str, ...]) -> str:
    """What is drawn of a metric: rates are added up, of levels the highest is taken, since some are told twice."""
    if metric.type == "counter":
        how = "max" if metric.share or metric.copies else "sum"
        return f"{how} by ({naming.by(by)}) (rate({metric.name}{{{here}}}[{window(factory, metric)}]{END}))"
    return f"max by ({naming.by(by)}) ({metric.name}{{{here}}}{END})"


def _asked(
    factory: Factory, metrics: list[Metric], here: Callable[[Metric], str], count: int
) -> Iterator[tuple[str, str]]:
    for metric in metrics:
        by = split(metric)
        labels = " ".join(f"{{{{{label}}}}}" for label in by if label != "cluster" or len(by) == 1)
        legend = labels if len(metrics) == 1 else f"{metric.help} {labels}"
        yield worst(naming.by(by), value(factory, metric, here(metric), by), count=count), legend


def _lines(
    factory: Factory,
    signal: Signal,
    title: str,
    metrics: list[Metric],
    here: Callable[[Metric], str],
    links: tuple[Link, ...],
) -> Panel:
    first = metrics[0]
    unit = _LEVELS.get(first.unit, "short")
    if first.type == "counter":
        unit = "percentunit" if first.share else _RATES.get(first.unit, "cps")
    asked = _asked(factory, metrics, here, LINES)
    steps, most = alert_lines(factory, metrics), _MOST.get(unit)
    return graph(title, _about(factory, signal, metrics), asked, unit, steps=steps, maximum=most, links=links)


def _about(factory: Factory, signal: Signal, metrics: list[Metric]) -> str:
    what = " Per second." if metrics[0].type == "counter" else ""
    alerts = ", ".join(kind.alert for kind in _lines_of(factory, metrics))
    where = f" The line is where {alerts} begins." if alerts else ""
    return f"The {LINES} largest.{what}{where} {of_signal(factory, signal.id)}"


def alert_lines(factory: Factory, metrics: Iterable[Metric]) -> tuple[Step, ...]:
    """Where the alerts begin that compare what metrics show with a limit of the spec or of the catalogue."""
    edges = {kind.line: float(factory.limits[kind.id]) for kind in _lines_of(factory, metrics)}
    if not edges:
        return ()
    lower = up_to_here(edges["below"]) if "below" in edges else (Step(None, GOOD),)
    return (*lower, *([Step(edges["above"], BAD)] if "above" in edges else []))


def _lines_of(factory: Factory, metrics: Iterable[Metric]) -> list[LimitKind]:
    shown = {(metric.signal, name) for metric in metrics for name in (metric.name, "")}
    kinds = (kind for kind in limit_kinds().values() if kind.line and kind.id in factory.limits)
    return [kind for kind in kinds if (kind.signal, kind.metric) in shown]


def _states(
    factory: Factory,
    signal: Signal,
    title: str,
    metrics: list[Metric],
    here: Callable[[Metric], str],
    links: tuple[Link, ...],
) -> Panel:
    queries = tuple(Query(expr, legend) for expr, legend in _asked(factory, metrics, here, LINES))
    flag = metrics[0].unit == "bool"
    return Panel(
        "state-timeline",
        title,
        _about(factory, signal, metrics),
        queries,
        "none",
        steps=(Step(None, GOOD), *(() if flag else (Step(1, BAD),))),
        meanings=_YES_NO if flag else (),
        links=links,
    )


def _distribution(factory: Factory, signal: Signal, title: str, metric: Metric, here: str) -> Iterator[Panel]:
    """Quantiles, and how many events took how long: a mean of either would hide the slow ones."""
    buckets = f"sum by (le) (rate({metric.name}_bucket{{{here}}}[{window(factory, metric)}]))"
    asked = [(f"histogram_quantile({share}, {buckets})", f"p{float(share) * 100:g}") for share in _QUANTILES]
    unit, about = _LEVELS.get(metric.unit, "short"), of_signal(factory, signal.id)
    yield graph(title, f"What half, 95 % and 99 % of the events stay below. {about}", asked, unit)
    queries = (Query(buckets, "{{le}}"),)
    yield Panel("heatmap", f"{title}, spread", f"How many events a second took how much. {about}", queries, unit)

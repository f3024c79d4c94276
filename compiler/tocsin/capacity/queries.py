"""How many samples Prometheus loads to evaluate the rules of an SLO, in each cluster that shows its events."""

from __future__ import annotations

import re
from functools import cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.pattern import matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.slos import Slo
    from tocsin.promql import Selector
    from tocsin.promql.tree import Matcher
    from tocsin.units import Duration

# Of one query, at most: the default of Prometheus' flag `--query.max-samples`.
MOST_SAMPLES = 50_000_000
BUCKETS = 14 + 1  # of a histogram: prometheus_client's default (DEFAULT_BUCKETS), and +Inf
_PART = re.compile("_(?:bucket|count|sum)$")
_PLACED = frozenset(("cluster", "node", "job_id", "tenant"))  # one value of each at one target


class Query(NamedTuple):
    """What a rule reads: so many series of a name over a window, a sample every `pace`."""

    name: str
    series: int
    window: Duration
    pace: Duration

    @property
    def samples(self) -> int:
        """Series times window by pace; and the current one where there is no window."""
        return -(-self.series * int(self.window) // int(self.pace))  # rounded up


class Loads(NamedTuple):
    """Of an SLO in a cluster: the samples that one evaluation of its counted and of its summed windows loads.

    `biggest` is the query of which a single rule loads the most, `rule` how many samples that rule loads.
    """

    cluster: str
    slo: str
    counted: int
    summed: int
    rule: int
    biggest: Query


def loads(factory: Factory) -> Iterator[Loads]:
    """Of every SLO where its events are shown: windows x series / interval of the scrapes, or of the steps."""

    @cache
    def shown(cluster: str, name: str) -> tuple[int, Duration]:
        return _shown(factory, factory.clusters[cluster], name)

    known: dict[tuple[object, ...], Loads] = {}
    for slo in factory.slos.values():
        selectors = slo.indicator.selectors
        groups = prod(_values(factory, label, ()) for label in slo.by)
        each = [(key, one.metric or "", _each(factory, one)) for key, one in selectors.items()]
        for cluster in factory.clusters:
            places = [(key, series, *shown(cluster, name)) for key, name, series in each]
            read = tuple((key, series * count, pace) for key, series, count, pace in places)
            if not any(series for _, series, _ in read):
                continue
            alike = (read, slo.windows, slo.period, groups)
            found = known.get(alike)
            if found is None:
                found = known[alike] = _of_slo(slo, read, groups)
            biggest = found.biggest
            selector = selectors.get(biggest.name)
            name = selector.render() if selector else biggest.name
            yield found._replace(cluster=cluster, slo=slo.id, biggest=biggest._replace(name=name))


def _of_slo(slo: Slo, shown: Sequence[tuple[str, int, Duration]], groups: int) -> Loads:
    """What all SLOs of these windows load that read so many series; its queries have the names of the selectors."""
    rules: list[list[Query]] = []
    for window in (slo.windows.unit, *slo.windows.counted):
        read = {key: Query(key, series, window, pace) for key, series, pace in shown}
        every = [query for key, query in read.items() if key == "total"]
        # What is not good is what all have that the good ones have not, or all, where there are no good ones.
        rest = 2 * every if "good" in read else []
        rules += [every, [*(query for query in read.values() if query not in every), *rest]]
    counted = sum(query.samples for rule in rules for query in rule)
    unit, step = naming.slo_total(slo.windows.unit), slo.windows.step
    past = [Query(unit, groups, window, step) for window in (*slo.windows.summed, slo.period)]
    rules += [[query] for query in past]
    most = max(rules, key=lambda rule: sum(query.samples for query in rule))
    return Loads(
        cluster="",
        slo=slo.id,
        counted=counted,
        summed=sum(2 * query.samples for query in past),
        rule=sum(query.samples for query in most),
        biggest=max(most, key=lambda query: query.samples),
    )


def _metric(factory: Factory, name: str) -> Metric | None:
    return factory.metrics.get(name) or factory.metrics.get(_PART.sub("", name))


def _each(factory: Factory, selector: Selector) -> int:
    """How many series a selector selects of each of what its metric belongs to."""
    metric = _metric(factory, selector.metric or "")
    each = prod(_values(factory, label, selector.matchers) for label in metric.labels) if metric else 0
    if (selector.metric or "").endswith("_bucket") and all(one.label != "le" for one in selector.matchers):
        each *= BUCKETS
    return each


def _shown(factory: Factory, cluster: Cluster, name: str) -> tuple[int, Duration]:
    """How many of what a metric belongs to a cluster has, and how often it is scraped."""
    metric = _metric(factory, name)
    if metric is None:
        return 0, factory.interval
    targets = [(len(job.hosts), job.interval) for job in cluster.jobs if job.name == metric.exporter]
    targets += [
        (_at_nodes(cluster, metric) or len(one.hosts or one.addresses), one.interval)
        for one in cluster.exporters
        if one.kind.job == metric.exporter
    ]
    if not targets and metric.exporter in cluster.ports:
        targets = [(_at_nodes(cluster, metric), factory.interval)]
    pace = min((pace for _, pace in targets), default=factory.interval)
    return sum(count for count, _ in targets), pace


def _at_nodes(cluster: Cluster, metric: Metric) -> int:
    """What a metric of a node's exporter belongs to, in the whole cluster."""
    if metric.exporter not in cluster.ports:
        return 0
    count = 0
    for group in cluster.groups:
        entities = {"gpu": group.gpus, "port": len(group.devices) or group.gpus}
        count += len(group.hosts) * entities.get(metric.entity, 1)
    return count


def _values(factory: Factory, label: str, matchers: tuple[Matcher, ...]) -> int:
    """How many values of a label's list are selected; one where there is no list."""
    rule = factory.labels.get(label)
    if label in _PLACED or rule is None or rule.values is None:
        return 1
    wanted = [one for one in matchers if one.label == label]
    return sum(all(_takes(one, value) for one in wanted) for value in rule.values)


def _takes(matcher: Matcher, value: str) -> bool:
    same = matches(matcher.value, value) if matcher.op in ("=~", "!~") else matcher.value == value
    return same == (matcher.op in ("=", "=~"))

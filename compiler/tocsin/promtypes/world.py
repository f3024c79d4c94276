"""What can be queried: by its name, what a series is, which labels it has, how often it comes, how long it is kept."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tocsin.catalog import DEEP_JOB, EXPORTERS, exporter_kinds, metrics_of, own_metrics, recorded_metrics, spellings
from tocsin.ingest import RENAMED, TARGET_LABELS, beside_nodes, labels_of
from tocsin.promtypes.labels import Labels
from tocsin.promtypes.quantity import ANY, of_metric
from tocsin.promtypes.vector import Vector
from tocsin.units import Duration
from tocsin.versions import KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.factory.retention import Retention
    from tocsin.factory.signals import Label

PARTS = ("_bucket", "_sum", "_count")
DEFAULT_INTERVAL = Duration.of(seconds=15)
DEFAULT_KEEP = Duration.of(days=15)  # Prometheus' own default
_BOARDS = frozenset(("gpu", "gpu_instance", "link"))
# What may stand on the series of a board beside its own labels: whose container works on it.
_WORKLOAD = ("pod", "namespace", "container", "gpu_i_id", "gpu_i_profile")
_NOT_ALWAYS = frozenset(
    ("job_id", "gpu_i_id", "gpu_i_profile", "tenant", "user", "account", "xid", "clock_event", "gpu_uuid", "le")
)
_ALONE = frozenset(("cluster", "instance", "job", "uid", "window_size_in_ms"))  # follow from the rest of a key
_OF_PAGES = frozenset(("gpu_uuid", "err_code", "xid", "le"))  # what no target has, but series on its page
# Labels that follow from another one, as far as both are there.
_FOLLOW = {"node": "pod", "gpu_i_profile": "gpu_i_id", "unit": "resource", "health_error_code": "health_watch"}
# What an info series belongs to: its other labels follow from these.
_INFO_KEYS = {
    "host": ("node",),
    "job": ("node", "job_id"),
    "device": ("node", "device"),
    "pod": ("namespace", "pod"),
    "container": ("namespace", "pod", "container"),
    "switch": ("guid", "psu"),
}


class World(NamedTuple):
    """The series by their names, and what holds for all.

    `schema` are the label rules of a spec, `keep` how far back the servers look, `interval` how often rules are
    evaluated. Where a data source reads the tiers of a retention, `keep` is that of the longest of all series, and
    `longer` says which series another one keeps beyond it; all in ms. `whole` says that a name which is not in `series`
    but in the catalogue is scraped nowhere. `prometheus` is its release;
    `metricsql` that another program may answer, which takes more than PromQL, `applications` that jobs of the spec are
    scraped, which may show what an exporter of the catalogue shows elsewhere.
    """

    series: Mapping[str, Vector]
    schema: Mapping[str, Label]
    keep: int
    interval: int
    whole: bool
    prometheus: tuple[int, ...]
    longer: Mapping[str, int] | None = None
    metricsql: bool = False
    applications: bool = False

    @property
    def new_le(self) -> bool:
        """Whether Prometheus writes `le="1"` as `le="1.0"`."""
        return self.prometheus >= (3,)

    def unnamed(self, name: str) -> str:
        """Why no series can have the name; empty where one can."""
        if name in spellings():
            return f"the series of {name} is called {spellings()[name]} here"
        if name.startswith(prefixes()) and name not in catalogue():
            return f"its exporter shows nothing that is called {name}"
        return f"nothing that is scraped shows {name}" if self.whole and name in catalogue() else ""


@cache
def catalogue() -> dict[str, tuple[Metric, ...]]:
    """Every metric of every exporter by name; programs of one purpose may share a name."""
    found: dict[str, tuple[Metric, ...]] = {}
    for kind in exporter_kinds().values():
        for flavour in kind.flavours or ("",):
            for metric in metrics_of(kind.id, flavour):
                found[metric.name] = (*found.get(metric.name, ()), metric)
    return found


@cache
def prefixes() -> tuple[str, ...]:
    """What only names of the catalogue begin with."""
    return tuple(kind.prefix for kind in exporter_kinds().values() if kind.prefix)


def is_of_boards(name: str) -> bool:
    """Whether only dcgm-exporter shows a metric of the catalogue."""
    return any(metric.exporter in ("dcgm", DEEP_JOB) for metric in catalogue().get(name, ()))


def is_recorded(name: str) -> bool:
    """Whether only a rule gives a series such a name, as in `level:metric:operations`.

    With one colon it may be of a program that puts its own name in front: `vllm:…`, `sglang:…`.
    """
    return name.count(":") > 1


@cache
def of_catalogue() -> World:
    """Everything that the catalogue knows, scraped as often as its exporters are fit for, at least every 15 s."""
    least = {kind.job: max(kind.least, DEFAULT_INTERVAL) for kind in exporter_kinds().values()}
    series: dict[str, Vector] = {}
    for metrics in catalogue().values():
        for name, vector in _series(metrics[0], least.get(metrics[0].exporter, DEFAULT_INTERVAL)).items():
            series[name] = vector if len(metrics) == 1 else _of_several(vector, metrics)
    series |= _everywhere(DEFAULT_INTERVAL)
    return World(series, {}, DEFAULT_KEEP, DEFAULT_INTERVAL, whole=False, prometheus=KNOWN["prometheus"][1])


def scraped(factory: Factory) -> World:
    """What a factory scrapes, and what tocsin records of it."""
    intervals: dict[str, Duration] = {}
    for cluster in factory.clusters.values():
        for job in cluster.jobs:
            intervals[job.name] = max(intervals.get(job.name, job.interval), job.interval)
        for exporter in cluster.exporters:
            intervals[exporter.kind.job] = max(intervals.get(exporter.kind.job, exporter.interval), exporter.interval)
    if factory.deep:
        intervals[DEEP_JOB] = max(factory.deep.interval, factory.deep.refresh)
    intervals["dcgm"] = max(factory.interval, factory.refresh)
    series: dict[str, Vector] = {}
    for metric in (*_shown(factory), *factory.metrics.values()):
        series |= _series(metric, intervals.get(metric.exporter, factory.interval))
    series |= _everywhere(factory.interval)
    release = factory.targets.prometheus
    world = World(series, factory.labels, factory.retention.hot.keep, factory.interval, whole=True, prometheus=release)
    applications = any(cluster.jobs for cluster in factory.clusters.values())
    return world._replace(metricsql=factory.targets.long_term == "victoriametrics", applications=applications)


def from_tiers(world: World, retention: Retention) -> World:
    """A world as a data source sees it: back to where the longest tier ends that holds a series."""
    tiers = sorted((retention.hot, *retention.tiers), key=lambda tier: tier.keep)
    keep = max((tier.keep for tier in tiers if tier.series == "all"), default=retention.hot.keep)
    longer = {name: tier.keep for tier in tiers if tier.keep > keep for name in tier.metrics}
    return world._replace(keep=keep, longer=longer)


def _shown(factory: Factory) -> Iterator[Metric]:
    """What the exporters that are scraped can show: a rule that reads it has it collected."""
    for name in EXPORTERS:
        yield from metrics_of(name)
    for cluster in factory.clusters.values():
        for exporter in cluster.exporters:
            yield from metrics_of(exporter.kind.id, exporter.flavour)


def _everywhere(interval: Duration) -> dict[str, Vector]:
    series = {}
    for metric in own_metrics():
        certain = frozenset(("job", "instance") if metric.entity == "scrape" else metric.labels)
        of_pages = _OF_PAGES if metric.entity == "scrape" else frozenset[str]()
        labels = Labels(certain, frozenset(TARGET_LABELS) - certain, open=True, gone=of_pages)
        key = frozenset(("job", "node")) if metric.entity == "scrape" else None
        series[metric.name] = Vector(of_metric(metric), labels, key, interval=interval)
    for metric in recorded_metrics():
        labels = Labels(frozenset(metric.labels) - {"job_id"}, frozenset(metric.labels) & {"job_id"})
        copies = frozenset(metric.labels) & {"job_id"} if metric.name == "gpu:job:info" else frozenset[str]()
        key = frozenset(metric.labels) - {"cluster"}
        series[metric.name] = Vector(of_metric(metric), labels, key, copies, metric.labels[:3], interval=interval)
    return series


def _series(metric: Metric, interval: Duration) -> dict[str, Vector]:
    """The series names of a metric; a histogram's own name has none."""
    if metric.type == "histogram":
        return {metric.name + part: _vector(metric, part, interval) for part in PARTS}
    return {metric.name: _vector(metric, "", interval)}


def _vector(metric: Metric, part: str, interval: Duration) -> Vector:
    names = frozenset(labels_of(metric)) - ({"le"} if part in ("_sum", "_count") else set())
    is_board = metric.entity in _BOARDS and bool(metric.copies)
    sure = {"gpu_uuid"} if is_board else set()
    certain = {label for label in names if label not in _NOT_ALWAYS and label not in ("gpu", "pci_bus_id", "device")}
    certain = certain - {"modelName", "model_name"} | sure | ({"le"} if part == "_bucket" else set())
    own = frozenset(metric.labels) - _ALONE
    if metric.entity in ("port", "hca_port", "switch_port", "device"):
        certain |= own - _NOT_ALWAYS
    if metric.reading == "window" or metric.sparse:
        certain -= own
    labels = Labels(frozenset(certain), (names - certain) | (set(_WORKLOAD) if is_board else set()))
    if metric.reading == "info":
        labels = labels._replace(open=True)
    place = () if metric.exporter in beside_nodes() or "node" in own else ("node",)
    board = ("gpu_uuid", "gpu_i_id") if metric.entity == "gpu_instance" else ("gpu_uuid",) if is_board else ()
    mine = tuple(label for label in metric.labels if label not in (*_ALONE, *metric.copies, *board))
    entity = ("cluster", *place, *board, *mine)
    return Vector(
        of_metric(metric, part),
        labels,
        _key(metric, board, own, place),
        frozenset(metric.copies),
        entity,
        interval=interval,
        job=metric.exporter,
    )


def _key(metric: Metric, board: tuple[str, ...], own: frozenset[str], place: tuple[str, ...]) -> frozenset[str] | None:
    if metric.entity in ("model", "target") or metric.type == "histogram":
        return None
    if metric.reading == "info":
        named = frozenset(_INFO_KEYS.get(metric.entity, ())) & labels_of(metric)
        return named or None
    own = frozenset(label for label in own if _FOLLOW.get(label) not in own)
    if board:
        return frozenset((*board, *metric.copies)) | own
    return own | frozenset(place)


def _of_several(vector: Vector, metrics: tuple[Metric, ...]) -> Vector:
    """What holds whichever of several programs shows a name."""
    same = len({(metric.type, metric.reading, metric.unit) for metric in metrics}) == 1
    names = frozenset[str]().union(*(labels_of(metric) for metric in metrics))
    labels = Labels(vector.labels.certain.intersection(*(labels_of(metric) for metric in metrics)))
    labels = labels.plus(names)
    return vector._replace(quantity=vector.quantity if same else ANY, labels=labels, key=None)


def before_ingest(label: str) -> str:
    """What a label that exporters bring is called after ingest; empty where it is not renamed."""
    if label in RENAMED:
        return RENAMED[label]
    for kind in exporter_kinds().values():
        for old, new in kind.renames:
            if old == label:
                return new
    return ""

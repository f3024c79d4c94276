"""Knowledge of the field as data: signals and metrics of the exporters, XID classes, GPU models."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tocsin.source import Source, compose
from tocsin.units import Duration

EXPORTERS = ("dcgm", "node")  # those that stand on every node of every cluster, whether the spec names them or not
MONITORS = ("prometheus", "alertmanager")  # the jobs of the monitoring itself, which every spec has
DEEP_JOB = "dcgm-deep"  # a second dcgm-exporter of a node, scraped while the node works


class Metric(NamedTuple):
    """One series name of an exporter.

    `exporter` is the job that scrapes it; `type` counter, gauge or histogram as the values really are; `reading` says
    what a value means (level, ratio, percent, code, bits, flag, total, throughput, window, timestamp, info); `entity`
    what one value belongs to; `labels` those beyond the entity's own, by their names after ingest; `field` DCGM's field
    id; `errors` whether the faults it counts were corrected; `cost` cheap, profiling (counters that the GPU reads in
    turns) or expensive (many series, or slow to read); `sensitivity` open or restricted (power and user names); `since`
    the exporter's first release that has it; `sparse` where no series is there until something happens; `page` the path
    that shows it where the exporter has several; `each` how many series one entity has, by its further labels;
    `buckets` a histogram's finite ones, prometheus_client's default (DEFAULT_BUCKETS) if nothing is said; `source` the
    file or document that shows the name.
    """

    name: str
    signal: str
    exporter: str
    type: str
    reading: str
    unit: str
    entity: str
    help: str
    labels: tuple[str, ...] = ()
    field: int | None = None
    errors: str = ""
    cost: str = "cheap"
    sensitivity: str = "open"
    since: str = ""
    sparse: bool = False
    page: str = ""
    each: int = 1
    buckets: int = 14
    source: str = ""


class EntityKind(NamedTuple):
    """What series belong to: `usual` many for `per` of what they are counted by, `of` hosts, gpus, ports and the like.

    Without `of` that is what one target shows. `fixed` ones are said by the node groups; a bound of one of `labels` in
    the schema says how many others are.
    """

    id: str
    of: str = ""
    usual: int = 1
    per: int = 1
    labels: tuple[str, ...] = ()
    fixed: bool = False


class SignalKind(NamedTuple):
    """A thing worth measuring, as the catalogue knows it.

    `monitoring` ones are about the monitoring itself. `base` signals are collected wherever an exporter shows them.
    `label` is the label that carries it where no metric does. `mapped` ones have no metric that could be verified: the
    spec defines it under the same id.
    """

    id: str
    layer: str
    meaning: str
    mandatory: bool = False
    base: bool = False
    label: str = ""
    mapped: bool = False
    monitoring: bool = False


class ExporterKind(NamedTuple):
    """An exporter, as the catalogue knows it.

    `stands` is node, address or proxy (asked at one address for each of many hosts); `sees` of what a target speaks,
    its host or the whole cluster; `job` the name of its scrape job;
    `example` its usual port or address; `signal` what it stands for when it is silent; `blind` the severity where none
    of them answers; `least` the shortest interval that it is fit for; `timeout` how long a scrape may take; `renames`
    its labels and their names in the schema; `flavours` programs of one purpose; `mapped` where only the spec knows its
    metrics.
    """

    id: str
    stands: str
    job: str
    example: str
    sees: str = ""
    signal: str = ""
    blind: str = "ticket"
    least: Duration = Duration.of(seconds=1)
    timeout: Duration = Duration.of(seconds=10)
    renames: tuple[tuple[str, str], ...] = ()
    flavours: tuple[str, ...] = ()
    mapped: bool = False


class XidClass(NamedTuple):
    """XIDs that are handled alike: `severity` page or ticket, `layer` whose owner hears of it, `action` in a phrase."""

    name: str
    severity: str
    layer: str
    codes: tuple[int, ...]
    action: str


class GpuModel(NamedTuple):
    """A board: `product` as NVIDIA names it, `pcie` bytes per second of its host link in one direction."""

    name: str
    product: str
    pcie: int


def _read(name: str) -> Any:
    source = Source(f"catalog/{name}", Path(__file__).with_name(name).read_text("utf-8"))
    root, errors = compose(source)
    if root is None or errors:
        raise ValueError(f"{name}: {errors}")
    return root.data()


@cache
def signal_kinds() -> dict[str, SignalKind]:
    """The catalogue's signals by id."""
    return {id_: SignalKind(id_, **row) for id_, row in _read("signals.yaml").items()}


@cache
def exporter_kinds() -> dict[str, ExporterKind]:
    """The exporters by id."""
    return {id_: _exporter(id_, row) for id_, row in _read("exporters.yaml").items()}


def _exporter(id_: str, row: dict[str, Any]) -> ExporterKind:
    times: dict[str, Any] = {key: Duration.parse(row[key]) for key in ("least", "timeout") if key in row}
    lists: dict[str, Any] = {
        "renames": tuple(row.get("renames", {}).items()),
        "flavours": tuple(row.get("flavours", ())),
    }
    sees = "cluster" if row["stands"] == "address" else "host"
    return ExporterKind(id_, **{"sees": sees, **row, **times, **lists})


@cache
def entity_kinds() -> dict[str, EntityKind]:
    """What series belong to, by name."""
    rows = _read("entities.yaml").items()
    return {id_: EntityKind(id_, **{**row, "labels": tuple(row.get("labels", ()))}) for id_, row in rows}


def metrics_of(exporter: str, flavour: str = "") -> tuple[Metric, ...]:
    """The metrics of an exporter in the order of its file; none of one whose metrics only the spec knows."""
    return _metrics_of(exporter, flavour)


@cache
def _metrics_of(exporter: str, flavour: str) -> tuple[Metric, ...]:
    kind = exporter_kinds().get(exporter)  # none of the monitors', which no spec names
    if kind is not None and kind.mapped:
        return ()
    file = _read(f"{exporter}_{flavour}.yaml" if flavour else f"{exporter}.yaml")
    return tuple(
        Metric(
            exporter=kind.job if kind else exporter,
            labels=tuple(row.pop("labels", ())),
            **{"source": file["source"], **row},
        )
        for row in file["metrics"]
    )


@cache
def metrics() -> dict[str, Metric]:
    """The metrics of the exporters that stand everywhere, by name, in the order of their files."""
    return {metric.name: metric for exporter in EXPORTERS for metric in metrics_of(exporter)}


@cache
def carriers() -> dict[str, tuple[str, ...]]:
    """The exporters, by flavour as `slurm native`, that show each signal; read only where one is missed."""
    found: dict[str, list[str]] = {}
    for kind in exporter_kinds().values():
        for flavour in kind.flavours or ("",):
            for signal in dict.fromkeys(metric.signal for metric in metrics_of(kind.id, flavour)):
                found.setdefault(signal, []).append(f"{kind.id} {flavour}".strip())
    found |= {metric.signal: [monitor] for monitor in MONITORS for metric in metrics_of(monitor)}
    return {signal: tuple(names) for signal, names in found.items()}


@cache
def profiling_signals() -> tuple[str, ...]:
    """Signals that only DCGM's profiling module measures: its fields are 1000 to 1099 (dcgm_fields.h)."""
    fields: dict[str, list[int]] = {}
    for metric in metrics().values():
        fields.setdefault(metric.signal, []).append(metric.field or 0)
    return tuple(id_ for id_ in signal_kinds() if id_ in fields and all(1000 <= f < 1100 for f in fields[id_]))


@cache
def xid_classes() -> tuple[XidClass, ...]:
    """The classes of XIDs; no code is in two."""
    rows = _read("xid.yaml")["classes"]
    return tuple(XidClass(name, **{**row, "codes": tuple(row["codes"])}) for name, row in rows.items())


@cache
def gpu_models() -> dict[str, GpuModel]:
    """The GPU models by name."""
    return {name: GpuModel(name, **row) for name, row in _read("gpus.yaml")["models"].items()}

"""Knowledge of the field as data: signals and metrics of the exporters, XID classes, GPU models."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tocsin.source import Source, compose

EXPORTERS = ("dcgm", "node")
DEEP_JOB = "dcgm-deep"  # a second dcgm-exporter of a node, scraped while the node works


class Metric(NamedTuple):
    """One series name of an exporter.

    `type` is counter, gauge or histogram as the values really are; `reading` says what a value means (level, ratio,
    percent, code, bits, flag, total, throughput); `entity` what one value belongs to; `labels` those beyond the
    entity's own; `field` DCGM's field id; `errors` whether the faults it counts were corrected;
    `sensitivity` is restricted where a series tells what only some people may know, such as names of users.
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
    sensitivity: str = "open"


class SignalKind(NamedTuple):
    """A thing worth measuring, as the catalogue knows it. `label` is the label that carries it where no metric does."""

    id: str
    layer: str
    meaning: str
    mandatory: bool = False
    base: bool = False
    label: str = ""


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
def metrics() -> dict[str, Metric]:
    """The catalogue's metrics by name, in the order of their files."""
    found = {}
    for exporter in EXPORTERS:
        for row in _read(f"{exporter}.yaml")["metrics"]:
            labels = tuple(row.pop("labels", ()))
            found[row["name"]] = Metric(exporter=exporter, labels=labels, **row)
    return found


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

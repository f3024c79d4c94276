"""Knowledge of the field as data: signals and metrics of the exporters, XID classes, GPU models."""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from tocsin.catalog.kinds import (
    EntityKind,
    ExporterKind,
    FirstSteps,
    GpuModel,
    LimitKind,
    Metric,
    SignalKind,
    Unit,
    XidClass,
)
from tocsin.units import Duration

EXPORTERS = ("dcgm", "node")  # those that stand on every node of every cluster, whether the spec names them or not
# The signal that has the error counters of the ports of each fabric.
PORT_ERRORS = {"infiniband": "fabric_errors", "roce": "roce_errors"}
MONITORS = ("prometheus", "alertmanager")  # the jobs of the monitoring itself, which every spec has
DEEP_JOB = "dcgm-deep"  # a second dcgm-exporter of a node, scraped while the node works


def rows(name: str, text: str) -> list[dict[str, Any]]:
    """The rows of a data file: a YAML list whose every item is one line of JSON.

    So it is as quick to read as JSON, which every run of the compiler waits for, and may have comments.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("- {"):
            try:
                found.append(json.loads(line[2:]))
            except ValueError as error:
                raise ValueError(f"{name}:{number}: a row is one line of JSON: {error}") from error
        elif line and not line.startswith("#"):
            raise ValueError(f"{name}:{number}: neither a row, as `- {{...}}`, nor a comment")
    return found


def _read(name: str) -> list[dict[str, Any]]:
    return rows(name, Path(__file__).with_name(name).read_text("utf-8"))


@cache
def signal_kinds() -> dict[str, SignalKind]:
    """The catalogue's signals by id."""
    return {row["id"]: SignalKind(**row) for row in _read("signals.yaml")}


@cache
def exporter_kinds() -> dict[str, ExporterKind]:
    """The exporters by id."""
    return {row["id"]: _exporter(row) for row in _read("exporters.yaml")}


def _exporter(row: dict[str, Any]) -> ExporterKind:
    times: dict[str, Any] = {key: Duration.parse(row[key]) for key in ("least", "timeout") if key in row}
    lists: dict[str, Any] = {
        "renames": tuple(row.get("renames", {}).items()),
        "flavours": tuple(row.get("flavours", ())),
    }
    sees = "cluster" if row["stands"] == "address" else "host"
    return ExporterKind(**{"sees": sees, **row, **times, **lists})


@cache
def entity_kinds() -> dict[str, EntityKind]:
    """What series belong to, by name."""
    rows = _read("entities.yaml")
    return {row["name"]: EntityKind(row.pop("name"), **{**row, "labels": tuple(row.get("labels", ()))}) for row in rows}


def metrics_of(exporter: str, flavour: str = "") -> tuple[Metric, ...]:
    """The metrics of an exporter in the order of its file; none of one whose metrics only the spec knows."""
    return _metrics_of(exporter, flavour)


@cache
def _metrics_of(exporter: str, flavour: str) -> tuple[Metric, ...]:
    kind = exporter_kinds().get(exporter)  # none of the monitors', which no spec names
    if kind is not None and kind.mapped:
        return ()
    return _metrics_in(f"{exporter}_{flavour}" if flavour else exporter, kind.job if kind else exporter)


def _metrics_in(name: str, job: str) -> tuple[Metric, ...]:
    head, *series = _read(f"{name}.yaml")
    copies: dict[str, list[str]] = head.get("copies", {})
    # Through text, since a bound such as 0.1 is no binary fraction.
    buckets = {
        name: tuple(Fraction(str(bound)) for bound in bounds) for name, bounds in head.get("buckets", {}).items()
    }
    return tuple(
        Metric(
            exporter=job,
            labels=tuple(row.pop("labels", ())),
            buckets=buckets.get(row.pop("buckets", ""), ()),
            copies=tuple(copies.get(row["entity"], ())) if row["type"] == "gauge" or job == "dcgm" else (),
            **{"source": head["source"], **row},
        )
        for row in series
    )


@cache
def own_metrics() -> tuple[Metric, ...]:
    """What Prometheus itself adds to each target, and the series of alerts."""
    return _metrics_in("targets", "")


@cache
def recorded_metrics() -> tuple[Metric, ...]:
    """The series that tocsin records, with all their labels; those with a signal where that is collected."""
    _, *series = _read("recorded.yaml")
    return tuple(
        Metric(**{"signal": "", **row, "labels": tuple(row["labels"])}, exporter="", entity="recorded")
        for row in series
    )


@cache
def spellings() -> dict[str, str]:
    """Other names of DCGM's fields, and the name that their series have."""
    return {row["name"]: row["series"] for row in _read("dcgm_names.yaml")}


@cache
def units() -> dict[str, Unit]:
    """The units that can be converted, by name."""
    return {row["name"]: _unit(row) for row in _read("units.yaml")}


def _unit(row: dict[str, Any]) -> Unit:
    numbers: dict[str, Any] = {key: Fraction(row[key]) for key in ("times", "least", "most") if key in row}
    return Unit(row["name"], of=tuple(sorted(row.get("of", {}).items())), share=row.get("share", False), **numbers)


@cache
def metrics() -> dict[str, Metric]:
    """The metrics of the exporters that stand everywhere, by name, in the order of their files."""
    return {metric.name: metric for exporter in EXPORTERS for metric in metrics_of(exporter)}


def is_field(metric: Metric) -> bool:
    """Whether dcgm-exporter shows a metric of its only where a counters file names it; others are of its process."""
    return metric.name.startswith(exporter_kinds()["dcgm"].prefix)


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
def limit_kinds() -> dict[str, LimitKind]:
    """The limits that a spec can set, by id."""
    return {row["id"]: LimitKind(**row) for row in _read("limits.yaml")}


@cache
def xid_classes() -> tuple[XidClass, ...]:
    """The classes of XIDs; no code is in two."""
    return tuple(XidClass(**{**row, "codes": tuple(row["codes"])}) for row in _read("xid.yaml"))


@cache
def first_steps() -> tuple[FirstSteps, ...]:
    """What to do first about the alerts of each pattern of names."""
    return tuple(FirstSteps(tuple(row["alerts"]), tuple(row["steps"])) for row in _read("steps.yaml"))


@cache
def gpu_models() -> dict[str, GpuModel]:
    """The GPU models by name."""
    return {row["name"]: GpuModel(**row) for row in _read("gpus.yaml")}

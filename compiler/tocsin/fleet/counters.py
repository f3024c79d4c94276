"""A counters file, read as dcgm-exporter reads it: whatever it would refuse to start with is refused here."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from tocsin.catalog import metrics

if TYPE_CHECKING:
    from tocsin.catalog.kinds import Metric

TYPES = ("gauge", "counter", "histogram", "summary", "label")


def every_metric() -> tuple[Metric, ...]:
    """All that the catalogue knows of dcgm-exporter."""
    return tuple(metric for metric in metrics().values() if metric.exporter == "dcgm")


def listed(text: str) -> tuple[Metric, ...]:
    """The metrics of a counters file in its order, with the types and help texts that it gives them.

    ValueError for what ends the exporter: other than three columns, a name that no field has, a type that is none, a
    quote that does not begin its column.
    """
    known = {metric.name: metric for metric in every_metric()}
    found = []
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    for line, columns in zip(lines, csv.reader(lines, strict=True), strict=True):
        if len(columns) != 3 or any('"' in column for column in columns):
            raise ValueError(f"expected 3 fields: {line}")
        name, type_, help_ = (column.strip(" ") for column in columns)
        if name not in known:
            raise ValueError(f"could not find DCGM field {name}")
        if type_ not in TYPES:
            raise ValueError(f"could not find Prometheus metric type {type_}")
        found.append(known[name]._replace(type=type_, help=help_))
    return tuple(found)

"""Prometheus' text format, version 0.0.4, without timestamps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Family:
    """One metric of a page. A sample is its labels and its value; those of a histogram carry a suffix of the name."""

    name: str
    type: str
    help: str
    samples: Sequence[tuple[Labels, float]] = ()
    suffixed: Sequence[tuple[str, Labels, float]] = ()


def page(families: Iterable[Family]) -> str:
    """The text that an exporter answers with."""
    lines: list[str] = []
    for family in families:
        lines += (f"# HELP {family.name} {family.help}", f"# TYPE {family.name} {family.type}")
        samples = (*(("", *sample) for sample in family.samples), *family.suffixed)
        lines += (_sample(family.name + suffix, labels, value) for suffix, labels, value in samples)
    return "\n".join(lines) + "\n"


def _sample(name: str, labels: Labels, value: float) -> str:
    inner = ",".join(f'{label}="{text}"' for label, text in labels.items())
    shown = str(int(value)) if float(value).is_integer() else repr(float(value))
    return f"{name}{{{inner}}} {shown}" if inner else f"{name} {shown}"

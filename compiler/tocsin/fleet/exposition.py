"""Prometheus' text format, version 0.0.4, without timestamps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Family:
    """One metric of a page. A sample is its labels and its value; those of a histogram carry a suffix of the name.

    Labels may be what `rendered` makes of them: most of them never change, and to write them is most of the work.
    """

    name: str
    type: str
    help: str
    samples: Sequence[tuple[Labels | str, float]] = ()
    suffixed: Sequence[tuple[str, Labels, float]] = ()


def page(families: Iterable[Family]) -> str:
    """The text that an exporter answers with."""
    lines: list[str] = []
    for family in families:
        lines += (f"# HELP {family.name} {family.help}", f"# TYPE {family.name} {family.type}")
        samples = (*(("", *sample) for sample in family.samples), *family.suffixed)
        lines += (_sample(family.name + suffix, labels, value) for suffix, labels, value in samples)
    return "\n".join(lines) + "\n"


def rendered(labels: Labels) -> str:
    """Labels as they stand behind the name of a series; nothing where there are none."""
    inner = ",".join(f'{label}="{text}"' for label, text in labels.items())
    return f"{{{inner}}}" if inner else ""


def _sample(name: str, labels: Labels | str, value: float) -> str:
    shown = str(int(value)) if float(value).is_integer() else repr(float(value))
    return f"{name}{labels if isinstance(labels, str) else rendered(labels)} {shown}"

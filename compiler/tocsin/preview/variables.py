"""Variables of dashboards: what they become in a query, and which values they have.

As Grafana does it for a variable with several values and an `allValue`: the value is part of a regular expression in a
double-quoted string of PromQL (`prometheusSpecialRegexEscape` of its data source).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"\$(?:\{(\w+)(?::regex)?\}|(\w+))")
_SPECIAL = re.compile(r"[\\^$*+?.()|\[\]{}]")
_LABEL_VALUES = re.compile(r"label_values\((.+),\s*(\w+)\s*\)", re.DOTALL)


class Variable(NamedTuple):
    """A variable: its name, what it is called, what stands for all of its values, and where these come from.

    The values are those of `label` in the series of `selector`, which may name variables that stand before it.
    """

    name: str
    title: str
    every: str
    label: str
    selector: str


def asked(query: str) -> tuple[str, str]:
    """Label and selector of `label_values(selector, label)`; ValueError for anything else."""
    found = _LABEL_VALUES.fullmatch(query.strip())
    if not found:
        raise ValueError(query)
    return found[2], found[1].strip()


def interpolated(text: str, values: Mapping[str, str]) -> str:
    """A query with its variables filled in; `values` as `matcher` prints them. What is no variable is left alone."""
    return _NAME.sub(lambda found: values.get(found[1] or found[2], found[0]), text)


def matcher(value: str) -> str:
    """A value as a regular expression that matches nothing else, inside of a string of PromQL."""
    return quoted(_SPECIAL.sub(r"\\\g<0>", value))


def quoted(text: str) -> str:
    """A text inside of a double-quoted string of PromQL."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

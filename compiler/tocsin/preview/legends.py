"""What a series is called: https://grafana.com/docs/grafana/latest/datasources/prometheus/query-editor/#legend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_LABEL = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def legend(format_: str, labels: Mapping[str, str]) -> str:
    """The format with its labels filled in; without a format the labels themselves, as Prometheus writes them."""
    if format_:
        return _LABEL.sub(lambda found: labels.get(found[1], ""), format_).strip()
    pairs = ", ".join(f'{name}="{value}"' for name, value in sorted(labels.items()) if name != "__name__")
    return f"{labels.get('__name__', '')}{{{pairs}}}" if pairs else labels.get("__name__", "")

"""What is marked on the graphs of a dashboard.

https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/annotate-visualizations/
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.preview.legends import legend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.preview.prometheus import Series
    from tocsin.preview.times import Period

_MOST = 40  # marks of a graph; more would hide it


def beginnings(answer: Sequence[Series], title: str, period: Period) -> list[tuple[float, str]]:
    """When each series began, or began again after a gap, and what it is called; in order of time."""
    found = []
    for series in answer:
        before = float("-inf")
        for moment, value in series.samples:
            if value and moment - before > period.step * 1.5:
                found.append((moment, legend(title, series.labels)))
            before = moment if value else before
    return sorted(found)[:_MOST]

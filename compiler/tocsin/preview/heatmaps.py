"""Heatmaps: a row of cells for each bucket of a histogram, or for each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.preview.prometheus import finite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.preview.prometheus import Series
    from tocsin.preview.times import Period


def buckets(answer: Sequence[Series], period: Period) -> list[dict[str, Any]]:
    """What fell into each bucket, lowest first. Prometheus' buckets hold all that is below them: each holds the others.

    `name` is the upper bound, as the label `le` has it; a series whose `le` is no number is no bucket.
    """
    bounded = [(bound, one) for one in answer if (bound := _bound(one.labels.get("le", ""))) is not None]
    bounded.sort(key=lambda pair: pair[0])
    below: list[float | None] = [0] * period.moments
    rows = []
    for bound, series in bounded:
        until = period.on_grid(series.samples)
        values = [
            None if one is None else finite(max(one - (less or 0), 0)) for one, less in zip(until, below, strict=True)
        ]
        rows.append({"name": series.labels["le"], "bound": finite(bound), "values": values})
        below = until
    return rows


def _bound(le: str) -> float | None:
    try:
        return float(le)
    except ValueError:
        return None

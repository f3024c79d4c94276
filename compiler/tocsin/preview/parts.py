"""What a panel shows for one choice of its dashboard's variables: answers, in the form in which the page draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.preview.heatmaps import buckets
from tocsin.preview.legends import legend
from tocsin.preview.links import links
from tocsin.preview.prometheus import finite
from tocsin.preview.tables import KNOWN, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tocsin.preview.prometheus import Series
    from tocsin.preview.times import Period

    Panel = Mapping[str, Any]
    Answers = Sequence[Sequence[Series]]
    Part = dict[str, Any]

_MOST = 40  # series of a panel in the page; more cannot be told apart, and Grafana's page of states is as long


def part(panel: Panel, answers: Answers, period: Period) -> Part:
    """The content of a panel; where it is of a kind that the page cannot draw, that is what it says."""
    draw = _KINDS.get(panel["type"])
    unknown = {step["id"] for step in panel.get("transformations", ())} - KNOWN
    if draw is None:
        return {"error": f"The preview does not draw panels of the kind {panel['type']}."}
    if unknown:
        return {"error": f"The preview does not know the transformation {min(unknown)}."}
    return draw(panel, answers, period)


def _lines(panel: Panel, answers: Answers, period: Period) -> Part:
    """A row for each series: its name, its values on the grid, where it leads."""
    rows = [
        {
            "name": legend(target.get("legendFormat", ""), series.labels),
            "values": [finite(value) for value in period.on_grid(series.samples)],
            "links": list(links(panel, series.labels)),
        }
        for target, answer in zip(panel["targets"], answers, strict=True)
        for series in answer
    ]
    return _bounded(rows)


def _values(panel: Panel, answers: Answers, _period: Period) -> Part:
    """A row for each series: its name, its last value, where it leads."""
    rows = [
        {
            "name": legend(target["legendFormat"], series.labels) if target.get("legendFormat") else "",
            "value": finite(series.samples[-1][1]),
            "links": list(links(panel, series.labels)),
        }
        for target, answer in zip(panel["targets"], answers, strict=True)
        for series in answer
        if series.samples
    ]
    return _bounded(rows)


def _heatmap(panel: Panel, answers: Answers, period: Period) -> Part:
    if panel["targets"][0].get("format") == "heatmap":
        return {"rows": buckets(answers[0], period), "more": 0}
    return _lines(panel, answers, period)


def _table(panel: Panel, answers: Answers, _period: Period) -> Part:
    return table(panel, answers)


def _bounded(rows: list[Part]) -> Part:
    return {"rows": rows[:_MOST], "more": max(len(rows) - _MOST, 0)}


_KINDS: dict[str, Callable[[Panel, Answers, Period], Part]] = {
    "stat": _values,
    "gauge": _values,
    "bargauge": _values,
    "timeseries": _lines,
    "table": _table,
    "heatmap": _heatmap,
    "state-timeline": _lines,
    "status-history": _lines,
}

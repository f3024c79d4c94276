"""Dashboards and answers that are made up, to see what a preview does with them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tocsin.artifact import Artifact
from tocsin.preview.boards import boards
from tocsin.preview.choices import gathered
from tocsin.preview.page import page
from tocsin.preview.prometheus import Prometheus, RefusedError, Series
from tocsin.preview.times import Period
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

HOUR = Period.before(7200, Duration.of(hours=1))
HOSTILE = "</script><script>hit=1</script><!--<img src=x onerror=hit=1>\u2028\u2029]]>&lt;\"'"
FOLDERS = {"one": "F", "two": "F", "three": "F"}
KINDS = ("stat", "gauge", "bargauge", "timeseries", "table", "heatmap", "status-history", "state-timeline")
NOW = ("stat", "gauge", "bargauge", "table")  # kinds that show no past


def panel(kind: str, **more: Any) -> dict[str, Any]:
    """A panel as Grafana has it."""
    said = {"type": kind, "title": HOSTILE, "gridPos": {"x": 0, "y": 0, "w": 12, "h": 8}}
    queries = [{"expr": "up", "instant": kind in ("table", "stat"), "legendFormat": ""}]
    return {**said, "fieldConfig": {"defaults": {}}, "targets": queries, **more}


class Told(Prometheus):
    """A Prometheus of some nodes, each but `c` with a series; keeps what it was asked."""

    def __init__(self, nodes: tuple[str, ...] = ("a", "b", "c")) -> None:
        """Nothing was asked yet."""
        super().__init__("http://127.0.0.1:1")
        self.nodes = nodes
        self.queries: list[str] = []

    def instant(self, expr: str, _moment: float) -> list[Series]:
        """One sample of each."""
        return self.range(expr, HOUR)

    def range(self, expr: str, period: Period) -> list[Series]:
        """The last sample of each."""
        self.queries.append(expr)
        if "broken" in expr:
            raise RefusedError("parse error")
        return [Series({"node": node}, [(period.end, 1.0)]) for node in self.nodes if node != "c"]

    def values(self, _label: str, _selector: str, _period: Period) -> list[str]:
        """The nodes."""
        return list(self.nodes)


def artifacts() -> Iterator[Artifact]:
    """Three dashboards; a link of each series of the first leads to the second, the third has a panel of each kind."""
    link = {"title": "There", "url": "/d/two?var-node=${__field.labels.node}&x"}
    variable = {"type": "query", "name": "node", "label": "Node", "query": "label_values(up, node)", "allValue": ".*"}
    target = {"expr": 'up{node=~"$node"}', "instant": False, "legendFormat": "{{node}}"}
    marked = {"name": "Pages", "expr": "ALERTS", "titleFormat": "{{node}}"}
    wrong = {**target, "expr": "broken"}
    below = {"x": 0, "y": 8, "w": 12, "h": 8}
    made = {
        "one": [panel("timeseries", targets=[target], fieldConfig={"defaults": {"links": [link]}})],
        "two": [
            panel("stat", targets=[{**target, "instant": True}]),
            panel("timeseries", targets=[wrong], gridPos=below),
        ],
    }
    made["three"] = [
        panel(
            kind,
            targets=[{**target, "instant": kind in NOW}],
            gridPos={"x": 12 * (index % 2), "y": index // 2 * 8, "w": 12, "h": 8},
        )
        for index, kind in enumerate(KINDS)
    ]
    for uid, panels in made.items():
        said = {"uid": uid, "title": HOSTILE, "time": {"from": "now-6h"}, "panels": panels}
        said |= {"templating": {"list": [variable]}, "links": [], "annotations": {"list": [marked]}}
        yield Artifact(f"grafana/dashboards/f/{uid}.json", json.dumps(said), ())


def hostile_page() -> str:
    """A page in which everything that can be named is called what would run if it were markup."""
    found = gathered(boards(artifacts(), {**FOLDERS, "one": HOSTILE}), Told((HOSTILE, "a")), HOUR, 10)
    about = {"factory": HOSTILE, "kind": "live", "badge": HOSTILE, "source": HOSTILE, "note": HOSTILE}
    return page(found, HOUR, about)

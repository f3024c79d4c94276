"""The rules of Grafana's dashboard-linter (v0.2.0) for Prometheus, and how many series a query can return at most."""

from __future__ import annotations

import re
from math import inf, prod
from typing import TYPE_CHECKING, Any

from tocsin.promql import Aggregation, Binary, Call, Expr, PromqlError, Range, Selector, children, parse, walk
from tocsin.promql.tree import Number, Paren, String

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RATES = ("rate", "irate", "increase", "resets", "changes")
# The panels whose unit the linter judges, and those whose title and description it asks for.
JUDGED = ("stat", "timeseries", "table", "gauge", "status-history", "state-timeline", "heatmap")

# A factory of 10,000 boards: what its labels can be. Of a label that is not here any number.
VALUES = {
    "cluster": 4,
    "node": 1250,
    "gpu_uuid": 10_000,
    "job_id": 4000,
    "severity": 3,
    "owner": 20,
    "alertname": 180,
    "slo": 50,
    "reason": 4,
    "error": 8,
    "direction": 2,
    "le": 25,
}

# Rules that are not followed, and why.
EXCEPTIONS = {
    "template-job-rule": "a dashboard is about a place and a workload, which stand on series under the schema's labels",
    "template-instance-rule": "a target is named by its node; an instance is its address",
    "target-job-rule": "series are unique by name after ingest, and recorded ones have no job",
    "target-instance-rule": "a target is named by its node; recorded series have no instance",
    "target-rate-interval-rule": "windows are those of the alerts, so that a graph shows what an alert saw",
}


def without_variables(expr: str) -> str:
    """A query as it is when every variable is everything."""
    return re.sub(r"\$\w+", ".*", expr)


def findings(page: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every broken rule with the place that breaks it."""
    yield from _of_page(page)
    for panel in page["panels"]:
        for rule in _of_panel(panel):
            yield rule, panel.get("title", "")
        for target in panel.get("targets", []):
            for rule in _of_target(target):
                yield rule, f"{panel.get('title')}: {target['expr']}"


def _of_page(page: dict[str, Any]) -> Iterator[tuple[str, str]]:
    variables = page["templating"]["list"]
    sources = [one for one in variables if one["type"] == "datasource"]
    if [(one["name"], one["label"]) for one in sources] != [("datasource", "Data Source")]:
        yield "template-datasource-rule", "templating"
    for name in ("job", "instance"):
        if not any(one["name"] == name and one.get("multi") for one in variables):
            yield f"template-{name}-rule", "templating"
    for one in variables:
        if one["type"] == "query":
            if one.get("refresh") != 2:
                yield "template-on-time-change-reload-rule", one["name"]
            asked = re.fullmatch(r"label_values\((.*), \w+\)", one["query"])
            if not asked or not _parses(asked[1]):
                yield "template-label-promql-rule", one["name"]
    if page.get("editable") is not False:
        yield "uneditable-dashboard-rule", "editable"


def _of_panel(panel: dict[str, Any]) -> Iterator[str]:
    if panel.get("datasource", {}).get("uid") != "${datasource}":
        yield "panel-datasource-rule"
    if not panel.get("title") or not panel.get("description"):
        yield "panel-title-description-rule"
    if panel["type"] in JUDGED and not panel["fieldConfig"]["defaults"].get("unit"):
        yield "panel-units-rule"
    if not panel.get("targets"):
        yield "panel-no-targets-rule"


def _of_target(target: dict[str, Any]) -> Iterator[str]:
    if not _parses(target["expr"]):
        yield "target-promql-rule"
        return
    expr = parse(without_variables(target["expr"]))
    for selector in (node for node in walk(expr) if isinstance(node, Selector)):
        labels = {matcher.label: matcher.value for matcher in selector.matchers}
        for name in ("job", "instance"):
            if name not in labels:
                yield f"target-{name}-rule"
    calls = [node for node in walk(expr) if isinstance(node, Call) and node.function in RATES]
    if any(isinstance(argument, Range) for call in calls for argument in call.args):
        yield "target-rate-interval-rule"
    rated = {id(node) for call in calls for node in walk(call)}
    for node in walk(expr):
        if isinstance(node, Selector) and (node.metric or "").endswith("_total") and id(node) not in rated:
            yield "target-counter-agg-rule"


def _parses(expr: str) -> bool:
    try:
        parse(without_variables(expr))
    except PromqlError:
        return False
    return True


def shown(expr: Expr) -> set[str] | None:
    """The labels that the series of a query have; None where they have all of their metric's."""
    if isinstance(expr, Aggregation):
        if expr.op in ("topk", "bottomk"):
            return shown(expr.expr)
        return {label.name for label in expr.grouping.labels} if expr.grouping else set()
    if isinstance(expr, Selector):
        return None
    inner = [shown(child) for child in children(expr)]
    return next((labels for labels in inner if labels), None if None in inner else set())


def most(expr: Expr, values: Mapping[str, int]) -> float:
    """How many series a query returns at most, where labels have so many `values`; labels that are not there, any."""
    match expr:
        case Number() | String():
            return 0
        case Paren():
            return most(expr.expr, values)
        case Selector():
            return inf
        case Aggregation(op="topk" | "bottomk"):
            assert isinstance(expr.param, Number)
            return min(expr.param.value, most(expr.expr, values))
        case Aggregation():
            return prod(values.get(label.name, inf) for label in expr.grouping.labels) if expr.grouping else 1
        case Call(function="vector"):
            return 1
        case Call(function="histogram_quantile"):
            return most(expr.args[1], values) / values["le"]
        case Binary():
            return _most_of_two(expr, values)
    return max((most(child, values) for child in children(expr)), default=inf)


def _most_of_two(expr: Binary, values: Mapping[str, int]) -> float:
    left, right = most(expr.left, values), most(expr.right, values)
    if expr.op == "or":
        return left + right
    if expr.op == "unless" or not right:
        return left
    if not left:
        return right
    labels, on = shown(expr.left), {label.name for label in expr.matching.labels} if expr.matching else None
    if expr.op == "and" and on is not None and labels is not None and labels <= on:
        return min(left, right)
    return left if expr.op == "and" or (expr.matching and expr.matching.group) else min(left, right)

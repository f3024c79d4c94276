"""Who answers a query of a dashboard: Prometheus, Grafana itself, or a data source of another type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tocsin.dashboard.form import dicts, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    Model = dict[str, Any]

BORROWED = "-- Dashboard --"  # another panel of the page
MIXED = "-- Mixed --"  # each query names its own
OWN = ("-- Grafana --", "grafana")
EXPRESSION = "__expr__"  # Grafana's own arithmetic on the answers of other queries
# Those whose queries are PromQL as Prometheus reads it: the plugins of two clouds differ in how they log in.
_PROMETHEUS = ("prometheus", "grafana-amazonprometheus-datasource", "grafana-azureprometheus-datasource")
_UNTOLD = ("", "datasource", "grafana")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)(?::[^}]*)?\}?|\[\[([A-Za-z_]\w*)\]\]")
# What people call a data source that the dashboard names and does not give the type of.
_CALLED = re.compile(
    r"(loki|tempo|jaeger|zipkin|elasticsearch|opensearch|influxdb?|graphite|cloudwatch|mysql|postgres|mssql|infinity"
    r"|pyroscope|clickhouse|zabbix|stackdriver|opentsdb|testdata|victoriametrics)",
    re.IGNORECASE,
)
# Where a query is written that is none of Prometheus: it has no `expr`.
_ELSEWHERE = frozenset("expression jql panelId query queryText queryType rawQuery rawSql scenarioId target url".split())


def named_sources(model: Model) -> dict[str, str]:
    """The types of the data sources that variables stand for, and the inputs of an export for sharing."""
    inputs = [one for one in dicts(model.get("__inputs")) if one.get("type") == "datasource"]
    chosen = [one for one in listed(model, "templating") if one.get("type") == "datasource"]
    found = [(one.get("name"), one.get("pluginId")) for one in inputs]
    found += [(one.get("name"), one.get("query")) for one in chosen]
    return {name: kind for name, kind in found if isinstance(name, str) and isinstance(kind, str)}


def answers(panel: Model, target: Model, named: Mapping[str, str]) -> str:
    """Who answers a query of a panel, which asks the panel's own data source where it names none."""
    own = target.get("datasource")
    kind = other(panel.get("datasource") if own is None else own, named)
    if not kind and not isinstance(target.get("expr"), str) and not _ELSEWHERE.isdisjoint(target):
        return "another type"
    return kind


def other(source: Any, named: Mapping[str, str]) -> str:
    """The type of a data source that is not Prometheus; empty where it is, or may be."""
    uid, kind = (source.get("uid"), source.get("type")) if isinstance(source, dict) else (source, "")
    uid, kind = (str(one) if isinstance(one, str) else "" for one in (uid, kind))
    if uid in (BORROWED, *OWN):
        return uid
    if EXPRESSION in (uid, kind):
        return EXPRESSION
    if variable := _VARIABLE.fullmatch(uid):
        kind = named.get(variable[1] or variable[2], kind)
    elif kind in _UNTOLD and uid != MIXED:
        called = _CALLED.search(uid) if not isinstance(source, dict) else None
        kind = called[0].lower() if called else kind
    return "" if kind in (*_PROMETHEUS, *_UNTOLD) or kind.startswith(("$", "[[")) else kind


def is_strange(kind: str) -> bool:
    """Whether a data source is none that every Grafana has, of those that `other` tells."""
    return kind not in ("", BORROWED, EXPRESSION, *OWN)

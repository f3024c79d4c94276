"""The classic form of Grafana's dashboards: what has it, what does not, and what can be brought into it."""

from tocsin.dashboard.form import LINK, SCHEMA, SOURCE, listed, panels, queries, targets, titled
from tocsin.dashboard.problems import Problem, problems
from tocsin.dashboard.resource import unwrapped
from tocsin.dashboard.upgrade import upgraded

__all__ = [
    "LINK",
    "SCHEMA",
    "SOURCE",
    "Problem",
    "listed",
    "panels",
    "problems",
    "queries",
    "targets",
    "titled",
    "unwrapped",
    "upgraded",
]

"""Rules of the shape that Sloth publishes, for the SLO of `slo_specs`: what ours are measured against.

Seven ratios from the counters, the period as the mean of the shortest, six constants and derived series, two alerts on
two pairs of windows each (sloth, `examples/_gen/getting-started.yml` of release 0.16).
"""

from __future__ import annotations

from typing import Any

from slo_specs import BAD, METRIC

WINDOWS = ("5m", "30m", "1h", "2h", "6h", "1d", "3d")
LABELS = {"sloth_id": "web-requests", "sloth_service": "web", "sloth_slo": "requests"}
ME = ",".join(f'{name}="{value}"' for name, value in LABELS.items())
RATIO = "slo:sli_error:ratio_rate"
BUDGET = "0.001"
ALERTS = {"page": (("5m", "1h", "14.4"), ("30m", "6h", "6")), "ticket": (("2h", "1d", "3"), ("6h", "3d", "1"))}

# The honest and dear way: the counters themselves over the whole period.
RAW = f"sum by (cluster) (increase({BAD}[30d])) / sum by (cluster) (increase({METRIC}[30d]))"


def ratio(window: str) -> dict[str, Any]:
    """The error ratio of a window, from the counters."""
    expr = f"(sum by (cluster) (rate({BAD}[{window}]))) / (sum by (cluster) (rate({METRIC}[{window}])))"
    return _record(f"{RATIO}{window}", expr, sloth_window=window)


def groups() -> list[dict[str, Any]]:
    """The three groups of one SLO."""
    short = f"{RATIO}5m{{{ME}}}[30d]"
    mean = f"sum_over_time({short}) / ignoring (sloth_window) count_over_time({short})"
    period, burn = f"{RATIO}30d{{{ME}}}", f"{RATIO}5m{{{ME}}}"
    budget = f"on (sloth_id, sloth_slo, sloth_service) group_left slo:error_budget:ratio{{{ME}}}"
    meta = [
        _record("slo:objective:ratio", "vector(0.999)"),
        _record("slo:error_budget:ratio", f"vector({BUDGET})"),
        _record("slo:time_period:days", "vector(30)"),
        _record("slo:current_burn_rate:ratio", f"{burn} / {budget}"),
        _record("slo:period_burn_rate:ratio", f"{period} / {budget}"),
        _record("slo:period_error_budget_remaining:ratio", f"1 - slo:period_burn_rate:ratio{{{ME}}}"),
        _record("sloth_slo_info", "vector(1)", sloth_objective="99.9"),
    ]
    alerts = [
        {"alert": "WebErrors", "expr": " or ".join(map(_burns, pairs)), "labels": {"severity": severity}}
        for severity, pairs in ALERTS.items()
    ]
    indicators = [*map(ratio, WINDOWS), _record(f"{RATIO}30d", mean, sloth_window="30d")]
    named = {"sli-recordings": indicators, "meta-recordings": meta, "alerts": alerts}
    return [{"name": f"sloth-slo-{name}-web-requests", "rules": rules} for name, rules in named.items()]


def _record(name: str, expr: str, **labels: str) -> dict[str, Any]:
    return {"record": name, "expr": expr, "labels": {**LABELS, **labels}}


def _burns(pair: tuple[str, str, str]) -> str:
    *windows, factor = pair
    over = [f"max({RATIO}{one}{{{ME}}} > ({factor} * {BUDGET})) without (sloth_window)" for one in windows]
    return f"({' and '.join(over)})"

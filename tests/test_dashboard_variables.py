"""Queries of dashboards whose variables stand for any part of them: what may be right is no mistake."""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING

import pytest

from own_pages import told, understood
from tocsin.dashboard.filled import filled, fillings

if TYPE_CHECKING:
    from pathlib import Path

# --- variables in any place -------------------------------------------------------------------------------------------

ANY_PART = [
    "$agg by (node) (up)",
    "$agg without (node) (up)",
    "${agg:raw}(up)",
    "$agg(up) by (node)",
    "topk(5, $agg by (node) (rate(node_load1[$__rate_interval])))",
    "$fn(node_load1[5m])",
    "sum($fn(node_load1[$__range]))",
    "${fn}_over_time(up[5m])",
    "quantile_over_time(0.$q, up[5m])",
    "sum by ($group) (up)",
    "sum by (cluster, ${group:csv}) (up)",
    "sum(up) by ([[group]])",
    "up * on ($group) group_left ($more) up",
    "max_over_time(up[$window])",
    "max_over_time(up[${window}:$step])",
    "max_over_time(up[${n}d])",
    "max_over_time(up[$__interval_ms ms])",
    "up offset ${shift}",
    "up offset -${n}h",
    "up @ ${__to:date:seconds}",
    "rate(${metric}_total[5m])",
    "rate(node_${metric}_total{node=~'$node'}[5m])",
    "max($metric)",
    "[[metric]]",
    "$query",
    "${query:raw}",
    "$query / 2",
    "($query) or vector(0)",
    "up > $threshold",
    "up > bool ${threshold:raw}",
    "topk($n, ${metric}_x)",
    "histogram_quantile($q, sum by (le) (rate(${metric}_bucket[$__rate_interval])))",
    "histogram_quantile(0.$q, sum by (le) (rate(${metric}_bucket[5m])))",
    "clamp_max(up, $n) * 1$n",
    "up $op up",
    "up $op (up)",
    "up$suffix",
    "up{node='a'}$suffix",
    "up{$filters}",
    "up{${filters}}",
    "up{job='node', $filters}",
    "up{$filters, node=~'$node'}",
    "up{node='a' $filters}",
    "up{$label='a'}",
    "up{$label=~'$value', job='node'}",
    "up{node=${node:doublequote}}",
    "label_replace(up, '$to', '$1', 'node', '(.*)')",
    "label_replace(up, ${to:doublequote}, '$1', 'node', '(.*)')",
    "count_values('$to', up)",
    "rate(up[5m]) * $__interval_ms / 1000",
    "up * $__range_s + time() - $__from / 1000",
    "up{node=~'${node:pipe}|${node:regex}|[[node:glob]]|${node.text}'}",
    "up{node='${__from:date:YYYY-MM-DD HH:mm}', job='${__data.fields.Host}'}",
]
NAMES = "agg fn q group more window step n shift metric query threshold op suffix filters label value node to".split()


@pytest.mark.parametrize("expr", ANY_PART)
def test_a_variable_may_stand_for_any_part_of_a_query(expr: str, tmp_path: Path) -> None:
    """Nobody knows what it will be: that is no mistake of the dashboard."""
    variables = {"list": [{"type": "textbox", "name": name} for name in NAMES]}
    assert {code for code, _ in told(tmp_path, expr, templating=variables)} <= {"DSH108"}


@pytest.mark.parametrize("part", ["$agg(", "$n + ", "{$filters,", '"$node" ', "[$window", "offset $shift ", "[[n]]"])
def test_a_query_of_any_length_is_read_in_linear_time(part: str) -> None:
    """A hundred thousand variables in one query, of which the text beside each is read and no more."""
    assert len(list(fillings(part * 100_000))) >= 1


def test_those_queries_can_be_read_whatever_a_variable_is() -> None:
    """So that the names in them are held against the series all the same."""
    assert [expr for expr in ANY_PART if understood(expr) is None] == []


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("$agg by (node) (node_load1)", [("DSH108", "node_load1")]),
        ("rate(${metric}_total[5m]) / $agg(team:x:y)", [("DSH106", "team:x:y")]),
        ("sum by (node) (up{$filters}", []),  # a variable may hold the bracket
        ('sum by (node) (up{node="$node"}', [("PQL105", "")]),
        ("sum by (node) (rate(up[$window])", [("PQL105", "")]),
        ('label_replace(up, "node", "$host", "instance", "(?P<host>.*):.*")', []),
        ('label_replace(up, "node", "$host", "instance", "(.*):.*")', [("DSH107", "$host")]),
        ('up{job!~"a\\\\$b"}', []),
    ],
)
def test_what_is_known_of_a_query_is_judged_whatever_a_variable_is(
    expr: str, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    variables = {"list": [{"type": "textbox", "name": name} for name in NAMES]}
    found = told(tmp_path, expr, templating=variables)
    assert [
        (code, there if wanted else "") for (code, there), (_, wanted) in zip(found, expected, strict=True)
    ] == expected


def test_a_window_that_nobody_wrote_has_no_length(tmp_path: Path) -> None:
    """Somebody chooses it, or Grafana does by the span that is shown: only a written one can be too short."""
    variables = {"list": [{"type": "interval", "name": "window", "query": "30s,5m,1h"}]}
    for window, expected in (("30s", ["PQL211"]), ("$window", []), ("$__rate_interval", [])):
        slow = f"rate(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[{window}])"
        assert [code for code, _ in told(tmp_path, slow, templating=variables)] == expected


def test_a_text_that_is_never_closed_is_read_once() -> None:
    """Where each quote within was taken for the beginning of another, this took 12 s for a third of it."""
    query = 'up{a="' + r"\"" * 60_000
    started = process_time()
    assert filled(query).text == query
    assert process_time() - started < 5

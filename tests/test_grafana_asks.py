"""Variables, steps and requests as Grafana makes them of a dashboard's JSON."""

from __future__ import annotations

import pytest

from grafana_asks import Span, interpolated, path, regex, values_path

SIX_HOURS = Span(1_700_000_000, 1_700_021_600, 15)


@pytest.mark.parametrize(
    ("values", "written"),
    [
        (["east"], "east"),
        (["east", "west"], "(east|west)"),
        (["127.0.0.11"], r"127\\.0\\.0\\.11"),
        (["a|b", "c(d)"], r"(a\\|b|c\\(d\\))"),
    ],
)
def test_values_are_escaped_for_the_expression_and_for_the_string(values: list[str], written: str) -> None:
    assert regex(values) == written


def test_a_query_has_its_variables_and_windows_filled_in() -> None:
    expr = 'rate(x{node=~"$node", cluster=~"${cluster}"}[$__rate_interval])[$__range:$__interval]'
    filled = interpolated(expr, {"node": ".*", "cluster": "east"}, SIX_HOURS)
    assert filled == 'rate(x{node=~".*", cluster=~"east"}[60s])[21600s:20s]'


def test_a_variable_that_the_page_has_not_is_an_error() -> None:
    with pytest.raises(KeyError, match="nodes"):
        interpolated('x{node=~"$nodes"}', {"node": ".*"}, SIX_HOURS)


def test_steps_are_round_and_no_shorter_than_a_scrape() -> None:
    assert SIX_HOURS.step == 20
    assert Span(0, 300, 15).step == 15


def test_a_number_is_asked_for_once_and_a_graph_at_whole_steps() -> None:
    once = path({"expr": "up", "instant": True}, {}, SIX_HOURS)
    assert once == "query?query=up&time=1700021600.000"
    graph = path({"expr": "up", "instant": False}, {}, SIX_HOURS)
    assert graph == "query_range?query=up&start=1700000000&end=1700021600&step=20"


def test_a_variable_is_filled_by_a_label_of_what_the_earlier_ones_leave() -> None:
    variable = {"query": 'label_values(up{cluster=~"$cluster"}, node)'}
    asked = values_path(variable, {"cluster": "east"}, SIX_HOURS)
    assert asked.startswith("label/node/values?match%5B%5D=up%7Bcluster%3D~%22east%22%7D&start=1700000000")

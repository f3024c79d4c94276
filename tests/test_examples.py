"""Example labels: selected by what must select them, not by what must not, and found wherever there are any."""

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.examples import labels_for
from tocsin.factory.signals import Label
from tocsin.promql import Selector, matcher, parse_selector
from tocsin.source import Span

HERE = Span("spec.yaml", 1, 1, 1, 1)
SCHEMA = {
    "cluster": Label("cluster", ("east", "west"), None, HERE),
    "node": Label("node", None, "gpu-node-[0-9]{2}", HERE),
    "code": Label("code", None, "[1-5][0-9]{2}", HERE),
    "service": Label("service", None, None, HERE),
}


def selects(selector: Selector, labels: dict[str, str]) -> bool:
    """Whether the selector's matchers select a series, by Python's own regular expressions."""
    for one in selector.matchers:
        value = labels.get(one.label, "")
        same = value == one.value if one.op in ("=", "!=") else re.fullmatch(one.value, value) is not None
        if same != (one.op in ("=", "=~")):
            return False
    return True


def selector(*matchers: tuple[str, str, str]) -> Selector:
    """A selector of these (label, operator, value)."""
    return parse_selector(f"m{{{','.join(matcher(*one) for one in matchers)}}}")


@pytest.mark.parametrize(
    ("total", "told", "by", "labels"),
    [
        ("m", "m", (), {}),
        ("m", 'm{code=~"5.."}', (), {"code": "500"}),
        ("m", 'm{code=~"5.."}', ("cluster", "service"), {"cluster": "east", "code": "500", "service": "200"}),
        ('m{service="chat"}', 'm{service="chat", code=~"5..|429"}', (), {"code": "500", "service": "chat"}),
        ('m{code!=""}', "m", (), {"code": "100"}),
        ("m", 'm{node=~"gpu-node-0[1-4]"}', ("node",), {"node": "gpu-node-01"}),
    ],
)
def test_labels_of_an_event_that_is_told(total: str, told: str, by: tuple[str, ...], labels: dict[str, str]) -> None:
    assert labels_for([parse_selector(total), parse_selector(told)], None, by, SCHEMA) == labels


@pytest.mark.parametrize(
    ("total", "told"),
    [
        ("m", 'm{code=~"5..", code!="500"}'),
        ("m", 'm{code=~"4..|5..", code!~"4.."}'),
        ('m{code!~"1.."}', 'm{code=~"1..|2.."}'),
        ("m", 'm{service=~"chat|embed", service!="chat"}'),
        ("m", 'm{service=~"chat.*", service!="chat"}'),
        ("m", 'm{service=~"chat.*", service!~"chat0?"}'),
        ('m{service=~"chat-.+"}', 'm{service=~".+-canary"}'),
        ("m", 'm{service!~"[a-z]+|[0-9]+"}'),
    ],
)
def test_labels_that_only_a_search_finds(total: str, told: str) -> None:
    both = [parse_selector(total), parse_selector(told)]
    labels = labels_for(both, None, (), SCHEMA)
    assert labels is not None
    assert all(selects(one, labels) for one in both)


@pytest.mark.parametrize(
    ("total", "told", "labels"),
    [
        ("m", 'm{code=~"5.."}', {"code": "100"}),
        ("m", 'm{code!="200"}', {"code": "200"}),
        ("m", 'm{code=~"5..", service="chat"}', {"code": "100"}),
        ('m{code=~"5.."}', 'm{code=~"5..", service="chat"}', {"code": "500", "service": "200"}),
    ],
)
def test_labels_of_an_event_that_is_not_told(total: str, told: str, labels: dict[str, str]) -> None:
    assert labels_for([parse_selector(total)], parse_selector(told), (), SCHEMA) == labels


@pytest.mark.parametrize(
    ("total", "told"),
    [
        ('m{code="200"}', 'm{code="500"}'),
        ('m{code=~"4.."}', 'm{code=~"5.."}'),
        ('m{service="chat"}', 'm{service!="chat"}'),
        ("m", 'm{service=~"chat", service!~"ch.t"}'),
    ],
)
def test_selectors_that_contradict_each_other(total: str, told: str) -> None:
    assert labels_for([parse_selector(total), parse_selector(told)], None, (), SCHEMA) is None


@pytest.mark.parametrize(
    ("total", "told"),
    [("m", "m"), ('m{code=~"5.."}', 'm{code=~"[1-9].."}'), ("m", 'm{code=~".*"}'), ('m{code="500"}', 'm{code="500"}')],
)
def test_a_selector_that_leaves_nothing_over(total: str, told: str) -> None:
    assert labels_for([parse_selector(total)], parse_selector(told), (), SCHEMA) is None


MATCHERS = st.tuples(
    st.sampled_from(["a", "b"]),
    st.sampled_from(["=", "!=", "=~", "!~"]),
    st.sampled_from(["x", "xy", "5", "50", "5.", "x.*", ".*y", "x|y", "x?y", "[0-9]+", "[^x]+", ".+"]),
)
SELECTORS = st.lists(MATCHERS, max_size=3).map(lambda matchers: selector(*matchers))
VALUES = ["".join(chars) for length in (1, 2) for chars in product("xy05", repeat=length)]


@settings(max_examples=300)
@given(st.lists(SELECTORS, min_size=1, max_size=2), st.none() | SELECTORS)
def test_the_labels_are_selected_by_all_and_not_by_the_other_one(
    all_of: list[Selector], not_of: Selector | None
) -> None:
    labels = labels_for(all_of, not_of, ("b",), {})
    if labels is None:
        # A value may be anything, but every event has the label `b`, and those of `all_of` have theirs.
        named = sorted({"b", *(one.label for one in (*all_of, *([not_of] if not_of else [])) for one in one.matchers)})
        every = (dict(zip(named, values, strict=True)) for values in product(VALUES, repeat=len(named)))
        found = [e for e in every if all(selects(s, e) for s in all_of) and not (not_of and selects(not_of, e))]
        assert found == []
        return
    assert "b" in labels
    assert all(labels.values())
    assert all(selects(one, labels) for one in all_of)
    assert not_of is None or not selects(not_of, labels)


@given(SELECTORS, st.lists(st.sampled_from(["cluster", "node", "code", "service"]), max_size=4))
def test_every_label_of_by_has_a_value_of_its_domain(total: Selector, by: list[str]) -> None:
    labels = labels_for([total], None, by, SCHEMA)
    if labels is not None:
        assert set(by) <= labels.keys()
        assert labels.get("cluster", "east") in ("east", "west")
        assert re.fullmatch("gpu-node-[0-9]{2}", labels.get("node", "gpu-node-00"))

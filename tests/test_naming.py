"""Generated names: their shape, and that no two things share one."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin import burn, naming
from tocsin.units import Duration

FACTORY = st.from_regex(r"[a-z](-?[a-z0-9]){0,39}", fullmatch=True)
NAME = st.from_regex(r"[a-z](-?[a-z0-9]){0,30}", fullmatch=True)
RECORDED = {
    name: value for name, value in vars(naming).items() if name.isupper() and isinstance(value, str) and ":" in value
}


@given(FACTORY, NAME)
def test_a_uid_is_one_that_grafana_takes(factory: str, name: str) -> None:
    uid = naming.dashboard_uid(factory, name)
    assert re.fullmatch(r"[a-z][a-z0-9-]{0,39}", uid)
    assert uid == naming.dashboard_uid(factory, name)


@pytest.mark.parametrize(
    ("factory", "uid"),
    [
        ("ai-factory-east", "ai-factory-east-operations"),
        ("a" * 29, "a" * 29 + "-operations"),  # 40 characters: the last that stays as it is
        ("a" * 30, "a" * 27 + "-824a8e110cbb"),
        ("a" * 40, "a" * 27 + "-4e8895bf586b"),
    ],
)
def test_a_uid_stays_the_same_for_ever(factory: str, uid: str) -> None:
    """Links in old alerts and in people's bookmarks hold it."""
    assert naming.dashboard_uid(factory, "operations") == uid


@settings(max_examples=50)
@given(st.sets(FACTORY, min_size=2, max_size=10))
def test_no_two_factories_share_a_uid(factories: set[str]) -> None:
    longest = {f"{factory}{'x' * 40}"[:40] for factory in factories}
    for names in (factories, longest):
        assert len({naming.dashboard_uid(name, "operations") for name in names}) == len(names)


def test_a_factory_shares_no_uid_with_its_own_pages() -> None:
    pages = {naming.dashboard_uid("a" * 40, name) for name in ("operations", "fabric", "slos")}
    assert len(pages) == 3


def test_a_page_of_a_tenant_is_no_page_of_a_factory_with_the_tenants_name() -> None:
    """Factories that share a Grafana would take turns in overwriting it."""
    assert naming.dashboard_uid("x", "tenant-slos") != naming.dashboard_uid("x-tenant", "slos")
    assert naming.dashboard_uid("a", "tenant-b-tenant-c") != naming.dashboard_uid("a-tenant-b", "tenant-c")


AUDIENCES = ("operations", "gpus", "slos", "owners")


@given(st.sets(st.tuples(FACTORY, st.sampled_from(AUDIENCES) | NAME.map("tenant-{}".format)), min_size=2, max_size=8))
def test_no_two_pages_of_any_factories_share_a_uid(pages: set[tuple[str, str]]) -> None:
    assert len({naming.dashboard_uid(*page) for page in pages}) == len(pages)


def test_recorded_series_are_called_level_metric_operation() -> None:
    windows = burn.windows(burn.workbook(burn.MONTH)).all
    names = [
        *RECORDED.values(),
        *(naming.slo_errors(window) for window in windows),
        *(naming.slo_total(window) for window in windows),
    ]
    assert len(RECORDED) > 10
    assert len(set(names)) == len(names)
    assert [
        name for name in names if not re.fullmatch(r"(job|node|gpu|port|cluster|slo):[a-z_]+:[a-z]+[0-9a-z]*", name)
    ] == []


def test_the_window_is_part_of_the_name() -> None:
    assert naming.slo_errors(Duration.of(minutes=5)) == "slo:errors:rate5m"
    assert naming.slo_total(Duration.of(days=3)) == "slo:total:rate3d"


def test_labels_are_listed_as_promql_writes_them() -> None:
    assert naming.by(naming.GPU) == "cluster, node, gpu_uuid"
    assert naming.by(("cluster",)) == "cluster"

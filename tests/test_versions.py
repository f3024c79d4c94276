"""Releases: how they are written and compared, and which are known."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.versions import KNOWN, SINCE, Version, has, is_known, parse, show
from toolbox import Tool, found

VERSIONS = st.lists(st.integers(0, 9999), min_size=1, max_size=3).map(tuple)


@given(VERSIONS)
def test_a_version_is_read_back_as_it_was_shown(version: Version) -> None:
    assert parse(show(version)) == version


@pytest.mark.parametrize(
    ("product", "version", "known"),
    [
        ("prometheus", "2.42", True),
        ("prometheus", "2.42.0", True),
        ("prometheus", "2.41.9", False),
        ("prometheus", "2", False),  # it may be older than 2.42
        ("prometheus", "2.100", True),
        ("prometheus", "3", True),
        ("prometheus", "3.5.3", True),
        ("prometheus", "3.14.7", True),  # a fix of the last release
        ("prometheus", "3.15", False),
        ("prometheus", "4", False),
        ("alertmanager", "0.24.0", False),
        ("alertmanager", "0.25", True),
        ("alertmanager", "0.34.1", True),
        ("alertmanager", "0.35", False),
        ("grafana", "9.5.1", False),
        ("grafana", "10", True),
        ("grafana", "10.0.0", True),
        ("grafana", "13.2", True),
        ("grafana", "14", False),
        ("dcgm_exporter", "3.3.5", False),
        ("dcgm_exporter", "3.3.6", True),
        ("dcgm_exporter", "3.3", False),  # 3.3.0 came without err_code
        ("dcgm_exporter", "3.4", True),
        ("dcgm_exporter", "4.8.2", True),
        ("dcgm_exporter", "4.10", False),
    ],
)
def test_which_releases_are_known(product: str, version: str, known: bool) -> None:
    assert is_known(product, parse(version)) is known


@pytest.mark.parametrize("product", KNOWN)
def test_the_first_and_the_last_release_are_known_and_their_neighbours_are_not(product: str) -> None:
    first, last = KNOWN[product]
    assert is_known(product, first)
    assert is_known(product, last)
    assert not is_known(product, (*first[:-1], first[-1] - 1))
    assert not is_known(product, (*last[:-1], last[-1] + 1))


@pytest.mark.parametrize("product", KNOWN)
@given(data=st.data())
def test_what_lies_between_two_known_releases_is_known(product: str, data: st.DataObject) -> None:
    versions = sorted(data.draw(st.lists(VERSIONS, min_size=3, max_size=3)))
    older, between, newer = (is_known(product, version) for version in versions)
    assert between or not (older and newer)


@pytest.mark.parametrize("feature", SINCE)
def test_a_feature_is_there_from_its_first_release_on(feature: str) -> None:
    product, since = SINCE[feature]
    first, last = KNOWN[product]
    assert first < since <= last  # a feature of every known release needs no gate
    assert has(feature, since)
    assert has(feature, (*since, 0))
    assert has(feature, last)
    assert not has(feature, first)
    assert not has(feature, (*since[:-1], since[-1] - 1, 99))


def test_every_tool_that_judges_the_output_is_of_a_known_release(promtool: Tool, amtool: Tool) -> None:
    assert is_known("prometheus", promtool.version)
    assert is_known("alertmanager", amtool.version)


@pytest.mark.parametrize(("name", "product"), [("promtool", "prometheus"), ("amtool", "alertmanager")])
def test_the_oldest_known_release_is_among_the_judges(name: str, product: str) -> None:
    """Where several versions are installed: what is promised for the first release was tried with it."""
    versions = [tool.version for tool in found(name)]
    if len(versions) > 1:
        first, _ = KNOWN[product]
        assert versions[0][: len(first)] == first


def test_versions_are_compared_as_numbers() -> None:
    written = ["2.9", "2.10", "2.42.0", "2.42.1", "3", "3.5", "3.14"]
    assert all(parse(older) < parse(newer) for older, newer in itertools.pairwise(written))

"""Host ranges: the hosts that they stand for, and what is said about those that stand for none."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.hostlist import MAX_HOSTS, expand


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("gpu-node-01", "gpu-node-01"),
        ("gpu-node-[01-03]", "gpu-node-01 gpu-node-02 gpu-node-03"),
        ("gpu-node-[08-11,70]", "gpu-node-08 gpu-node-09 gpu-node-10 gpu-node-11 gpu-node-70"),
        ("n[8-11]", "n8 n9 n10 n11"),
        ("n[08-09]", "n08 n09"),
        ("n[098-101]", "n098 n099 n100 n101"),
        ("rack[1-2].gpu.example.com", "rack1.gpu.example.com rack2.gpu.example.com"),
        ("[1-2]", "1 2"),
        ("n[3, 1]", "n3 n1"),
        ("n[1,01,001]", "n1 n01 n001"),
        ("n[7-7]", "n7"),
        ("n[0-10]", "n0 n1 n2 n3 n4 n5 n6 n7 n8 n9 n10"),
        ("mlx5_[0-1]", "mlx5_0 mlx5_1"),
    ],
)
def test_a_range_becomes_its_hosts_in_its_order(text: str, hosts: str) -> None:
    assert expand(text) == tuple(hosts.split())


@pytest.mark.parametrize(
    ("reason", "texts"),
    [
        ("bracket", ["r[1-2]n[1-2]", "n[1-2", "n1-2]", "n[[1-2]]", "n][", "[", "]"]),
        (
            "a range of numbers",
            ["n[]", "n[1,,2]", "n[1-]", "n[-1]", "n[1-2-3]", "n[a-c]", "n[1:3]", "n[١-٣]", "n[1.5]"],
        ),
        ("a range of numbers", ["n[1-9999999999]", "n[1 2]", "n[0x1]"]),
        ("differ in width: write `.01-06.`", ["n[01-6]", "n[1-06]", "n[7,01-6]"]),
        ("differ in width: write `.001-100.`", ["n[01-100]"]),
        ("runs backwards", ["n[2-1]", "n[1,10-09]"]),
        (f"more than {MAX_HOSTS} hosts", ["n[1-999999999]", "n[1-150000,200001-250001]", f"n[0-{MAX_HOSTS}]"]),
        (
            "is not a name",
            ["", " ", "-n", "n-", "n[1-2]-", "gpu node", "n1\n", "nœud[1-2]", "n1,n2", ".", "n/1", "n:1"],
        ),
    ],
)
def test_what_stands_for_no_hosts_is_refused_with_a_reason(reason: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(ValueError, match=reason):
            expand(text)


def test_the_largest_fleet() -> None:
    hosts = expand(f"n[1-{MAX_HOSTS}]")
    assert len(set(hosts)) == MAX_HOSTS


def test_a_name_is_as_long_as_dns_allows() -> None:
    assert expand("n" * 253) == ("n" * 253,)
    with pytest.raises(ValueError, match="is not a name"):
        expand("n" * 254)


@given(st.integers(0, 99_999), st.integers(0, 300), st.integers(1, 7), st.sampled_from(["", "n", "a.b-"]))
def test_a_range_counts_from_its_first_to_its_last_number(first: int, more: int, width: int, before: str) -> None:
    last = first + more
    width = max(width, len(str(last))) if width > len(str(first)) else width
    hosts = expand(f"{before}[{first:0{width}d}-{last:0{width}d}]")
    assert [int(host.removeprefix(before)) for host in hosts] == list(range(first, last + 1))
    assert all(len(host) >= len(before) + width for host in hosts)


@given(st.text(alphabet="n01-9[],. ", max_size=30))
def test_whatever_is_written_is_expanded_or_refused(text: str) -> None:
    try:
        hosts = expand(text)
    except ValueError:
        return
    assert hosts
    assert all(re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", host) for host in hosts)

"""The fleet that is not there: no kinder than real exporters, and its faults show on its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fleet.__main__ import happen
from tocsin.fleet.counters import every_metric, listed
from tocsin.fleet.fleet import Fleet
from tocsin.fleet.meter import Meter
from tocsin.fleet.node import Node
from tocsin.fleet.workload import Service

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    """One host with two boards, two jobs, two adapters and a service."""
    with Fleet([Node(HOST, gpus=2, jobs=("1", "2"), service=Service("chat"))]) as fleet:
        yield fleet


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("DCGM_FI_DEV_GPU_TEMP,gauge\n", "expected 3 fields"),
        ("DCGM_FI_DEV_GPU_TEMP,gauge,hot, hotter\n", "expected 3 fields"),
        ('DCGM_FI_DEV_GPU_TEMP,gauge, "hot, hotter"\n', "expected 3 fields"),
        ("DCGM_FI_DEV_NO_SUCH_FIELD,gauge,what\n", "could not find DCGM field"),
        ("DCGM_FI_DEV_GPU_TEMP,level,hot\n", "could not find Prometheus metric type"),
    ],
)
def test_a_counters_file_that_ends_the_exporter_is_refused(text: str, complaint: str) -> None:
    """The fleet is no kinder than dcgm-exporter."""
    with pytest.raises(ValueError, match=complaint):
        listed(text)


def test_a_counters_file_is_read_in_its_order() -> None:
    """Comments and empty lines are passed over, the help text's quotes taken off."""
    last, first = every_metric()[-1], every_metric()[0]
    found = listed(f'# a comment\n\n{last.name},{last.type},"one, two"\n{first.name},{first.type},three\n')
    assert [(metric.name, metric.help) for metric in found] == [(last.name, "one, two"), (first.name, "three")]


def test_a_counter_keeps_what_it_counted() -> None:
    """Another rate, or none, takes nothing back."""
    meter = Meter(rate=1e6)
    before = meter.read()
    meter.run(0)
    stopped = meter.read()
    meter.add(5)
    assert before < stopped
    assert meter.read() == stopped + 5


def samples(fleet: Fleet, exporter: str, name: str) -> list[str]:
    """Labels and value of each sample of a metric, as they stand on the page."""
    return [
        line for line in fleet.nodes[HOST].page(exporter).splitlines() if line.startswith((f"{name}{{", f"{name} "))
    ]


@pytest.mark.parametrize(
    ("line", "exporter", "name", "end", "count"),
    [
        ("xid 127.0.0.1 1 79", "dcgm", "DCGM_FI_DEV_XID_ERRORS", " 79", 2),
        ("throttle 127.0.0.1 0 sw_thermal", "dcgm", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", " 32", 2),
        ("ecc 127.0.0.1 0 3", "dcgm", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", " 3", 2),
        ("link_down 127.0.0.1 mlx5_1", "node", "node_infiniband_link_downed_total", " 1", 1),
        ("link_down 127.0.0.1 mlx5_1", "node", "node_infiniband_state_id", " 1", 1),
    ],
)
def test_a_line_is_a_fault(fleet: Fleet, line: str, exporter: str, name: str, end: str, count: int) -> None:
    """The fault shows on the page, on every copy of the board and on no other board or port."""
    assert not [sample for sample in samples(fleet, exporter, name) if sample.endswith(end)]
    happen(fleet, line)
    assert len([sample for sample in samples(fleet, exporter, name) if sample.endswith(end)]) == count


def test_a_vanished_board_has_no_series(fleet: Fleet) -> None:
    """It is gone from the page, the other is not."""
    happen(fleet, f"vanish {HOST} 0")
    boards = {sample.split('gpu="')[1][0] for sample in samples(fleet, "dcgm", "DCGM_FI_DEV_GPU_TEMP")}
    assert boards == {"1"}


def test_failed_requests_have_a_series_once_there_are_any(fleet: Fleet) -> None:
    """As with every client library."""
    assert not [sample for sample in samples(fleet, "serving", "inference_requests_total") if 'code="503"' in sample]
    fleet.nodes[HOST].service.bad.add(7)  # type: ignore[union-attr]
    assert [sample for sample in samples(fleet, "serving", "inference_requests_total") if 'code="503"' in sample]


@pytest.mark.parametrize(
    "line",
    [
        "melt 127.0.0.1",
        "xid 127.0.0.1",
        "xid 127.0.0.9 0 79",
        "xid 127.0.0.1 7 79",
        "throttle 127.0.0.1 0 boredom",
        "link_down 127.0.0.1 eth0",
        "exporter_down 127.0.0.1 trainer",
        "errors search 0.5",
    ],
)
def test_a_line_that_is_no_fault_is_told(fleet: Fleet, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing else happens."""
    happen(fleet, line)
    assert capsys.readouterr().err.startswith(f"{line}: ")


@pytest.mark.xdist_group("one")
def test_who_shares_servers_shares_a_worker(request: pytest.FixtureRequest) -> None:
    """By the end of its id pytest-xdist knows the group of a test; releases that do not agree lose it silently."""
    if request.config.getoption("loadgroup", default=False):
        assert request.node.nodeid.endswith("@one"), "install the development dependencies again"

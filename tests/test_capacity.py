"""Capacity: numbers that are told about GPU fleets, reproduced or corrected, and what specs come to."""

from __future__ import annotations

import json
import resource
import time
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

import tier_specs
from bench.nodes import spec_lines
from command import tocsin
from conftest import ROOT
from tocsin import capacity, naming
from tocsin.capacity import Part, Size
from tocsin.capacity.load import of_objective
from tocsin.cli import run
from tocsin.diagnostics import Log
from tocsin.indicators import SLICED
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Record
from tocsin.units import Duration, amount

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLE = ROOT / "specs" / "ai-factory.yaml"
SPECS = [EXAMPLE, *sorted((ROOT / "tests" / "cases" / "golden").glob("*/spec.yaml"))]


def compiled(path: Path) -> Compiled:
    log = Log()
    result = compile_spec(str(path), log, {})
    assert result is not None, log.sorted()
    return result


# --- what is told about GPU fleets ------------------------------------------------------------------------------------


def boards(count: int, metrics: int, seconds: int) -> Size:
    """So many boards with so many series each, scraped every so many seconds."""
    every = Duration.of(seconds=seconds)
    hosts = tuple(map(str, range(count)))
    return capacity.of([Part("east", "dcgm", "ops", every, hosts, metrics, counted=True, spread=True)])


def test_one_board_of_147_metrics_is_a_megabyte_a_day() -> None:
    """35 MB a day, as is told, are 41 bytes a sample: text, not what is stored. That saves 96.9 %, not 95."""
    board = boards(1, 147, 15)
    a_day = board.samples * 86400
    assert a_day == 846_720
    stored = capacity.per_day(board.samples, Fraction("1.3"))
    assert stored == 1_100_736
    assert float(35_000_000 / a_day) == pytest.approx(41.3, abs=0.05)
    assert float(1 - stored / 35_000_000) == pytest.approx(0.969, abs=0.0005)


def test_ten_thousand_boards() -> None:
    """1.47 million series, 98,000 samples a second, 11 GB a day; with 5 s three times as many samples."""
    fleet = boards(10_000, 147, 15)
    assert fleet == Size(10_000, 1_470_000, Fraction(98_000))
    assert float(capacity.per_day(fleet.samples, Fraction("1.3"))) == pytest.approx(11.0e9, rel=0.001)
    assert boards(10_000, 147, 5).samples == 294_000


def test_thirty_seconds_instead_of_five_save_five_sixths() -> None:
    """83.3 %, not the 85 that are told."""
    saved = 1 - boards(10, 147, 30).samples / boards(10, 147, 5).samples
    assert saved == Fraction(5, 6)


def test_ten_million_series_a_server() -> None:
    """That many want 76 GiB by our formula, and hold 68,000 boards of 147 metrics: a fleet of 100,000 needs two."""
    assert round(capacity.memory(Size(0, 10_000_000, Fraction())) / 2**30, 1) == 76.3
    assert 10_000_000 // 147 == 68_027
    assert -(-boards(100_000, 147, 15).series // 10_000_000) == 2


def test_disk_is_retention_times_samples() -> None:
    """At 2 bytes a sample, a fifth more for compaction, and three hours of raw samples in the log."""
    one = Size(1, 1, Fraction(1))
    day, two = (capacity.disk(one, Duration.of(days=days)) for days in (1, 2))
    assert two - day == pytest.approx(86400 * 2 * 1.2, abs=1)
    assert day - (two - day) == pytest.approx(3 * 3600 * 16, abs=1)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (Fraction(4, 3), "1.33"),
        (98_000, "98k"),
        (1_470_000, "1.47M"),
        (1000, "1k"),
        (Fraction(1, 3), "0.333"),
        (12_345_678_901, "12.3G"),
    ],
)
def test_amounts_are_read_by_people(value: int | Fraction, shown: str) -> None:
    assert amount(value) == shown


# --- what a spec comes to ---------------------------------------------------------------------------------------------


def test_the_example_adds_up() -> None:
    """64 nodes of 8 boards, 8 ports, 10 drives: 26 metrics a board, 10 a port, 3 a drive, five more for each target."""
    result = compiled(EXAMPLE)
    jobs = {row.names: row.size for row in result.plan.sizes.jobs}
    assert jobs["east", "dcgm"] == Size(64, 64 * (8 * 26 + 5), Fraction(64 * (8 * 26 + 5), 15))
    others = capacity.OTHER_SERIES["node"]
    assert jobs["east", "node"].series == 64 * (8 * 10 + 10 * 3 + 5 + others)
    assert jobs["east", "trainer"] == Size(56, 56 * (4 + 5), Fraction(56 * (4 + 5), 5))
    sizes = result.plan.sizes
    for rows in (sizes.jobs, sizes.owners):
        assert sum((row.size for row in rows), capacity.NOTHING) == sizes.total.size
    assert [row.size for row in sizes.servers] == [sizes.total.size] * 2


def test_a_tier_holds_what_it_is_for() -> None:
    """Hot has all, Thanos' 5m blocks five values each of the same, evidence three series a board."""
    sizes = compiled(EXAMPLE).plan.sizes
    hot, warm, evidence = (row.load for row in sizes.tiers)
    assert hot.size == warm.size == sizes.total.size
    assert (hot.samples, warm.samples) == (hot.size.samples, Fraction(5 * warm.size.series, 300))
    assert evidence.size == Size(0, 3 * 8 * 64, Fraction(3 * 8 * 64, 15))
    assert evidence.disk == pytest.approx(365 * 86400 * float(evidence.samples) * 2 * 1.2, abs=1)
    assert warm.disk == pytest.approx(180 * 86400 * float(warm.samples) * 2.4 + hot.disk, abs=2)
    assert (hot.written, warm.written) == (0, 0)  # a sidecar uploads what is there
    assert evidence.written == pytest.approx(capacity.WIRE * float(evidence.samples), abs=1)


def test_a_tier_that_is_written_to_gets_its_share(tmp_path: Path) -> None:
    """Restricted series, which are power, go nowhere but where they are named."""
    sizes = tier_specs.compiled(tmp_path, tier_specs.said("prometheus", tier_specs.KINDS["prometheus"])).plan.sizes
    load = {row.name: row.load for row in sizes.tiers}
    recorded = sum(row.size.series for row in sizes.jobs if row.names[1] == capacity.RULES)
    assert load["few"].size.series == recorded - 2  # but for the alert that always fires
    assert load["people"].size.series > 0
    assert load["all"].size.series + load["people"].size.series == load["hot"].size.series == sizes.total.size.series
    assert all(one.written == -(-capacity.WIRE * one.samples // 1) for name, one in load.items() if name != "hot")


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.parent.name)
def test_every_recorded_series_is_counted(spec: Path) -> None:
    """A rule that is new and not in the table would be series that nobody predicted."""
    result = compiled(spec)
    rules = [rule for file in result.plan.rules for group in file.groups for rule in group.rules]
    names = {rule.name for rule in rules if isinstance(rule, Record) and not rule.name.startswith("slo:")}
    derived = {naming.NVLINK_ERRORS, naming.NVLINK_CORRECTED, naming.NVLINK_UNCORRECTED}
    derived |= {
        naming.PORT_CORRECTED,
        naming.PORT_UNCORRECTED,
        naming.ROCE_CORRECTED,
        naming.ROCE_UNCORRECTED,
        naming.TARGETS_UP,
        naming.LABEL_VALUES,
        naming.NODES_TOLD,
        naming.PAGES,
        naming.PAGES_NEW,
    }
    counted = {name for name, (signal, _, _) in capacity.RECORDED.items() if signal in result.factory.signals}
    assert names - derived == counted


def test_recorded_series_are_as_many_as_their_rules() -> None:
    """One a rule and entity, as far as the fleet is sound."""
    rules = [rule for file in compiled(EXAMPLE).plan.rules for group in file.groups for rule in group.rules]
    found = Counter(rule.name for rule in rules if isinstance(rule, Record))
    for name, (_, _, count) in capacity.RECORDED.items():
        assert count in (0, found[name]), name


def test_an_objective_has_a_series_for_each_of_its_rules() -> None:
    """Of one place: where `by` has no closed values, what is recorded are as many series as there are rules."""
    result = compiled(ROOT / "tests" / "cases" / "golden" / "time-slices" / "spec.yaml")
    assert {slo.kind for slo in result.factory.slos.values()} == {*SLICED}
    for slo in result.factory.slos.values():
        groups = [(file, group) for file in result.plan.rules for group in file.groups]
        mine = [group for file, group in groups if f"slo-{slo.id}" == file.name or group.name == f"slo-{slo.id}-period"]
        names = [rule.name for group in mine for rule in group.rules if isinstance(rule, Record)]
        placed = slo._replace(by=("cluster",))
        sizes = {of_objective(result.factory, one, placed) for one in result.factory.clusters.values()}
        assert max(sizes) == len(names) == len({*names}), slo.id


def test_a_target_of_each_kind_has_what_its_spec_says(tmp_path: Path) -> None:
    """Closed labels multiply, histograms have buckets, what is said to be there beside is there."""
    text = (ROOT / "tests" / "cases" / "golden" / "two-clusters" / "spec.yaml").read_text("utf-8")
    path = tmp_path / "spec.yaml"
    path.write_text(text.replace("collection: {", "collection: {other_series: {worker: 7}, "), "utf-8")
    worker = next(row for row in compiled(path).plan.sizes.jobs if row.names == ("north", "worker"))
    assert worker.size.series == 2 + 2 * (14 + 3) + 7 + 5


def test_a_hundred_thousand_boards_compile_in_a_minute_and_a_gibibyte(tmp_path: Path) -> None:
    """12,500 nodes in ten clusters, with replicas and every level of federation; nothing is verified."""
    spec = tmp_path / "spec.yaml"
    spec.write_text("\n".join(spec_lines(12_500)) + "\n", "utf-8")
    begun = time.monotonic()
    done = tocsin(["build", spec, "--out", tmp_path, "--no-verify"], limits={resource.RLIMIT_AS: 2**30})
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - begun < 60


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_prints_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """The same that stands in the output folder."""
    assert run(["capacity", str(EXAMPLE)]) == 0
    page = ROOT / "out" / "ai-factory-east" / "docs" / "capacity.md"
    assert capsys.readouterr().out == page.read_text("utf-8")


def test_the_command_speaks_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["capacity", str(EXAMPLE), "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["retention_seconds"] == 7 * 86400  # `retention.hot` of the spec
    assert [row["tier"] for row in said["tiers"]] == ["hot", "warm", "evidence"]
    assert sum(row["series"] for row in said["jobs"]) == said["total"]["series"]
    assert {row["owner"] for row in said["owners"]} <= set(compiled(EXAMPLE).factory.owners)


def test_the_command_keeps_samples_as_long_as_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    disks = []
    for time_ in ("15d", "30d", "45d"):
        assert run(["capacity", str(EXAMPLE), "--format", "json", "--retention", time_]) == 0
        disks.append(json.loads(capsys.readouterr().out)["total"]["disk_bytes"])
    assert disks[2] - disks[1] == pytest.approx(disks[1] - disks[0], abs=1)
    assert run(["capacity", str(EXAMPLE), "--retention", "long"]) == 2
    assert capsys.readouterr().err == "tocsin: long is not a time; write it as 30d\n"


def test_a_spec_with_a_mistake_has_no_size(capsys: pytest.CaptureFixture[str]) -> None:
    bad = ROOT / "tests" / "cases" / "bad" / "CAP102_series.yaml"
    assert run(["capacity", str(bad)]) == 1
    assert "error[CAP102]" in capsys.readouterr().out

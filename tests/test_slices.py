"""Objectives over slices of time: what a spec leaves out is filled in by what is known, and by what is reasonable."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from tocsin.diagnostics import Log
from tocsin.indicators import Composite, Slices, Slowdown, TimeSlice, Utilisation, of_kind
from tocsin.lower.slice_story import STILL, Beat, played, samples_of
from tocsin.lower.vanishing import vanishing
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Alert, Record
from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.factory import Factory

SPEC = ROOT / "tests" / "cases" / "golden" / "time-slices" / "spec.yaml"
MINUTE = Duration.of(minutes=1)


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    result = compile_spec(str(SPEC), Log(), {})
    assert result is not None
    return result


@pytest.fixture(scope="module")
def factory(compiled: Compiled) -> Factory:
    return compiled.factory


def test_a_slice_looks_back_a_minute_or_four_scrapes(factory: Factory) -> None:
    """The trainer is scraped every 5 seconds, the serving job every minute; rules are evaluated every 20 seconds."""
    every, slos = Duration.of(seconds=20), factory.slos
    assert of_kind(slos["progress"].indicator, TimeSlice).slices == Slices(every, MINUTE)
    assert of_kind(slos["tokens"].indicator, TimeSlice).slices == Slices(every, Duration(4 * MINUTE))


def test_a_job_has_ten_minutes_to_start_where_nothing_else_is_said(factory: Factory) -> None:
    graces = {
        id_: of_kind(factory.slos[id_].indicator, TimeSlice).grace for id_ in ("progress", "progress-of-the-week")
    }
    assert graces == {"progress": Duration(3 * MINUTE), "progress-of-the-week": Duration(10 * MINUTE)}
    assert of_kind(factory.slos["pace"].indicator, Slowdown).grace == Duration(10 * MINUTE)


def test_a_failure_that_every_slice_of_its_minute_sees_pages_nobody(factory: Factory) -> None:
    """18 events are needed at 5.6 times 1%, and a minute is seen by three slices of 20 seconds: 18 minutes."""
    assert factory.slos["progress"].least == 18 * 60
    assert factory.slos["tokens-of-chat"].least == 200 * 20  # `min_events` are slices


def test_a_share_of_a_board_is_in_the_unit_of_its_gauge(factory: Factory) -> None:
    assert of_kind(factory.slos["busy"].indicator, Utilisation).at_least == 40
    assert of_kind(factory.slos["at-work"].indicator, Utilisation).at_least == Fraction(1, 8)


def test_a_composite_knows_its_parts_and_stands_where_its_name_does(factory: Factory) -> None:
    """Its parts come after it, by their names."""
    assert [*factory.slos] == sorted(factory.slos)
    parts = of_kind(factory.slos["serving"].indicator, Composite).parts
    assert [(part.id, part.budget) for part in parts] == [
        ("tokens", Fraction(1, 200)),
        ("tokens-of-chat", Fraction(2, 100)),
        ("busy", Fraction(5, 100)),
    ]


def test_an_indicator_is_taken_for_no_other(factory: Factory) -> None:
    with pytest.raises(TypeError):
        of_kind(factory.slos["busy"].indicator, TimeSlice)


@pytest.mark.parametrize("by", [("cluster",), ("cluster", "job_id")])
def test_that_a_job_ends_is_no_missing_traffic(factory: Factory, by: tuple[str, ...]) -> None:
    assert vanishing(factory, factory.slos["progress"]._replace(by=by), "{}") is None
    assert vanishing(factory, factory.slos["tokens"], "{}") is not None


def test_a_slice_is_recorded_before_what_adds_it_up(compiled: Compiled) -> None:
    """A chain in one group, in its order; the alerts come last."""
    for file in compiled.plan.rules:
        if file.name.startswith("slo-"):
            names = [rule.name for rule in file.groups[0].rules if isinstance(rule, Record)]
            windows = [name.startswith("slo:total:rate") for name in names]
            assert names.index("slo:slices:total") < names.index("slo:slices:bad") < windows.index(True)
            kinds = [isinstance(rule, Alert) for rule in file.groups[0].rules]
            assert kinds == sorted(kinds)


# --- the story of a proof ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("every", "look", "samples"), [(15, 60, 1), (20, 60, 2), (120, 240, 2), (50, 60, 4)])
def test_a_slice_sees_four_samples_in_every_proof(every: int, look: int, samples: int) -> None:
    assert samples_of(Slices(Duration.of(seconds=every), Duration.of(seconds=look))) == samples


def test_a_counter_goes_on_from_beat_to_beat_and_begins_again_where_it_is_said() -> None:
    beats = [Beat(3, Fraction(2), 1), Beat(2, STILL, 0), Beat(2, None, None), Beat(2, Fraction(1), 1, restarts=True)]
    counter, gauge = played(beats, Duration.of(seconds=10), 1)
    assert counter == "0+20x2 40+0x1 stale _ 0+10x1"
    assert gauge == "1+0x2 0+0x1 stale _ 1+0x1"

"""The samples that the rules of an SLO load: by hand, and by what `tocsin capacity` says of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from slo_specs import METRIC, SLO, compiled
from tocsin import capacity
from tocsin.emit.capacity import as_json, markdown
from tocsin.units import Duration

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.capacity import Loads

MINUTES = 5 + 30 + 60 + 120 + 360  # of the counted windows together
STEPS = 1440 * (1 + 3 + 30)  # of the summed ones


def loaded(folder: Path, interval: str = "1m", **slo: Any) -> Loads:
    """By an SLO over 20 instances with two codes each."""
    (one,) = capacity.loads(compiled({**SLO, **slo}, folder, instances=20, interval=interval).factory)
    return one


def test_counted_windows_read_series_times_window_by_interval(tmp_path: Path) -> None:
    """All events once and the errors once; where good ones are told, all are read twice more."""
    one = loaded(tmp_path)
    assert one.counted == MINUTES * (40 + 20)
    assert one.biggest == capacity.Query("slo:total:rate5m", 1, Duration.of(days=30), Duration.of(minutes=1))
    assert loaded(tmp_path, "15s").counted == 4 * one.counted
    good = {"ratio": {"good": f'{METRIC}{{code="200"}}', "total": METRIC}}
    assert loaded(tmp_path, **good).counted == MINUTES * (3 * 40 + 20)


def test_summed_windows_read_a_step_a_minute(tmp_path: Path) -> None:
    """Of errors and of all events, whatever the interval, for each combination of labels."""
    for interval in ("1m", "15s"):
        assert loaded(tmp_path, interval).summed == 2 * STEPS
    ratio = {"bad": f'{METRIC}{{route="slow"}}', "total": METRIC}
    assert loaded(tmp_path, by=["cluster", "code"], ratio=ratio).summed == 2 * 2 * STEPS


@pytest.mark.parametrize("matcher", ['code="500"', 'code!="200"', 'code=~"4..|5.."', 'code!~"2.."'])
def test_matchers_select_values(matcher: str, tmp_path: Path) -> None:
    """As far as the schema lists them: one of two; of others nobody knows how many there are."""
    one = loaded(tmp_path, "5s", ratio={"bad": f'{METRIC}{{{matcher},route=~"a.*"}}', "total": METRIC})
    assert one.counted == 12 * MINUTES * (40 + 20)
    assert one.rule == 12 * 360 * 40
    assert (one.biggest.name, one.biggest.series) == (METRIC, 40)


def test_the_page_and_the_numbers_say_it(tmp_path: Path) -> None:
    """Both forms that `tocsin capacity` prints."""
    sizes = compiled(SLO, tmp_path).plan.sizes
    assert "| east    | web |           34.5k |          97.9k |        43.2k |            0.086 % |" in markdown(
        "x", sizes
    )
    assert json.loads(as_json("x", sizes))["slos"] == [
        {
            "cluster": "east",
            "slo": "web",
            "counted_samples": 34_500,
            "summed_samples": 97_920,
            "biggest_rule_samples": 43_200,
            "biggest_selector": "slo:total:rate5m",
            "biggest_window_seconds": 2_592_000,
        }
    ]

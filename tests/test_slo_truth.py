"""The budget that is recorded is the true one, and cheaper than others': a month in a real Prometheus.

The traffic is so uneven that a mean of ratios is wrong by a factor of 48.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

import slo_peer
from slo_month import PERIOD
from slo_specs import BAD, METRIC
from slo_world import INSTANCES, world
from tocsin import naming
from tocsin.fleet.deadline import until
from toolbox import INSTALL, best

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from slo_month import Server
    from slo_world import World

pytestmark = pytest.mark.xdist_group("slo-month")

NEAR = 0.001  # the largest relative error of a ratio


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Scraped every minute."""
    with lived(tmp_path_factory.mktemp("month"), every=60) as one:
        yield one


@contextlib.contextmanager
def lived(folder: Path, every: int) -> Iterator[World]:
    """A month behind our rules, which are evaluated now."""
    tools = best("prometheus"), best("promtool")
    if tools[0] is None or tools[1] is None:
        pytest.skip(f"no prometheus or no promtool found. {INSTALL}")
    with world(tools[0], tools[1], folder, every) as one:
        yield one


def is_true(one: World) -> None:
    """The recorded ratio, the counters' increase and the exact count are one number."""
    until("the period's ratio", lambda: one.server.ask("query", query=naming.SLO_PERIOD_RATIO)["result"])
    (series,) = one.server.ask("query", query=f"timestamp({naming.SLO_PERIOD_RATIO})")["result"]
    at = float(series["value"][1])
    ratio = one.server.value(naming.SLO_PERIOD_RATIO, at)
    bad, all_ = one.month.counted(int(at))
    raw_ratio = one.server.value(slo_peer.RAW, at)
    print(f"recorded {ratio:.7f}, increase {raw_ratio:.7f}, counted {bad / all_:.7f}")
    print(f"off by {ratio / raw_ratio - 1:+.2e} and {ratio / (bad / all_) - 1:+.2e}")
    assert bad / all_ == pytest.approx(0.21 / 101, rel=NEAR)
    assert ratio == pytest.approx(raw_ratio, rel=NEAR)
    assert ratio == pytest.approx(bad / all_, rel=NEAR)
    assert one.server.value(naming.SLO_PERIOD_ERRORS, at) == pytest.approx(bad, rel=NEAR)
    assert one.server.value(naming.SLO_PERIOD_TOTAL, at) == pytest.approx(all_, rel=NEAR)
    left = 1 - bad / all_ / (1 - 0.999)
    assert one.server.value(naming.SLO_BUDGET_LEFT, at) == pytest.approx(left, rel=2 * NEAR)


def test_the_recorded_period_is_the_true_one(uneven: World) -> None:
    """Within a thousandth of what the counters say, exactly and by Prometheus."""
    is_true(uneven)


def test_a_mean_of_ratios_would_not_be(uneven: World) -> None:
    """The world is one that tells the two apart."""
    period = next(
        rule for group in slo_peer.groups() for rule in group["rules"] if rule.get("record", "")[-3:] == "30d"
    )
    assert uneven.server.value(period["expr"], uneven.month.end) == pytest.approx(0.1, rel=0.01)


def test_every_window_is_the_true_one(uneven: World) -> None:
    """Long windows, which are summed up of steps, as well as those that are counted."""
    for window in ("30m", "1h", "2h", "6h", "1d", "3d"):
        names = f"slo:errors:rate{window}", f"slo:total:rate{window}"
        until(f"the window of {window}", lambda name=names[0]: uneven.server.ask("query", query=name)["result"])
        (series,) = uneven.server.ask("query", query=f"timestamp({names[0]})")["result"]
        at = float(series["value"][1])
        for name, selector in zip(names, (BAD, METRIC), strict=True):
            true = uneven.server.value(f"sum(rate({selector}[{window}]))", at)
            assert uneven.server.value(name, at) == pytest.approx(true, rel=0.02), name


def loaded(server: Server, rules: Sequence[Mapping[str, Any]], at: float) -> int:
    return sum(server.samples(rule["expr"], at) for rule in rules)


def test_an_evaluation_loads_no_more_samples_than_others(uneven: World) -> None:
    """All rules of the SLO once: at most what rules of Sloth's shape load, a tenth of the counters over the period."""
    at = uneven.month.end
    ours, peer = (
        loaded(uneven.server, [rule for group in some for rule in group["rules"]], at)
        for some in (uneven.groups, slo_peer.groups())
    )
    dear = uneven.server.samples(slo_peer.RAW, at)
    print(f"samples: ours {ours}, Sloth's shape {peer}, the counters over the period {dear}")
    assert dear >= PERIOD // 60 * INSTANCES * 3
    assert 0 < ours <= peer
    assert 10 * ours <= dear


def test_what_is_predicted_to_be_loaded_is(uneven: World) -> None:
    """Within a hundredth: what rules read of this moment alone is not predicted."""
    measured = loaded(uneven.server, [rule for group in uneven.groups for rule in group["rules"]], uneven.month.end)
    predicted = uneven.loads.counted + uneven.loads.summed
    print(f"samples: predicted {predicted}, measured {measured}")
    assert predicted == pytest.approx(measured, rel=0.01)


@pytest.mark.slow
def test_a_month_scraped_every_15_seconds(tmp_path: Path) -> None:
    """Four times as many samples, of which each says less."""
    with lived(tmp_path, every=15) as one:
        is_true(one)

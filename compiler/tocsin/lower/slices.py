"""Time that is cut in slices: each is recorded once, as one that counts and as good or bad; windows add them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.examples import labels_of_each
from tocsin.lower.cast import Cast
from tocsin.lower.events import Events
from tocsin.lower.proofs import series
from tocsin.lower.slice_readings import here
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.indicators import Slices
    from tocsin.promql import Selector


class Texts(NamedTuple):
    """The texts of a cast: the counter and the gauge that says when, a series of each, and a place.

    The place are the labels of what is recorded of these series. Without a gauge its texts are empty.
    """

    counter: str
    expected: str
    counter_series: str
    expected_series: str
    place: str


def cast(factory: Factory, slo: Slo, counter: Selector, expected: Selector | None) -> Cast:
    """What an indicator selects, and series that it selects."""
    selectors = [counter] if expected is None else [counter, expected]
    labels = labels_of_each(selectors, slo.by, factory.labels) or [{}, {}]
    recorded = {**{label: labels[0].get(label, "") for label in slo.by}, "slo": slo.id}
    shown = [series(one.metric or "", own, "")[0] for one, own in zip(selectors, labels, strict=False)]
    texts = Texts(
        counter.render(),
        expected.render() if expected else "",
        shown[0],
        shown[1] if expected else "",
        series("", recorded, "")[0],
    )
    return Cast(slo.id, texts)


def added_up(slices: Slices, cast: Cast, total: str, bad: str, *before: tuple[str, str]) -> Events:
    """Slices as events of their own length: over a window, all time that counts and all that was bad, per second."""
    me = here(cast)

    def share(name: str, window: Duration) -> str:
        return f"sum_over_time({name}{me}[{window}]) * {number(slices.every.seconds)} / {number(window.seconds)}"

    return Events(
        lambda window: share(naming.SLO_SLICES, window),
        lambda window: share(naming.SLO_BAD_SLICES, window),
        (*before, (naming.SLO_SLICES, total), (naming.SLO_BAD_SLICES, bad)),
    )


def running(slo: Slo, cast: Cast, slices: Slices) -> str:
    """Where the gauge is 1. A scrape that fails is no end: the last value holds for as long as a slice looks back.

    Whoever does not say any more that a job runs is a matter of the alert for its silence.
    """
    expected = Texts(*cast.texts).expected
    return f"max by ({naming.by(slo.by)}) (last_over_time({expected}[{slices.look}])) == 1"


def started(cast: Cast, slices: Slices, grace: Duration) -> str:
    """Where it has been running throughout the grace, but for one evaluation that may be missing."""
    name = naming.SLO_RUNNING + here(cast)
    seen = f"count_over_time({name}[{grace}]) * {number(slices.every.seconds)}"
    return f"{name}\nand {seen} >= {number(grace.seconds - slices.every.seconds)}"


def rate(slo: Slo, cast: Cast, window: Duration) -> str:
    """The counter's rise per second; of several series of one place, all of it."""
    return f"sum by ({naming.by(slo.by)}) (rate({Texts(*cast.texts).counter}[{window}]))"


def unless_fast(slo: Slo, cast: Cast, slices: Slices, least: str) -> str:
    """1 where neither the last slice nor the last two units were fast enough, or no series tells; 0 elsewhere.

    Two units, ten minutes of most SLOs, bear a pause that they make up for: at a tenth above the limit a checkpoint of
    a minute. A slice sees at once that a longer pause is over.
    """
    name, by = naming.SLO_SLICES + here(cast), naming.by(slo.by)
    fast = "\n  or ".join(f"{rate(slo, cast, window)} >= {least}" for window in looks(slo, slices))
    return f"{name} unless on ({by}) (\n  {fast}\n)\nor 0 * {name}"


def looks(slo: Slo, slices: Slices) -> Sequence[Duration]:
    """The windows over which a rate is looked at, the shorter one first."""
    return slices.look, Duration(2 * slo.windows.unit)

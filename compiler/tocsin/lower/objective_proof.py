"""The proof of an SLO's alerts: the stories of its shape, told with its own series, labels and words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import burn, naming
from tocsin.examples import labels_for
from tocsin.lower.objective_stories import STEP
from tocsin.lower.proofs import firing, proof, series
from tocsin.plan import Expectation
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory, Slo
    from tocsin.lower.objective_stories import Moment, Story
    from tocsin.plan import Alert, RuleTest
    from tocsin.promql import Selector

RECORDED = tuple(name(window) for window in burn.WINDOWS for name in (naming.slo_errors, naming.slo_total))


class Cast(NamedTuple):
    """Who plays in the stories of an SLO: the burn-rate alerts in the order of `burn.PAIRS`, and two series of events.

    `told` are the events that the SLO tells, bad or good; `rest` the others, or all where it `counts_all`.
    `place` has the values of the `by` labels in both.
    """

    burns: tuple[Alert, ...]
    traffic: Alert | None
    told: str
    rest: str
    tells_bad: bool
    counts_all: bool
    place: dict[str, str]


def cast(factory: Factory, slo: Slo, burns: tuple[Alert, ...], traffic: Alert | None) -> Cast:
    """The cast of an SLO's stories."""
    told = slo.bad or slo.good or slo.total
    labels = labels_for([slo.total, told], None, slo.by, factory.labels) or {}
    counts_all = told.metric != slo.total.metric
    others = labels if counts_all else labels_for([slo.total], told, slo.by, factory.labels) or {}
    return Cast(
        burns,
        traffic,
        told=_name(told, labels),
        rest=_name(slo.total, others),
        tells_bad=slo.bad is not None,
        counts_all=counts_all,
        place={label: labels[label] for label in slo.by},
    )


def _name(selector: Selector, labels: dict[str, str]) -> str:
    return series(selector.metric or "", labels, "")[0]


def played(cast: Cast, story: Story) -> RuleTest:
    """A story as a test, named after the alert that all of them are."""
    told, rest = (story.bad, story.good) if cast.tells_bad else (story.good, story.bad)
    inputs = [(cast.told, told), (cast.rest, story.all if cast.counts_all else rest)]
    if story.crowded:
        inputs += _another(cast)
    expectations = [expectation for moment in story.moments for expectation in _expected(cast, moment)]
    return proof(cast.burns[0], story.title, inputs, *expectations, interval=STEP)


def _expected(cast: Cast, moment: Moment) -> Iterator[Expectation]:
    at = Duration.of(minutes=moment.minute)
    told = tuple(firing(cast.burns[pair], cast.place, moment.ratio) for pair in moment.pairs)
    yield Expectation(at, cast.burns[0].name, told)
    if cast.traffic and moment.missed is not None:
        told = (firing(cast.traffic, cast.place, 0),) if moment.missed else ()
        yield Expectation(at, cast.traffic.name, told)


def _another(cast: Cast) -> list[tuple[str, str]]:
    """Another SLO beside this one burns as well: its series must not be taken for ours."""
    labels = {**cast.place, "slo": f"not-{cast.burns[0].labels['slo']}"}
    braces, values = series("", labels, "9x120")
    return [(f"{name}{braces}", values) for name in RECORDED]

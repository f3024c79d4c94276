"""Example series for the selectors of an SLO: events that count as good, and events that count as bad."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tocsin.examples import labels_for
from tocsin.lower.proofs import series
from tocsin.units import number

if TYPE_CHECKING:
    from tocsin.factory import Factory, Slo
    from tocsin.promql import Selector

Series = tuple[str, str]


class Phase(NamedTuple):
    """For so many samples, so many events each, a share of them bad."""

    samples: int
    each: Fraction
    share: Fraction


class Observed(NamedTuple):
    """Two series that an SLO observes, and the values of its `by` labels in both.

    Where `counts_all`, the second counts the events of the first as well.
    """

    told: str
    rest: str
    tells_bad: bool
    counts_all: bool
    labels: dict[str, str]


def observed(factory: Factory, slo: Slo) -> Observed:
    """The series of the events that the SLO tells, good or bad, and of the others, or of all."""
    told = slo.bad or slo.good or slo.total
    both = [slo.total, told]
    labels = labels_for(both, None, slo.by, factory.labels) or {}
    counts_all = told.metric != slo.total.metric
    others = labels if counts_all else labels_for([slo.total], told, slo.by, factory.labels) or {}
    return Observed(
        told=_name(told, labels),
        rest=_name(slo.total, others),
        tells_bad=slo.bad is not None,
        counts_all=counts_all,
        labels={label: labels[label] for label in slo.by},
    )


def _name(selector: Selector, labels: dict[str, str]) -> str:
    return series(selector.metric or "", labels, "")[0]


def flowing(observed: Observed, *phases: Phase) -> list[Series]:
    """Events in phases that follow each other; then the series end."""
    bad, good, all_ = _counters(phases)
    told, rest = (bad, good) if observed.tells_bad else (good, bad)
    return [(observed.told, told), (observed.rest, all_ if observed.counts_all else rest)]


@lru_cache(maxsize=256)
def _counters(phases: tuple[Phase, ...]) -> tuple[str, str, str]:
    """Counters of the bad events, the good ones and all of them. SLOs of one shape share them."""
    bad = _rising([(phase.samples, phase.each * phase.share) for phase in phases])
    good = _rising([(phase.samples, phase.each * (1 - phase.share)) for phase in phases])
    return bad, good, _rising([(phase.samples, phase.each) for phase in phases])


def _rising(phases: list[tuple[int, Fraction]]) -> str:
    """A counter that rises from zero by so much for so many samples, and so on. Its last sample ends the last phase."""
    out, value = [], Fraction(0)
    for samples, step in phases:
        out.append(f"{number(value)}+{number(step)}x{samples - 1}")
        value += step * samples
    return " ".join([*out, number(value), "stale"])

"""Example series for the selectors of an SLO: events that count as good, and events that count as bad."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin.examples import labels_for
from tocsin.lower.proofs import series
from tocsin.units import number

if TYPE_CHECKING:
    from tocsin.factory import Factory, Slo
    from tocsin.promql import Selector

SAMPLES = 110  # past the longest `for`, three hours, where there is one every two minutes
Series = tuple[str, str]


def failing_labels(factory: Factory, slo: Slo) -> dict[str, str]:
    """The values of the `by` labels of the series in the other functions."""
    found = labels_for(_told(slo), None, slo.by, factory.labels) or {}
    return {label: found[label] for label in slo.by}


def flowing(factory: Factory, slo: Slo, each: Fraction, share: Fraction, until: int = SAMPLES) -> list[Series]:
    """So many events a sample, a share of them bad, and after the sample `until` none at all."""

    def values(step: Fraction) -> str:
        rising = f"0+{number(step)}x{until}" if step else f"0x{until}"
        return f"{rising} {number(step * until)}x{SAMPLES - until}" if until < SAMPLES else rising

    return _world(factory, slo, values(each * (1 - share)), values(each * share), values(each))


def few_failures(factory: Factory, slo: Slo, count: int) -> list[Series]:
    """So many bad events within a few minutes, and no other."""
    bad = f"0x9 0+{number(Fraction(count, 4))}x4 {count}x{SAMPLES}"
    return _world(factory, slo, f"0x{SAMPLES}", bad, bad)


def _told(slo: Slo) -> list[Selector]:
    """The selectors that the failing and the succeeding series share labels by."""
    other = slo.bad or slo.good
    return [slo.total, other] if other else [slo.total]


def _world(factory: Factory, slo: Slo, good: str, bad: str, all_: str) -> list[Series]:
    """The series of both kinds of events; `total` counts the two together where it is a metric of its own."""
    told = slo.bad or slo.good or slo.total
    yes, no = (bad, good) if slo.bad else (good, bad)
    if told.metric == slo.total.metric:
        hit, miss = _told(slo), [slo.total]
        return [_series(factory, slo, slo.total, hit, None, yes), _series(factory, slo, slo.total, miss, told, no)]
    shared = _told(slo)
    return [_series(factory, slo, told, shared, None, yes), _series(factory, slo, slo.total, shared, None, all_)]


def _series(
    factory: Factory, slo: Slo, metric: Selector, all_of: list[Selector], not_of: Selector | None, values: str
) -> Series:
    labels = labels_for(all_of, not_of, slo.by, factory.labels) or {}
    return series(metric.metric or "", labels, values)

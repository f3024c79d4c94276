"""What the proofs of all kinds of indicators read of what is recorded."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.budget import described
from tocsin.lower.proofs import series
from tocsin.plan.rules import Reading
from tocsin.promql import quote
from tocsin.units import NO_TIME, Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory.slos import Slo

AT = "@"  # behind the name of a label: its value at a place of the proof of alerts
Values = tuple[tuple[str, Fraction], ...]  # names of recorded series, and what they must be


def off(me: str, values: Values) -> str:
    """How far recorded series are from these values, relative to them where they are not nought."""
    return " + ".join(
        f"abs({name}{me} / {number(value)} - 1)" if value else f"abs({name}{me})" for name, value in values
    )


def mine(slo: Slo) -> str:
    """Selects what is recorded of an SLO but at the places of its alerts' proof, which may share the test."""
    first = slo.by[0]
    return f"{{slo={quote(slo.id)},{first}!~{quote(f'{first}{AT}.+')}}}"


def both(window: Duration, errors: Fraction, total: Fraction) -> Values:
    """The events per second of a window."""
    return (naming.slo_errors(window), errors), (naming.slo_total(window), total)


def of_period(slo: Slo, errors: Fraction, total: Fraction, ratio: Fraction) -> Values:
    """The budget: so many events of the period were seen, so much of it is left, and lasts as the ratio of now goes."""
    burn = ratio / slo.budget
    left = 1 - errors / total / slo.budget
    lasts = max(left, Fraction(0)) * slo.period.seconds / burn
    values = (errors, total, errors / total, left, lasts)
    return ((naming.SLO_BURN_RATE, burn), *zip(naming.SLO_PERIOD, values, strict=True))


def crowd(slo: Slo, samples: int) -> Iterator[tuple[str, str]]:
    """What is recorded of another SLO, and must not be taken for ours."""
    labels = {**{label: label for label in slo.by}, "slo": f"not-{slo.id}"}
    windows = (naming.slo_errors(slo.pairs[0].long), naming.slo_total(slo.pairs[0].long))
    for name in (*windows, naming.SLO_BURN_RATE, *naming.SLO_PERIOD[:-1]):
        yield series(name, labels, f"1x{samples}")


def one_of_each(slo: Slo, me: str, sample: int) -> Iterator[Reading]:
    """Each window has one series of errors and one of all events: a further one would be hidden by a ratio of both."""
    every = f'{{__name__=~"slo:(errors|total):rate.+",{me[1:]}'
    count = str(2 * len(set(slo.windows.all)))
    yield Reading(Duration(sample * slo.windows.step), f"count({every})", (("{}", count),))


def what_it_is(slo: Slo) -> Iterator[Reading]:
    """What the SLO is, word by word."""
    for record, value in zip(described(slo), (number(slo.objective), "1"), strict=True):
        sample = series(record.name, record.labels, "")[0]
        yield Reading(NO_TIME, f"{record.name}{{slo={quote(slo.id)}}}", ((sample, value),))

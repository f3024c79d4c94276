"""What happens to the counters of a ratio in its proof, in numbers alone: SLOs of one shape share their story."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from tocsin.lower.objective_proof import STEPS_OF_UNIT
from tocsin.units import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.factory import Slo
    from tocsin.lower.ratio import Form

# The samples at which each part of the story is over: the counters begin at zero; those that the spec tells end, and
# begin again with a value; all stand still; all restart; in the end all events are bad.
BEGUN, ENDED, BORN, IDLE, RESTARTED, OUTAGE = 6, 12, 14, 20, 26, 32
EACH = Fraction(1000)  # events of a sample before the outage
NONE = Fraction(0)


class Moment(NamedTuple):
    """At a sample, so many bad events and all events per second in the unit window."""

    sample: int
    errors: Fraction
    total: Fraction


class Story(NamedTuple):
    """The counters in promtool's notation, and what is read: so many errors and all events of a sample when `begun`."""

    told: str
    rest: str
    begun: tuple[Fraction, Fraction]
    moments: tuple[Moment, ...]


def story(slo: Slo, form: Form) -> Story:
    """Few bad events until the outage, and in it so many that they outweigh all before in every window."""
    limits = [pair.threshold(slo.budget) for pair in slo.pairs]
    bad = Fraction(number(EACH * min(*limits, Fraction(1, 2)) / 2, 3))
    told, rest = (bad, EACH - bad) if form.tells_bad else (EACH - bad, bad)
    weight = (max(limits) + 1) / 2
    flood = Fraction(ceil(max(EACH * OUTAGE * weight / (1 - weight), slo.least)))
    told_flood, rest_flood = (flood, NONE) if form.tells_bad else (NONE, flood)
    added = NONE if form.in_total else told  # where all events are counted apart, these are among them
    tells: list[Fraction | None] = [*_rising(NONE, told, BEGUN), *[None] * (ENDED - BEGUN), *[told] * (IDLE - ENDED)]
    tells += _restarted(told, told_flood)
    rests: list[Fraction | None] = [
        *_rising(NONE, rest + added, BEGUN),
        *_rising((rest + added) * BEGUN + rest, rest, BORN - BEGUN - 1),
    ]
    rests += [rests[-1]] * (IDLE - BORN)
    rests += _restarted(rest + added, flood if not form.in_total else rest_flood)
    moments = tuple(_moments(slo, form, told, rest, flood))
    return Story(notation(tells), notation(rests), (bad, EACH), moments)


def _moments(slo: Slo, form: Form, told: Fraction, rest: Fraction, flood: Fraction) -> Iterable[Moment]:
    unit = slo.windows.unit.seconds
    sample = unit / STEPS_OF_UNIT
    missed = missed_of(slo)
    born = told / unit
    after = rest / sample + (born if form.in_total else NONE)
    bad, every = (told if form.tells_bad else rest), told + rest
    if form.tells_bad:
        yield Moment(ENDED, NONE, rest / sample)
        yield Moment(BORN, born, after)
    else:
        yield Moment(ENDED, rest / sample, rest / sample)
        yield Moment(BORN, max(after - born, NONE), after)
    yield Moment(IDLE, missed, missed)
    yield Moment(RESTARTED, bad / sample, every / sample)
    yield Moment(OUTAGE, flood / sample, flood / sample)


def missed_of(slo: Slo) -> Fraction:
    """The events per second that are bad where none comes."""
    return slo.expected if slo.idle == "bad" and slo.expected else NONE


def _rising(start: Fraction, step: Fraction, more: int) -> list[Fraction]:
    return [start + step * index for index in range(more + 1)]


def _restarted(step: Fraction, flood: Fraction) -> list[Fraction]:
    """From zero again, then the outage."""
    usual = _rising(NONE, step, RESTARTED - IDLE - 1)
    return usual + _rising(usual[-1] + flood, flood, OUTAGE - RESTARTED - 1)


def notation(values: list[Fraction | None]) -> str:
    """Samples in promtool's notation: runs of one step as `a+bxn`, missing ones as `stale` and gaps."""
    out: list[str] = []
    index = 0
    while index < len(values):
        value = values[index]
        if value is None:
            out.append("_" if out and out[-1] in ("_", "stale") else "stale")
            index += 1
            continue
        step, more = NONE, 0
        if index + 1 < len(values) and values[index + 1] is not None:
            step = values[index + 1] - value  # type: ignore[operator]
            if step >= 0:
                while index + more + 1 < len(values) and values[index + more + 1] == value + step * (more + 1):
                    more += 1
        out.append(f"{number(value)}+{number(step)}x{more}" if more else number(value))
        index += more + 1
    return " ".join(out)

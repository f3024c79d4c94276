"""What happens to the counters of a ratio in its proof, in numbers alone: SLOs of one shape share their story."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from tocsin.burn import LOOKS
from tocsin.lower.vanishing import SHARE
from tocsin.units import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.factory.slos import Slo
    from tocsin.lower.ratio import Form

# The samples at which each part of the story is over. All events begin at zero, but those that the spec tells apart
# only when that is seen; these end, and begin again with a value; all stand still; all restart; in the end all are bad.
BEGUN, TOLD, ENDED, BORN, IDLE, RESTARTED, OUTAGE = 5, 10, 15, 17, 22, 27, 32
EACH = Fraction(1000)  # the least events of a sample before the outage
NONE = Fraction(0)
# When the rules were last evaluated, in samples, at each look at the unit until the told events are seen. Counters
# begin with a zero, so that no Prometheus guesses at what was before: a unit counts as many samples as there were.
LAST = tuple(Fraction(2 * sample // LOOKS * LOOKS, 2) for sample in range(TOLD + 1))  # twice a unit


class Moment(NamedTuple):
    """At a sample, so many bad events and all events: of the last sample, or since the begin."""

    sample: int
    errors: Fraction
    total: Fraction


class Story(NamedTuple):
    """The counters in promtool's notation, and the events of a sample as the unit window then shows them.

    `grown` are all events since the begin, `steps` those that the looks at the unit have counted. `late` is the value
    with which a further series of all events begins before ENDED; it stays there.
    """

    told: str
    rest: str
    moments: tuple[Moment, ...]
    grown: tuple[Moment, ...]
    steps: Moment
    late: Fraction


def story(slo: Slo, form: Form) -> Story:
    """Few bad events until the outage, and in it so many that they outweigh all before in every window."""
    limits = [pair.threshold(slo.budget) for pair in slo.pairs]
    each = each_of(slo)
    bad = Fraction(number(each * min(*limits, Fraction(1, 2)) / 4, 3))
    told = bad if form.tells_bad else each - bad
    # Where all events are counted by a metric of their own, those that are told apart are among them from the begin.
    rest = each - told if form.in_total else each
    weight = (max(limits) + 1) / 2
    flood = Fraction(ceil(max(each * OUTAGE * weight / (1 - weight), slo.least)))
    told_flood = flood if form.tells_bad else NONE
    rest_flood = NONE if form.in_total and form.tells_bad else flood
    tells: list[Fraction | None] = [*[None] * BEGUN, *_rising(NONE, told, TOLD - BEGUN), *[None] * (ENDED - TOLD)]
    tells += [*[told] * (IDLE - ENDED), *_restarted(told, told_flood)]
    rests: list[Fraction | None] = [*_rising(NONE, rest, BORN), *[rest * BORN] * (IDLE - BORN)]
    rests += _restarted(rest, rest_flood)
    seen = _Seen(form, told, rest)
    # What has begun within the unit counts by its last value, all else up to the evaluation.
    looks = [seen.at(TOLD, told * _share((at - BEGUN) // 1), _share(at)) for at in LAST]
    steps = Moment(TOLD, sum((one.errors for one in looks), NONE), sum((one.total for one in looks), NONE))
    grown = (seen.at(BEGUN, NONE, Fraction(BEGUN)), seen.at(TOLD, told * (TOLD - BEGUN), Fraction(TOLD)))
    return Story(notation(tells), notation(rests), tuple(_moments(seen, slo, flood)), grown, steps, seen.late)


def _share(samples: Fraction | int) -> Fraction:
    """The share of a unit that so many samples are."""
    return Fraction(min(max(samples, 0), LOOKS)) / LOOKS


class _Seen(NamedTuple):
    """What is counted where so many of the told events are seen, and so many times the rest of a sample."""

    form: Form
    told: Fraction
    rest: Fraction

    @property
    def late(self) -> Fraction:
        """Where the told events are among all, they are what begins late."""
        return NONE if self.form.in_total else self.rest

    def at(self, sample: int, told: Fraction, rests: Fraction = Fraction(1)) -> Moment:
        """The bad events and all of them."""
        total = self.rest * rests + (told if self.form.in_total else NONE)
        return Moment(sample, told if self.form.tells_bad else max(total - told, NONE), total)


def _moments(seen: _Seen, slo: Slo, flood: Fraction) -> Iterable[Moment]:
    yield seen.at(BEGUN, NONE)
    yield seen.at(TOLD, seen.told)
    whole = 1 + seen.late / seen.rest / LOOKS  # what begins late counts once within the unit
    yield seen.at(ENDED, NONE, whole)
    yield seen.at(BORN, seen.told / LOOKS, whole)  # so does what is told apart and begins again
    missed = missed_of(slo) * slo.windows.step.seconds
    yield Moment(IDLE, missed, missed)
    yield seen.at(RESTARTED, seen.told)
    yield Moment(OUTAGE, flood, flood)


def each_of(slo: Slo) -> Fraction:
    """The events of a sample: so many that the alert on missing traffic is silent, also before a unit has passed."""
    return max(EACH, 4 * SHARE * (slo.expected or 0) * slo.windows.step.seconds)


def missed_of(slo: Slo) -> Fraction:
    """The events per second that are bad where none comes."""
    return slo.expected if slo.idle == "bad" and slo.expected else NONE


def _rising(start: Fraction, step: Fraction, more: int) -> list[Fraction]:
    return [start + step * index for index in range(more + 1)]


def _restarted(step: Fraction, flood: Fraction) -> list[Fraction | None]:
    """As from zero again, then the outage.

    First slower, then faster: in the whole unit the rate is `step` for every Prometheus, in half of it is another.
    """
    values: list[Fraction | None] = []
    value = NONE
    for share in (2, 1, 1, 3, 3):
        value += step * share / 2
        values.append(value)
    return values + [value + flood * number_ for number_ in range(1, OUTAGE - RESTARTED + 1)]


def notation(values: list[Fraction | None]) -> str:
    """Samples in promtool's notation: runs of one step as `a+bxn`, missing ones as `stale` and gaps."""
    out: list[str] = []
    index = 0
    while index < len(values):
        value = values[index]
        if value is None:
            out.append("stale" if out and out[-1] not in ("_", "stale") else "_")
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

"""What the proofs of all indicators over slices of time read: the unit window, and who is alerted."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower.burns import ALERT
from tocsin.plan.rules import Reading
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory.slos import Slo
    from tocsin.lower.cast import Cast

MOST = 400  # evaluations of an outage


class Past(NamedTuple):
    """Of a story, by evaluations of `every`: its last healthy one, the last of its outage, how much counted until then.

    `counted` and `bad` are slices, of which an evaluation has so many as `each`; `bad` are those that certainly are.
    """

    every: Duration
    healthy: int
    outage: int
    counted: int
    bad: int
    each: int = 1


def here(cast: Cast) -> str:
    """What selects the recorded series of this SLO."""
    return f"{{slo={quote(cast.id)}}}"


def slices(cast: Cast, at: Duration, place: str, counted: int, bad: int) -> Iterator[Reading]:
    """How many slices count at a moment, and how many of them are bad; no series where none counts."""
    for name, value in ((naming.SLO_SLICES, counted), (naming.SLO_BAD_SLICES, bad)):
        yield Reading(at, name + here(cast), ((name + place, str(value)),) if counted else ())


def crowd(cast: Cast, evals: int) -> Iterator[tuple[str, str]]:
    """What another SLO records all the while: it must not be taken for ours."""
    for name in (naming.SLO_RUNNING, naming.SLO_RATE, naming.SLO_BASELINE, naming.SLO_SLICES, naming.SLO_BAD_SLICES):
        yield f"{name}{{slo={quote(f'not-{cast.id}')}}}", f"1x{evals}"


def outage_for(slo: Slo, every: Duration, before: int, each: int = 1, most: int = MOST) -> int:
    """The evaluations that an outage must last after so many that counted, so that every alert sees enough of it.

    More than `most` are proven by the windows alone.
    """
    unit = -(-slo.windows.unit // every) + 2
    share = (max(pair.threshold(slo.budget) for pair in slo.pairs) + 1) / 2
    needed, enough = int(before * share / (1 - share)) + unit, int(slo.least / every.seconds / each)
    return min(max(needed, enough, 2 * unit), max(most, 2 * unit))


def units(slo: Slo, cast: Cast, place: str, past: Past) -> Iterator[Reading]:
    """The unit window when all of it was good, and when all of it was bad.

    Prometheus 2.x counts the slice at the begin of a window, 3.x does not.
    """
    unit = slo.windows.unit
    total, errors = naming.slo_total(unit) + here(cast), naming.slo_errors(unit) + here(cast)
    near = number(past.every.seconds * 3 / 2 / unit.seconds)
    whole = f"{total} / {past.each}" if past.each > 1 else total
    for moment, share in ((past.healthy, 0), (past.outage, 1)):
        at = Duration(moment * past.every)
        yield Reading(at, f"abs({whole} - 1) < bool {near}", ((place, "1"),))
        yield Reading(at, f"{errors} / {total}", ((place, str(share)),))


def alerts(slo: Slo, cast: Cast, past: Past) -> Iterator[Reading]:
    """Nobody is alerted before the outage; in its end all are who watch for as much."""
    me = f'alertname="{ALERT}",slo={quote(cast.id)}'
    yield Reading(Duration(past.healthy * past.every), f"ALERTS{{{me}}}", ())
    late = 2 * past.each * -(-slo.windows.unit // past.every)  # what the steps of long windows have not seen yet
    share = Fraction(max(past.bad - late, 0), past.counted)
    seconds = (past.counted - late) * past.every.seconds
    due = [
        str(pair.long)
        for pair in slo.pairs
        if pair.threshold(slo.budget) < share and min(seconds, pair.long.seconds) * 9 / 10 >= slo.enough(pair)
    ]
    if due:
        watched = f'ALERTS{{{me},window=~"{"|".join(due)}"}}'
        yield Reading(Duration(past.outage * past.every), f"count({watched})", (("{}", str(len(due))),))


def over(slo: Slo, cast: Cast, at: Duration) -> Iterator[Reading]:
    """A unit after nothing counts any more, nobody is alerted by it."""
    for name in (naming.slo_total(slo.windows.unit), naming.slo_errors(slo.windows.unit)):
        yield Reading(at, name + here(cast), ())
    short = [str(pair.long) for pair in slo.pairs if pair.short == slo.windows.unit]
    if short:
        watched = f'alertname="{ALERT}",slo={quote(cast.id)},window=~"{"|".join(short)}"'
        yield Reading(at, f"ALERTS{{{watched}}}", ())

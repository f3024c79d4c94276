"""The proof of what a latency counts by a native histogram.

Releases of Prometheus differ in how they guess at the begin of a series, and within a bucket. So rates are read where
they have been even for a whole window, the long windows as ratios, and no event lies in the bucket of the threshold.
Each series has one run of histograms only: promtool reads no second one before 3.0.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, log2
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.indicators import Latency, of_kind
from tocsin.lower.native import Texts
from tocsin.lower.objective_proof import pace_of
from tocsin.lower.ratio_story import missed_of
from tocsin.lower.readings import both, crowd, of_period, off, one_of_each
from tocsin.plan.rules import Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory.slos import Slo
    from tocsin.lower.cast import Cast

# The samples at which is read: events come as usual; none comes any more; another series begins, with a value of slow
# events; all events are slow.
USUAL, STILL, BORN, SLOW = 10, 20, 25, 35
FIRST_BORN, FIRST_SLOW = BORN - 3, SLOW - 7
EACH = Fraction(1000)  # events of a sample
SCHEMA = 8  # 256 buckets to a power of two


def proof(slo: Slo, cast: Cast, is_here: bool) -> RuleTest:
    """The recorded events of the unit window in each part, and what share of them is bad in the long ones."""
    texts, unit, me = Texts(*cast.texts), slo.windows.unit, f"{{slo={quote(cast.id)}}}"
    interval = slo.windows.step
    exprs = [(at, off(me, both(unit, errors, total))) for at, errors, total in _moments(slo)]
    # Where missing events are bad, those before the begin were missed.
    exprs += [(USUAL, expr) for expr in _shares(slo, me, is_here)] if not missed_of(slo) else []
    return RuleTest(
        f"{cast.id}: events that come, stand still, are born and are slow",
        interval,
        (*zip(texts[2:], _values(slo), strict=True), *crowd(slo, SLOW)),
        (),
        slo.origin,
        (
            *(Reading(Duration(at * interval), f"{expr} < bool 1e-9", ((texts.place, "1"),)) for at, expr in exprs),
            *one_of_each(slo, me, USUAL),
        ),
        pace_of(unit),
    )


def _bad(slo: Slo) -> Fraction:
    """The slow events of a sample as usual: half of what the budget allows."""
    return EACH * slo.budget / 2


def _moments(slo: Slo) -> Iterator[tuple[int, Fraction, Fraction]]:
    """At a sample, the bad events and all events per second of the unit window."""
    unit, missed, bad = slo.windows.unit.seconds, missed_of(slo), _bad(slo)
    sample = slo.windows.step.seconds
    yield USUAL, bad / sample, EACH / sample
    yield STILL, missed, missed
    yield BORN, EACH / unit, EACH / unit
    yield SLOW, EACH / sample, EACH / sample


def _shares(slo: Slo, me: str, is_here: bool) -> Iterator[str]:
    share = _bad(slo) / EACH
    for window in slo.windows.all:
        yield f"abs({naming.slo_errors(window)}{me} / {naming.slo_total(window)}{me} / {number(share)} - 1)"
    if is_here:
        counts = (naming.SLO_PERIOD_ERRORS, naming.SLO_PERIOD_TOTAL)
        yield from (off(me, (one,)) for one in of_period(slo, share, Fraction(1), share) if one[0] not in counts)


def _values(slo: Slo) -> Iterator[str]:
    """The histograms of the series, in promtool's notation."""
    below, bad = of_kind(slo.indicator, Latency).below, _bad(slo)
    good, none = EACH - bad, Fraction(0)
    nothing, usual, slow = (_histogram(below, *events) for events in ((none, none), (good, bad), (none, EACH)))
    yield f"{nothing}+{usual}x{USUAL}"
    yield f"_x{USUAL + 1} {_histogram(below, good * USUAL, bad * USUAL)}x{SLOW - USUAL}"
    yield f"_x{FIRST_BORN} {slow}x{SLOW - FIRST_BORN}"
    yield f"_x{FIRST_SLOW} {nothing}+{slow}x{SLOW - FIRST_SLOW}"
    yield f"_x{FIRST_BORN} {slow}x{SLOW - FIRST_BORN}"
    yield f"{nothing}+{slow}x{SLOW}"


def _histogram(below: Fraction, good: Fraction, bad: Fraction) -> str:
    """Events near the threshold on both sides, with empty buckets around it."""
    at = floor(log2(below) * 2**SCHEMA)
    buckets = f"offset:{at - 1} buckets:[{number(good)} 0 0 0 {number(bad)}]"
    return f"{{{{schema:{SCHEMA} count:{number(good + bad)} sum:1 {buckets}}}}}"

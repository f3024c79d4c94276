"""The proof of what an availability counts: two gauges that are up, down and gone.

Samples lie between the evaluations, so that a window has the same ones whether its begin belongs to it, as in
Prometheus 2.x, or not, as in 3.x.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.burn import LOOKS
from tocsin.indicators import Availability, of_kind
from tocsin.lower.availability import Texts
from tocsin.lower.readings import both, crowd, of_period, off
from tocsin.plan.rules import Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory.slos import Slo
    from tocsin.lower.cast import Cast
    from tocsin.lower.readings import Values

# The samples of each unit window. One series is up, and gone in the fourth; the other is down once, then always, then
# gone.
ONE = ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), (1, 1, 1, 1, 1), ())
OTHER = ((1, 0, 1, 1, 1), (0, 0, 0, 0, 0), (), ())
EACH = LOOKS  # samples of a unit window
NONE = Fraction(0)


def proof(slo: Slo, cast: Cast, is_here: bool) -> RuleTest:
    """The recorded events of every window after the first unit, and those of the unit after each."""
    texts, unit, me = Texts(*cast.texts), slo.windows.unit, f"{{slo={quote(cast.id)}}}"
    readings = [
        Reading(Duration(number * unit), f"{off(me, values)} < bool 1e-9", ((texts.place, "1"),))
        for number, values in _values(slo, is_here)
    ]
    if slo.idle != "bad":
        readings.append(Reading(Duration(len(ONE) * unit), naming.slo_total(unit) + me, ()))
    step = Duration(unit // (2 * EACH))
    return RuleTest(
        f"{cast.id}: gauges that are up, down and gone",
        step,
        (
            (texts.one, _notation(ONE)),
            (texts.other, _notation(OTHER)),
            (texts.stranger, f"0x{2 * EACH * len(ONE)}"),
            *crowd(slo, 2 * EACH * len(ONE)),
        ),
        (),
        slo.origin,
        tuple(readings),
        Duration(2 * step),
    )


def windows_proof(slo: Slo, cast: Cast) -> RuleTest | None:
    """That each counted window has the samples of its length: of a gauge that flaps, and of one that is always down.

    There is a sample a unit; windows that are no whole units, which only a spec's own can be, are left out.
    """
    texts, unit, me = Texts(*cast.texts), slo.windows.unit, f"{{slo={quote(cast.id)}}}"
    windows = [window for window in slo.windows.counted if not window % unit]
    if not windows:
        return None
    end = Duration(2 * max(windows))
    count = end // unit
    values = []
    for window in windows:
        samples = window // unit
        values.append(both(window, (samples + samples // 2) / window.seconds, 2 * samples / window.seconds))
    return RuleTest(
        f"{cast.id}: windows that see as many samples as they are long",
        Duration(unit // 2),
        ((texts.one, "_ 0 _ 1 " * (count // 2)), (texts.other, "_ 0 " * count), (texts.stranger, f"0x{2 * count}")),
        (),
        slo.origin,
        tuple(Reading(end, f"{off(me, one)} < bool 1e-9", ((texts.place, "1"),)) for one in values),
        end,
    )


def _stepped() -> tuple[Fraction, Fraction]:
    """The bad and all samples of the first unit as the looks at it have counted them, each for its part of the unit."""
    seen = [OTHER[0][:count] for count in range(1, EACH + 1)]
    bad = sum(samples.count(0) for samples in seen)
    return Fraction(bad, LOOKS), Fraction(sum(2 * len(samples) for samples in seen), LOOKS)


def _values(slo: Slo, is_here: bool) -> Iterator[tuple[int, Values]]:
    """What must be recorded after so many unit windows."""
    unit = slo.windows.unit
    plain, stepped = (Fraction(EACH - sum(OTHER[0])), Fraction(2 * EACH)), _stepped()
    every = plain[1]
    for window in slo.windows.all:
        errors, total = stepped if window in slo.windows.summed else plain
        yield 1, both(window, errors / window.seconds, total / window.seconds)
    if is_here:
        now = stepped if slo.pairs[0].long in slo.windows.summed else plain
        for one in of_period(slo, *stepped, Fraction(*now)):
            yield 1, (one,)
    gone = 1 / of_kind(slo.indicator, Availability).pace.seconds if slo.idle == "bad" else NONE
    yield 2, both(unit, EACH / unit.seconds, every / unit.seconds)
    yield 3, both(unit, gone, EACH / unit.seconds + gone)
    if gone:
        yield 4, both(unit, 2 * gone, 2 * gone)


def _notation(windows: tuple[tuple[int, ...], ...]) -> str:
    """The samples of a series in promtool's notation, each behind a gap."""
    samples = (str(value) for window in windows for value in window or ("_",) * EACH)
    return " ".join(f"_ {sample}" for sample in samples)

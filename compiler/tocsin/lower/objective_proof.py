"""The proof of an SLO's alerts: recorded windows at 1.05 and 0.95 of each threshold, one condition after the other.

The recorded series are fed as they are, each pair's at a place of its own: what the events behind them are is proven
apart, and a window of three days takes no three days to fill.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower.proofs import firing, series
from tocsin.lower.vanishing import SHARE
from tocsin.plan import Expectation, Firing, Reading, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tocsin.burn import Pair
    from tocsin.factory import Slo
    from tocsin.plan import Alert

ABOVE, BELOW, ENOUGH = Fraction(105, 100), Fraction(95, 100), Fraction(4)
STEPS_OF_UNIT = 5  # samples of a test within the unit window
MOST_STEPS = 10  # for which an alert is waited for; longer ones are waited for in longer steps
MINUTE = Duration.of(minutes=1)
START = 5  # at this step all conditions begin to hold: a whole number of units
FEW = "few"  # the place where the traffic ends


class Shares(NamedTuple):
    """Of a pair's threshold, in its long and in its short window, and of the events that it must have."""

    long: Fraction
    short: Fraction
    events: Fraction = ENOUGH


SILENT = (Shares(BELOW, ABOVE), Shares(ABOVE, BELOW), Shares(ABOVE, ABOVE, BELOW))
FIRES = Shares(ABOVE, ABOVE)


def pace_of(slo: Slo) -> Duration:
    """How often rules are evaluated in the tests of an SLO: at every second sample."""
    return Duration(2 * slo.windows.unit // STEPS_OF_UNIT)


def alert_proof(slo: Slo, burns: Sequence[Alert], gone: Alert | None) -> RuleTest:
    """Every alert is silent while one of its conditions does not hold, and fires for its `for` after all do."""
    longest = max(alert.hold for alert in (*burns, gone or burns[0]))
    pace = max(pace_of(slo), Duration(-(-longest // (MOST_STEPS * MINUTE)) * MINUTE))
    inputs = [one for pair in slo.pairs for one in _windows(slo, pair)] + list(_crowd(slo))
    state = f"ALERTS{_matchers(burns[0], {})}"
    readings = [Reading(Duration(step * pace), state, ()) for step in range(len(SILENT))]
    last = Duration(START * pace)
    for hold in sorted({burn.hold for burn in burns if burn.hold}):
        end = Duration(START * pace + -(-hold // pace) * pace)
        pending = f"count(ALERTS{_matchers(burns[0], {'alertstate': 'pending'})})"
        count = sum(burn.hold >= hold for burn in burns)
        readings.append(Reading(Duration(end - pace), pending, (("{}", str(count)),)))
        last = end
    expectations = [Expectation(last, burns[0].name, tuple(_fired(slo, burns)))]
    if gone:
        inputs.append(_traffic(slo))
        readings += _missing(slo, gone, pace)
        expectations.append(_missed(slo, gone, pace))
    title = f"{burns[0].name}: each condition of each alert by itself, then all"
    return RuleTest(title, pace, tuple(inputs), tuple(expectations), slo.origin, tuple(readings))


def _place(slo: Slo, name: object) -> dict[str, str]:
    return {label: f"{label}-{name}" for label in slo.by}


def _is_fed(slo: Slo, pair: Pair) -> bool:
    """Whether both windows of a pair can be fed; a long one that is summed up from the short one comes with it."""
    return not (pair.short == slo.windows.unit and pair.long in slo.windows.summed)


def _windows(slo: Slo, pair: Pair) -> Iterator[tuple[str, str]]:
    limit, labels = pair.threshold(slo.budget), {**_place(slo, pair.long), "slo": slo.id}
    if not _is_fed(slo, pair):
        total = _amount(slo.least * ENOUGH / slo.windows.unit.seconds)
        yield series(naming.slo_total(pair.short), labels, f"_x{START} {number(total)}x99")
        yield series(naming.slo_errors(pair.short), labels, f"_x{START} {number(total * limit * ABOVE)}x99")
        return
    totals = [_total(slo, pair, shares) for shares in (*SILENT, FIRES)]
    for window, index in ((pair.long, 0), (pair.short, 1)):
        errors = [total * limit * shares[index] for total, shares in zip(totals, (*SILENT, FIRES), strict=True)]
        for name, values in ((naming.slo_total, totals), (naming.slo_errors, errors)):
            one, other, few, enough = map(number, values)
            yield series(name(window), labels, f"{one} {other} {few}x{START - len(SILENT)} {enough}x99")


def _total(slo: Slo, pair: Pair, shares: Shares) -> Fraction:
    """Events per second of which there are enough in the long window, or just not."""
    events = slo.least * shares.events / pair.long.seconds
    return events if shares.events < 1 else _amount(max(events, slo.expected or Fraction(0)))


def _amount(least: Fraction) -> Fraction:
    """The next power of two: dividing by it is exact, so that the ratio that an alert tells is the one that was fed."""
    amount = Fraction(1)
    while amount < least:
        amount *= 2
    return amount


def _crowd(slo: Slo) -> Iterator[tuple[str, str]]:
    """Another SLO beside this one burns as well: its series must not be taken for ours."""
    labels = {**_place(slo, "other"), "slo": f"not-{slo.id}"}
    many = number(_amount(slo.least))
    for window in slo.windows.all:
        for name in (naming.slo_errors, naming.slo_total):
            yield series(name(window), labels, f"{many}x99")


def _fired(slo: Slo, burns: Sequence[Alert]) -> Iterator[Firing]:
    for burn, pair in sorted(zip(burns, slo.pairs, strict=True), key=lambda one: str(one[1].long)):
        total = (
            _total(slo, pair, FIRES) if _is_fed(slo, pair) else _amount(slo.least * ENOUGH / slo.windows.unit.seconds)
        )
        ratio = float(number(total * pair.threshold(slo.budget) * ABOVE)) / float(total)
        yield firing(burn, _place(slo, pair.long), ratio)


def _matchers(alert: Alert, labels: Mapping[str, str]) -> str:
    named = {"alertname": alert.name, **labels, "slo": alert.labels["slo"]}
    return f"{{{','.join(f'{label}={quote(value)}' for label, value in named.items())}}}"


def _traffic(slo: Slo) -> tuple[str, str]:
    """Enough for two steps, then too little, or none at all where no amount is known to be too little."""
    labels = {**_place(slo, FEW), "slo": slo.id}
    limit = (slo.expected or Fraction(1)) * SHARE
    after = "stale" if slo.expected is None else f"{number(limit * BELOW)}x99"
    return series(naming.slo_total(slo.windows.unit), labels, f"{number(limit * ABOVE)}x1 {after}")


def _missing(slo: Slo, gone: Alert, pace: Duration) -> Iterator[Reading]:
    """Nothing is missed while there is enough; from the third step on it is, and told when the `for` is over."""
    where = _place(slo, FEW)
    yield Reading(pace, f"ALERTS{_matchers(gone, where)}", ())
    last = _end(gone, pace)
    for at in (2 * pace, last - pace):
        pending = f"count(ALERTS{_matchers(gone, {**where, 'alertstate': 'pending'})})"
        yield Reading(Duration(at), pending, (("{}", "1"),))


def _missed(slo: Slo, gone: Alert, pace: Duration) -> Expectation:
    """It is missed there, and where the longest window was all that was fed."""
    places = [_place(slo, FEW), _place(slo, max(pair.long for pair in slo.pairs))]
    told = tuple(firing(gone, place, 0) for place in places)
    return Expectation(_end(gone, pace), gone.name, told)


def _end(alert: Alert, pace: Duration) -> Duration:
    return Duration(2 * pace + -(-alert.hold // pace) * pace)

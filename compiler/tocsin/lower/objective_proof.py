"""The proof of an SLO's alerts: error ratios above all limits, between each two, below all, and too few events."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from tocsin import burn, naming
from tocsin.lower import events
from tocsin.lower.events import Phase
from tocsin.lower.proofs import fires, firing, proof, series, silent
from tocsin.plan import Expectation
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.factory import Factory, Slo
    from tocsin.plan import Alert, RuleTest

TRAFFIC_SHARE = Fraction(1, 100)  # of the expected traffic. Less is no lull: something before the service is broken.
STEP = Duration.of(minutes=2)  # of the tests: two samples in the shortest window, and rates from the second on
RECORDED = tuple(name(window) for window in burn.WINDOWS for name in (naming.slo_errors, naming.slo_total))
MINUTES = STEP // Duration.of(minutes=1)


class Burning(NamedTuple):
    """The alerts of one SLO in the order of `burn.PAIRS`, from the highest limit to the lowest.

    `limits` are the error ratios above which they fire, `moments` the minutes at which they do where the ratio is above
    from the begin, `enough` events of a step suffice to judge, fewer than `expected` are missed.
    """

    alerts: tuple[Alert, ...]
    limits: tuple[Fraction, ...]
    moments: list[int]
    least: Fraction
    enough: Fraction
    expected: Fraction
    observed: events.Observed

    def flow(self, until: int, share: Fraction, each: Fraction | None = None, since: int = 0) -> Phase:
        """From one minute to the other events of which a share is bad: enough to judge, unless it is said how many."""
        return Phase((until - since) // MINUTES, self.enough if each is None else each, share)

    def expect(self, share: Fraction, minute: int, alerts: Sequence[Alert]) -> Expectation:
        """At the minute these of the alerts fire, all with this ratio, and no other one."""
        ordered = sorted(alerts, key=lambda alert: alert.labels["window"])
        told = tuple(firing(alert, self.observed.labels, float(share)) for alert in ordered)
        return Expectation(Duration.of(minutes=minute), self.alerts[0].name, told)

    def test(self, story: str, phases: Sequence[Phase], *expectations: Expectation) -> RuleTest:
        """A test, named after the alert that all of them are."""
        return proof(self.alerts[0], story, events.flowing(self.observed, *phases), *expectations, interval=STEP)


def burning(factory: Factory, slo: Slo, alerts: tuple[Alert, ...], least: Fraction) -> Burning:
    """What the tests of an SLO's burn-rate alerts are made of."""
    expected = (slo.expected or Fraction(0)) * TRAFFIC_SHARE * STEP.seconds
    # A test is evaluated less often than a server, and sums up fewer of the recorded rates: so many more for each.
    summed = least * max(Fraction(1), burn.WINDOWS[0].seconds / factory.interval.seconds)
    return Burning(
        alerts=alerts,
        limits=burn.thresholds(slo.period, slo.budget),
        moments=[MINUTES + -(-alert.hold // STEP) * MINUTES for alert in alerts],
        least=least,
        enough=max(Fraction(60), Fraction(ceil(summed)), expected * 10),
        expected=expected,
        observed=events.observed(factory, slo),
    )


def judged(burning: Burning, traffic: Alert | None) -> tuple[RuleTest, ...]:
    """The tests of the burn-rate alerts and of the alert on missing traffic, if there is one.

    Each alert fires in one of the first two, and each is silent in the last two.
    """
    return (_above(burning), _slow(burning), _below(burning, traffic), _too_few(burning))


@lru_cache(maxsize=1024)
def _share(value: Fraction) -> Fraction:
    """A ratio that is printed exactly."""
    return Fraction(number(value, 3))


def _high(burning: Burning) -> Fraction:
    """A ratio above every limit, and below twice the highest."""
    highest = burning.limits[0]
    return _share(min(highest * 3 / 2, (highest + 1) / 2))


def _above(burning: Burning) -> RuleTest:
    """The first alert fires when its `for` is over, in the end all but the slowest do."""
    share, first, last = _high(burning), burning.moments[0], burning.moments[-2]
    expectations = (
        burning.expect(share, first - MINUTES, ()),
        burning.expect(share, first, burning.alerts[:1]),
        burning.expect(share, last, burning.alerts[:-1]),
    )
    test = burning.test("errors above every limit", [burning.flow(last, share)], *expectations)
    # Another SLO beside this one burns as well: its series must not be taken for ours.
    return test._replace(series=(*test.series, *_another(burning)))


def _another(burning: Burning) -> list[events.Series]:
    labels = {**burning.observed.labels, "slo": f"not-{burning.alerts[0].labels['slo']}"}
    braces, values = series("", labels, "9x120")
    return [(f"{name}{braces}", values) for name in RECORDED]


def _slow(burning: Burning) -> RuleTest:
    """A ratio that half of the upper limit, and twice the lower one, would judge otherwise."""
    upper, lower = burning.limits[-2:]
    share = _share((max(upper / 2, lower) + min(upper, lower * 2)) / 2)
    moment = burning.moments[-1]
    expectations = (burning.expect(share, moment - MINUTES, ()), burning.expect(share, moment, burning.alerts[-1:]))
    return burning.test("errors above the lowest limit only", [burning.flow(moment, share)], *expectations)


def _below(burning: Burning, traffic: Alert | None) -> RuleTest:
    """Next to no errors; then next to no events, first a little more than is missed, then less, then no series."""
    share, last = _share(burning.limits[-1] * 3 / 4), burning.moments[-1]
    phases, expectations = [burning.flow(last, share)], [burning.expect(share, last, ())]
    if traffic is not None:
        enough, missed, gone = last + 30, last + 56, last + 66
        phases.append(burning.flow(enough, share, burning.expected * 3 / 2, since=last))
        phases.append(burning.flow(missed, share, burning.expected * 7 / 10, since=enough))
        place = burning.observed.labels
        expectations += [silent(traffic, minute) for minute in (last, enough, enough + 14)]
        expectations += [fires(traffic, minute, place) for minute in (missed, gone)]
    return burning.test("errors below every limit, then no events", phases, *expectations)


def _too_few(burning: Burning) -> RuleTest:
    """Within eight minutes there are seven of ten events that are needed, and all of them fail."""
    none, every = Fraction(0), Fraction(1)
    few = max(1, int(burning.least * 7 / 10))
    phases = [
        burning.flow(20, every, none),
        burning.flow(28, every, Fraction(few, 8 // MINUTES), since=20),
        burning.flow(46, every, none, since=28),
    ]
    expectations = (burning.expect(every, minute, ()) for minute in (28, 44))
    return burning.test("too few events, all of which fail", phases, *expectations)

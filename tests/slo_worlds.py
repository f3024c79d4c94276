"""How alerts on error budgets begin and end, in worlds that the generated tests leave out.

They would prove the same of every SLO again, minute by minute; here they prove it once, of the way that all are made.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import burn
from tocsin.lower.objective_proof import MINUTES, Burning, burning
from tocsin.units import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory, Slo
    from tocsin.plan import Alert, RuleTest


def worlds(factory: Factory, slo: Slo, alerts: tuple[Alert, ...]) -> tuple[RuleTest, ...]:
    """Tests of the burn-rate alerts of an SLO, those in the order of `burn.PAIRS`."""
    least = slo.min_events if slo.min_events is not None else Fraction(burn.min_events(slo.period, slo.budget))
    made = burning(factory, slo, alerts, least)
    return (_over(made), _begins(made), *_between(made), _few(made))


def _share(value: Fraction) -> Fraction:
    """A ratio that is printed exactly."""
    return Fraction(number(value, 3))


def _high(made: Burning) -> Fraction:
    """A ratio above every limit, and below twice the highest."""
    return _share(min(made.limits[0] * 3 / 2, (made.limits[0] + 1) / 2))


def _over(made: Burning) -> RuleTest:
    """A burst, and then ratios below one limit after the other. Only the long windows still remember what was before.

    Each alert is over as soon as its short window is calm; the next one waits for longer than it takes to ask.
    """
    calm = [_share(limit * 3 / 4) for limit in made.limits[:3]]
    phases = [
        made.flow(8, _high(made)),
        made.flow(12, calm[0], since=8),
        made.flow(54, calm[1], since=12),
        made.flow(178, calm[2], since=54),
    ]
    expectations = (made.expect(share, ask, ()) for share, ask in zip(calm, (14, 54, 178), strict=True))
    return made.test("errors above every limit for eight minutes", phases, *expectations)


def _begins(made: Burning) -> RuleTest:
    """After half an hour without errors, 26 minutes with many are not enough for any of the long windows."""
    share = _high(made)
    phases = [made.flow(30, Fraction(0)), made.flow(56, share, since=30)]
    return made.test("errors begin after half an hour", phases, made.expect(share, 56, ()))


def _between(made: Burning) -> Iterator[RuleTest]:
    """Ratios that half of the limit above them, and twice the one below them, would judge otherwise."""
    for index in range(1, len(made.alerts)):
        upper, lower = made.limits[index - 1 : index + 1]
        share = _share((max(upper / 2, lower) + min(upper, lower * 2)) / 2)
        moment, loud = made.moments[index], made.alerts[index]
        expectations = (made.expect(share, moment - MINUTES, ()), made.expect(share, moment, [loud]))
        story = f"errors above the limit of {loud.labels['window']} and below the one above it"
        yield made.test(story, [made.flow(moment, share)], *expectations)


def _few(made: Burning) -> RuleTest:
    """Seven of ten events that are needed, all of which fail: not even the slow alerts fire for them."""
    none, every = Fraction(0), Fraction(1)
    phases = [
        made.flow(20, every, none),
        made.flow(28, every, Fraction(max(1, int(made.least * 7 / 10)), 8 // MINUTES), since=20),
        made.flow(206, every, none, since=28),
    ]
    expectations = (made.expect(every, minute, ()) for minute in (28, 44, 84, 204))
    return made.test("too few events, all of which fail", phases, *expectations)

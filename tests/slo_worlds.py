"""How alerts on error budgets begin and end, in worlds that the generated tests leave out.

They would prove the same of every SLO again, minute by minute; here they prove it once, of the way that all are made.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import burn
from tocsin.lower.objective_proof import cast, played
from tocsin.lower.objective_stories import (
    MINUTES,
    MOMENTS,
    Story,
    World,
    between,
    exact,
    high,
    moment,
    shape_of,
    story,
    world_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory, Slo
    from tocsin.plan import Alert, RuleTest


def worlds(factory: Factory, slo: Slo, alerts: tuple[Alert, ...]) -> tuple[RuleTest, ...]:
    """Tests of the burn-rate alerts of an SLO, those in the order of `burn.PAIRS`."""
    world = world_of(shape_of(factory, slo))
    players = cast(factory, slo, alerts, None)
    return tuple(played(players, told) for told in (_over(world), _begins(world), *_between(world), _few(world)))


def _over(world: World) -> Story:
    """A burst, and then ratios below one limit after the other. Only the long windows still remember what was before.

    Each alert is over as soon as its short window is calm; the next one waits for longer than it takes to ask.
    """
    calm = [exact(limit * 3 / 4) for limit in world.limits[:3]]
    phases = [
        world.flow(8, high(world)),
        world.flow(12, calm[0], since=8),
        world.flow(54, calm[1], since=12),
        world.flow(178, calm[2], since=54),
    ]
    moments = (moment(ask, share) for share, ask in zip(calm, (14, 54, 178), strict=True))
    return story("errors above every limit for eight minutes", phases, *moments)


def _begins(world: World) -> Story:
    """After half an hour without errors, 26 minutes with many are not enough for any of the long windows."""
    share = high(world)
    phases = [world.flow(30, Fraction(0)), world.flow(56, share, since=30)]
    return story("errors begin after half an hour", phases, moment(56, share))


def _between(world: World) -> Iterator[Story]:
    """Ratios that half of the limit above them, and twice the one below them, would judge otherwise."""
    for index in range(1, len(burn.PAIRS)):
        share = between(*world.limits[index - 1 : index + 1])
        last = MOMENTS[index]
        title = f"errors above the limit of {burn.PAIRS[index].long} and below the one above it"
        yield story(title, [world.flow(last, share)], moment(last - MINUTES, share), moment(last, share, index))


def _few(world: World) -> Story:
    """Seven of ten events that are needed, all of which fail: not even the slow alerts fire for them."""
    none, every = Fraction(0), Fraction(1)
    phases = [
        world.flow(20, every, none),
        world.flow(28, every, Fraction(max(1, int(world.least * 7 / 10)), 8 // MINUTES), since=20),
        world.flow(206, every, none, since=28),
    ]
    moments = (moment(minute, every) for minute in (28, 44, 84, 204))
    return story("too few events, all of which fail", phases, *moments)

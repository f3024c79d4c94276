"""What happens in the tests of an SLO's alerts, in numbers alone: SLOs of one shape share their stories."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from tocsin import burn
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.factory import Factory, Slo

TRAFFIC_SHARE = Fraction(1, 100)  # of the expected traffic. Less is no lull: something before the service is broken.
STEP = Duration.of(minutes=2)  # of the tests: two samples in the shortest window, and rates from the second on
MINUTES = STEP // Duration.of(minutes=1)
# The minutes at which the alerts fire, in the order of `burn.PAIRS`, where the ratio is above from the begin.
MOMENTS = tuple(MINUTES + -(-pair.hold // STEP) * MINUTES for pair in burn.PAIRS)
NAMED = sorted(range(len(burn.PAIRS)), key=lambda pair: str(burn.PAIRS[pair].long))


class Shape(NamedTuple):
    """What the numbers of an SLO's tests depend on. `least` events in a long window are judged."""

    period: Duration
    budget: Fraction
    least: Fraction
    expected: Fraction | None
    interval: Duration


class Phase(NamedTuple):
    """For so many samples, so many events each, a share of them bad."""

    samples: int
    each: Fraction
    share: Fraction


class Moment(NamedTuple):
    """At the minute the alerts of these pairs fire, all with this ratio. `missed` says whether traffic is missed."""

    minute: int
    ratio: float
    pairs: tuple[int, ...]
    missed: bool | None = None


class Story(NamedTuple):
    """Counters of the bad events, the good ones and all of them, in promtool's notation, and what must fire when.

    Where it is `crowded`, another SLO burns beside ours.
    """

    title: str
    bad: str
    good: str
    all: str
    moments: tuple[Moment, ...]
    crowded: bool = False


class World(NamedTuple):
    """What stories are made of: the `limits` of the pairs, and so many events of a step that suffice to judge."""

    limits: tuple[Fraction, ...]
    least: Fraction
    enough: Fraction
    expected: Fraction

    def flow(self, until: int, share: Fraction, each: Fraction | None = None, since: int = 0) -> Phase:
        """From one minute to the other events of which a share is bad: enough to judge, unless it is said how many."""
        return Phase((until - since) // MINUTES, self.enough if each is None else each, share)


def shape_of(factory: Factory, slo: Slo) -> Shape:
    """The shape of an SLO."""
    least = slo.min_events if slo.min_events is not None else Fraction(burn.min_events(slo.period, slo.budget))
    return Shape(slo.period, slo.budget, least, slo.expected, factory.interval)


def world_of(shape: Shape) -> World:
    """The world in which the alerts of such SLOs are tested."""
    expected = (shape.expected or Fraction(0)) * TRAFFIC_SHARE * STEP.seconds
    # A test is evaluated less often than a server, and sums up fewer of the recorded rates: so many more for each.
    summed = shape.least * max(Fraction(1), burn.WINDOWS[0].seconds / shape.interval.seconds)
    return World(
        limits=burn.thresholds(shape.period, shape.budget),
        least=shape.least,
        enough=max(Fraction(60), Fraction(ceil(summed)), expected * 10),
        expected=expected,
    )


@lru_cache(maxsize=1024)
def stories(shape: Shape) -> tuple[Story, ...]:
    """Each burn-rate alert fires in one of the first two, and each is silent in the last two."""
    world = world_of(shape)
    return (_above(world), _slow(world), _below(world, missed=shape.expected is not None), _too_few(world))


def story(title: str, phases: Sequence[Phase], *moments: Moment) -> Story:
    """A story of events in phases that follow each other; then the series end."""
    return Story(
        title,
        _rising([(phase.samples, phase.each * phase.share) for phase in phases]),
        _rising([(phase.samples, phase.each * (1 - phase.share)) for phase in phases]),
        _rising([(phase.samples, phase.each) for phase in phases]),
        moments,
    )


def moment(minute: int, share: Fraction, *pairs: int, missed: bool | None = None) -> Moment:
    """A moment at which these pairs fire, told in the order in which promtool is told them."""
    return Moment(minute, float(share), tuple(pair for pair in NAMED if pair in pairs), missed)


def _rising(phases: list[tuple[int, Fraction]]) -> str:
    """A counter that rises from zero by so much for so many samples, and so on. Its last sample ends the last phase."""
    out, value = [], Fraction(0)
    for samples, step in phases:
        out.append(f"{number(value)}+{number(step)}x{samples - 1}")
        value += step * samples
    return " ".join([*out, number(value), "stale"])


def exact(value: Fraction) -> Fraction:
    """A ratio nearby that is printed exactly."""
    return Fraction(number(value, 3))


def high(world: World) -> Fraction:
    """A ratio above every limit, and below twice the highest."""
    highest = world.limits[0]
    return exact(min(highest * 3 / 2, (highest + 1) / 2))


def between(upper: Fraction, lower: Fraction) -> Fraction:
    """A ratio that half of the upper limit, and twice the lower one, would judge otherwise."""
    return exact((max(upper / 2, lower) + min(upper, lower * 2)) / 2)


def _above(world: World) -> Story:
    """The first alert fires when its `for` is over, in the end all but the slowest do."""
    share, first, last = high(world), MOMENTS[0], MOMENTS[-2]
    moments = (moment(first - MINUTES, share), moment(first, share, 0), moment(last, share, 0, 1, 2))
    return story("errors above every limit", [world.flow(last, share)], *moments)._replace(crowded=True)


def _slow(world: World) -> Story:
    share, last = between(*world.limits[-2:]), MOMENTS[-1]
    moments = (moment(last - MINUTES, share), moment(last, share, 3))
    return story("errors above the lowest limit only", [world.flow(last, share)], *moments)


def _below(world: World, *, missed: bool) -> Story:
    """Next to no errors; then next to no events, first a little more than is missed, then less, then no series."""
    share, last = exact(world.limits[-1] * 3 / 4), MOMENTS[-1]
    phases, moments = [world.flow(last, share)], [moment(last, share, missed=False if missed else None)]
    if missed:
        enough, fewer, gone = last + 30, last + 56, last + 66
        phases.append(world.flow(enough, share, world.expected * 3 / 2, since=last))
        phases.append(world.flow(fewer, share, world.expected * 7 / 10, since=enough))
        moments += [moment(minute, share, missed=False) for minute in (enough, enough + 14)]
        moments += [moment(minute, share, missed=True) for minute in (fewer, gone)]
    return story("errors below every limit, then no events", phases, *moments)


def _too_few(world: World) -> Story:
    """Within eight minutes there are seven of ten events that are needed, and all of them fail."""
    none, every = Fraction(0), Fraction(1)
    few = max(1, int(world.least * 7 / 10))
    phases = [
        world.flow(20, every, none),
        world.flow(28, every, Fraction(few, 8 // MINUTES), since=20),
        world.flow(46, every, none, since=28),
    ]
    return story("too few events, all of which fail", phases, *(moment(minute, every) for minute in (28, 44)))

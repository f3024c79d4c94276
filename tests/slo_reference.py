"""What the rules of a ratio must record, and which alerts wait and fire: said once more, from counters to states."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from promql_reference import Dialect, Sample, instant, over_time, rate, total

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.burn import Pair
    from tocsin.factory.slos import Slo

MINUTE = 60  # seconds: the time of a sample, of an evaluation and of a step
KNOWN = 60  # samples for which a service that has gone is one that should be there
UNIT = 5


class Counter(NamedTuple):
    """One series of requests: of an instance, good or bad."""

    instance: str
    bad: bool
    samples: Sequence[Sample]


Values = list[float | None]


class Told(NamedTuple):
    """By window in minutes, errors and all events per second at each minute; the period's ratio; alerts by window."""

    errors: Mapping[int, Values]
    total: Mapping[int, Values]
    ratio: Values
    pending: Mapping[int, Sequence[bool]]
    firing: Mapping[int, Sequence[bool]]


class Group:
    """The counters of one group of an SLO's labels."""

    def __init__(self, counters: Sequence[Counter], slo: Slo, dialect: Dialect) -> None:
        """`slo` is one of a spec of ours: its windows, its indicator, what no traffic is."""
        self.counters, self.slo, self.dialect = counters, slo, dialect
        self.length = len(counters[0].samples)
        self.tells_bad = slo.indicator.bad is not None
        self.expected = float(slo.expected) if slo.idle == "bad" and slo.expected else None

    def told(self) -> Told:
        """All of it, minute by minute."""
        windows = self.slo.windows
        errors: dict[int, Values] = {}
        every: dict[int, Values] = {}
        for window in map(_minutes, (windows.unit, *windows.counted)):
            both = [self._counted(at, window) for at in range(self.length)]
            errors[window], every[window] = [one[0] for one in both], [one[1] for one in both]
        for window in map(_minutes, windows.summed):
            errors[window], every[window] = self._summed(errors[UNIT], window), self._summed(every[UNIT], window)
        days = _minutes(self.slo.period)
        past = zip(self._summed(errors[UNIT], days), self._summed(every[UNIT], days), strict=True)
        pending, firing = {}, {}
        for pair in self.slo.pairs:
            long = _minutes(pair.long)
            pending[long], firing[long] = self._states(pair, errors, every)
        return Told(errors, every, [self._ratio(*one) for one in past], pending, firing)

    def _counted(self, at: int, window: int) -> tuple[float | None, float | None]:
        """Errors and all events per second, and what was expected where nothing came."""
        every = self._rate(at, window, None)
        told = self._rate(at, window, self.tells_bad)
        if told is None and every is not None:
            told = 0.0
        errors = told
        if not self.tells_bad:
            errors = None if every is None or told is None else max(every - told, 0.0)
        if self.expected is not None and not (every or 0) > 0:
            known = any(rate_known(one.samples, at, self.dialect) for one in self.counters)
            return (self.expected, self.expected) if known else (None, None)
        return errors, every

    def _rate(self, at: int, window: int, bad: bool | None) -> float | None:
        chosen = [one for one in self.counters if bad is None or one.bad is bad]
        return total([self._increase(one, at, window) for one in chosen])

    def _increase(self, one: Counter, at: int, window: int) -> float | None:
        """Per second; in the unit, a series that a known target has only now counts with its value."""
        value = instant(one.samples, at, self.dialect)
        if window == UNIT and value is not None and instant(one.samples, at - UNIT, self.dialect) is None:
            others = [other.samples for other in self.counters if other.instance == one.instance]
            if any(None not in (instant(it, at, self.dialect), instant(it, at - UNIT, self.dialect)) for it in others):
                return value / (UNIT * MINUTE)
        increase = rate(one.samples, at, window, self.dialect)
        return None if increase is None else increase / MINUTE

    def _summed(self, unit: Values, window: int) -> Values:
        """Per second over a long window, each minute's rate standing for that minute; over the period the same."""
        sums = [over_time(unit, at, window, self.dialect) for at in range(self.length)]
        return [None if one is None else one / window for one in sums]

    def _ratio(self, errors: float | None, every: float | None) -> float | None:
        if errors is None or every is None:
            return None
        if every > 0:
            return errors / every
        return 0.0 if self.slo.idle == "good" else None

    def _states(
        self, pair: Pair, errors: Mapping[int, Values], every: Mapping[int, Values]
    ) -> tuple[list[bool], list[bool]]:
        """Whether the pair's alert waits, and whether it fires."""
        long, short = _minutes(pair.long), _minutes(pair.short)
        limit, hold = float(pair.threshold(self.slo.budget)), _minutes(pair.hold)
        since, pending, firing = None, [], []
        for at in range(self.length):
            bad, all_ = errors[long][at] or 0.0, every[long][at] or 0.0
            over = all_ > 0 and bad / all_ > limit
            over = over and (errors[short][at] or 0.0) > limit * (every[short][at] or 0.0)
            over = over and every[short][at] is not None and all_ * long * MINUTE >= float(self.slo.enough(pair))
            since = (at if since is None else since) if over else None
            fires = since is not None and at - since >= hold
            firing.append(fires)
            pending.append(since is not None and not fires)
        return pending, firing


def rate_known(samples: Sequence[Sample], at: int, dialect: Dialect) -> bool:
    """Whether a series had a sample within the last hour."""
    first = max(at - KNOWN + (1 if dialect.open else 0), 0)
    return any(isinstance(one, float) for one in samples[first : at + 1])


def _minutes(length: float) -> int:
    return round(length / 60_000)

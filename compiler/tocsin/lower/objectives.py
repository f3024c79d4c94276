"""SLOs: numerators and denominators are recorded and divided after summing, so no mean of ratios and no NaN arises."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tocsin import burn, naming
from tocsin.lower.alerts import links
from tocsin.lower.objective_proof import cast, played
from tocsin.lower.objective_stories import TRAFFIC_SHARE, shape_of, stories
from tocsin.plan import Alert, Record, RuleFile, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration, number, percent

if TYPE_CHECKING:
    from fractions import Fraction

    from tocsin.factory import Factory, Slo
    from tocsin.lower.objective_stories import Shape
    from tocsin.promql import Selector

ALERT = "ErrorBudgetBurn"
SHORTEST = burn.WINDOWS[0]
TRAFFIC_ALERT = "SloTrafficMissing"
# Windows from here on are sums of the recorded five-minute rates: exact, at a fraction of the samples of raw counters.
FROM_RECORDED = Duration.of(days=1)


def objective(factory: Factory, slo: Slo) -> RuleFile:
    """The chain of one SLO: event rates, period, budget, then one alert for each window pair."""
    me = f"{{slo={quote(slo.id)}}}"
    rates = _Rates(*(_rate(slo, selector) for selector in (slo.total, slo.bad or slo.good or slo.total)))
    every = number(factory.interval.seconds)
    records = [record for window in WINDOWS for record in _records(slo, window, me, rates, every)]
    if slo.period <= factory.retention.hot.keep:
        records += _period(slo, me)
    shape = shape_of(factory, slo)
    said = _said(factory, slo)
    numbers = _numbers(shape)
    burns = tuple(_burn(slo, pair, me, in_numbers, said) for pair, in_numbers in zip(burn.PAIRS, numbers, strict=True))
    traffic = _traffic(factory, slo, slo.expected, me) if slo.expected is not None else None
    alerts = (*burns, traffic) if traffic else burns
    players = cast(factory, slo, burns, traffic)
    tests = tuple(played(players, story) for story in stories(shape))
    return RuleFile(f"slo-{slo.id}", (RuleGroup(f"slo-{slo.id}", (*records, *alerts), tests),))


def periods(factory: Factory) -> dict[str, RuleFile]:
    """By tier, the rules that look back further than the servers keep: they are evaluated where that tier is read."""
    groups: dict[str, list[RuleGroup]] = {}
    for slo in factory.slos.values():
        tier = factory.retention.of_recorded(slo.period)
        if tier is not None and tier is not factory.retention.hot:
            records = _period(slo, f"{{slo={quote(slo.id)}}}")
            groups.setdefault(tier.name, []).append(RuleGroup(f"slo-{slo.id}-period", records, ()))
    return {tier: RuleFile(f"slo_periods-{tier}", tuple(found)) for tier, found in groups.items()}


def _period(slo: Slo, me: str) -> tuple[Record, ...]:
    """What became of the budget over the whole period."""
    errors, total = naming.slo_errors(SHORTEST), naming.slo_total(SHORTEST)
    ratio = f"sum_over_time({errors}{me}[{slo.period}]) / (sum_over_time({total}{me}[{slo.period}]) > 0)"
    left = f"1 - {naming.SLO_PERIOD_RATIO}{me} / {number(slo.budget)}"
    labels = {"slo": slo.id}
    return (
        Record(naming.SLO_OBJECTIVE, f"vector({number(slo.objective)})", labels, slo.origin),
        Record(naming.SLO_PERIOD_RATIO, ratio, labels, slo.origin),
        Record(naming.SLO_BUDGET_LEFT, left, labels, slo.origin),
    )


class _Window(NamedTuple):
    """A window and the names of its series. `seconds` is its length where it is summed up from recorded rates."""

    text: str
    errors: str
    total: str
    seconds: str


WINDOWS = tuple(
    _Window(
        str(window),
        naming.slo_errors(window),
        naming.slo_total(window),
        number(window.seconds) if window >= FROM_RECORDED else "",
    )
    for window in burn.WINDOWS
)


class _Rates(NamedTuple):
    """The rates of all events and of those that the SLO tells, up to their window."""

    total: str
    told: str


def _rate(slo: Slo, selector: Selector) -> str:
    return f"sum by ({naming.by(slo.by)}) (rate({selector.render()}"


def _records(slo: Slo, window: _Window, me: str, rates: _Rates, every: str) -> tuple[Record, Record]:
    """All events and bad ones per second of a window, in this order: the second reads the first."""
    if window.seconds:
        # Sums and not means: where a service was there for a part of the window only, the rest of it had no events.
        each = f"{me}[{window.text}]) * {every} / {window.seconds}"
        bad, all_ = f"sum_over_time({WINDOWS[0].errors}{each}", f"sum_over_time({WINDOWS[0].total}{each}"
    else:
        all_ = f"{rates.total}[{window.text}]))"
        bad = _bad(slo, f"{rates.told}[{window.text}]))", f"{window.total}{me}")
    labels = {"slo": slo.id}
    return Record(window.total, all_, labels, slo.origin), Record(window.errors, bad, labels, slo.origin)


def _bad(slo: Slo, told: str, all_: str) -> str:
    on = f"on ({naming.by(slo.by)})"
    if slo.bad:
        # Where nothing fails there may be no series that says so: zero errors are errors, not silence.
        return f"{told}\nor {on} 0 * {all_}"
    # All but the good, never below zero by a scrape's jitter; all of them, where nothing is good.
    return f"clamp_min({all_} - {on} {told}, 0)\nor {on} {all_}"


class _Numbers(NamedTuple):
    """What an alert says in numbers, printed: SLOs of one shape say the same."""

    limit: str
    factor: str
    seconds: str
    least: str


@lru_cache(maxsize=1024)
def _numbers(shape: Shape) -> tuple[_Numbers, ...]:
    limits = burn.thresholds(shape.period, shape.budget)
    return tuple(
        _Numbers(
            number(limit),
            number(burn.factor(pair, shape.period), 4),
            number(pair.long.seconds),
            number(shape.least),
        )
        for pair, limit in zip(burn.PAIRS, limits, strict=True)
    )


class _Said(NamedTuple):
    """What all burn-rate alerts of an SLO say alike: what failed, what is allowed, and where to look next."""

    failed: str
    allowed: str
    links: dict[str, str]


def _said(factory: Factory, slo: Slo) -> _Said:
    named = ", ".join(f"{label} {{{{ $labels.{label} }}}}" for label in slo.by)
    return _Said(
        f"{{{{ $value | humanizePercentage }}}} of the events of {slo.id} ({named}) failed within",
        f"{percent(slo.objective)} over {slo.period} allow {percent(slo.budget)}.",
        links(factory, slo.owner, ALERT, _place(slo)),
    )


def _burn(slo: Slo, pair: burn.Pair, me: str, said: _Numbers, words: _Said) -> Alert:
    def ratio(window: Duration) -> str:
        return f"{naming.slo_errors(window)}{me} / ({naming.slo_total(window)}{me} > 0)"

    expr = (
        f"({ratio(pair.long)}) > {said.limit}\n"
        f"and ({ratio(pair.short)}) > {said.limit}\n"
        f"and {naming.slo_total(pair.long)}{me} * {said.seconds} >= {said.least}"
    )
    window = str(pair.long)
    labels = {"severity": pair.severity, "owner": slo.owner, "layer": slo.layer, "slo": slo.id, "window": window}
    texts = {
        "summary": f"{slo.id} burns its error budget at more than {said.factor} times its pace",
        "description": f"{words.failed} {window}; {words.allowed}",
        **words.links,
    }
    return Alert(ALERT, expr, pair.hold, labels, texts, slo.origin)


def _place(slo: Slo) -> tuple[str, ...]:
    """The labels by which the dashboard opens at the place, as far as the SLO tells them apart."""
    return tuple(label for label in naming.NODE if label in slo.by)


def _traffic(factory: Factory, slo: Slo, expected: Fraction, me: str) -> Alert:
    """Next to none of the expected events are counted, whatever became of them: who is not reached fails nobody."""
    place = _place(slo)
    # Where there was none within a day there is nothing to miss: the service is another cluster's, or still planned.
    known = f"({naming.slo_total(SHORTEST)}{me} or 0 * {naming.slo_total(FROM_RECORDED)}{me})"
    # All together: a service that is renamed is not missed.
    together = f"sum by ({naming.by(place)}) {known}" if place else f"sum {known}"
    return Alert(
        name=TRAFFIC_ALERT,
        expr=f"{known}\nand on ({naming.by(place)}) ({together} < {number(expected * TRAFFIC_SHARE)})",
        hold=Duration.of(minutes=15),
        labels={"severity": "ticket", "owner": slo.owner, "layer": slo.layer, "slo": slo.id},
        annotations={
            "summary": f"{slo.id} sees no traffic",
            "description": f"Less than {percent(TRAFFIC_SHARE)} of the {number(expected, 4)} events per second that "
            "are expected arrive: nothing fails, but perhaps nobody is served.",
            **links(factory, slo.owner, TRAFFIC_ALERT, place),
        },
        origin=slo.origin,
    )

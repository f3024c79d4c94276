"""SLOs: numerators and denominators are recorded and divided after summing, so no mean of ratios and no NaN arises."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from tocsin import burn, naming
from tocsin.lower import events
from tocsin.lower.alerts import links
from tocsin.lower.proofs import fires, firing, proof, silent
from tocsin.plan import NO_TIME, Alert, Expectation, Record, RuleFile, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration, number, percent

if TYPE_CHECKING:
    from tocsin.factory import Factory, Slo
    from tocsin.plan import RuleTest
    from tocsin.promql import Selector

ALERT = "ErrorBudgetBurn"
SHORTEST = burn.WINDOWS[0]
TRAFFIC_ALERT = "SloTrafficMissing"
STEP = Duration.of(minutes=2)  # of the tests: two samples in the shortest window
# Windows from here on are sums of the recorded five-minute rates: exact, at a fraction of the samples of raw counters.
FROM_RECORDED = Duration.of(days=1)
TRAFFIC_SHARE = Fraction(
    1, 100
)  # of the expected traffic: less is no lull, something in front of the service is broken


def objective(factory: Factory, slo: Slo) -> RuleFile:
    """The chain of one SLO: event rates, period, budget, then one alert for each window pair."""
    me = f"{{slo={quote(slo.id)}}}"
    records = [record for window in burn.WINDOWS for record in _windows(factory, slo, window, me)]
    errors, total = naming.slo_errors(SHORTEST), naming.slo_total(SHORTEST)
    ratio = f"sum_over_time({errors}{me}[{slo.period}]) / (sum_over_time({total}{me}[{slo.period}]) > 0)"
    labels = {"slo": slo.id}
    records += [
        Record(naming.SLO_OBJECTIVE, f"vector({number(slo.objective)})", labels, slo.origin),
        Record(naming.SLO_PERIOD_RATIO, ratio, labels, slo.origin),
        Record(
            naming.SLO_BUDGET_LEFT,
            f"1 - {naming.SLO_PERIOD_RATIO}{me} / {number(slo.budget)}",
            labels,
            slo.origin,
        ),
    ]
    burns = tuple(_burn(factory, slo, pair, me) for pair in burn.PAIRS)
    traffic = _traffic(factory, slo, slo.expected, me) if slo.expected is not None else None
    alerts = (*burns, traffic) if traffic else burns
    group = RuleGroup(f"slo-{slo.id}", (*records, *alerts), _tests(factory, slo, burns, traffic))
    return RuleFile(group.name, (group,))


def _windows(factory: Factory, slo: Slo, window: Duration, me: str) -> tuple[Record, Record]:
    errors, total = naming.slo_errors(window), naming.slo_total(window)
    if window >= FROM_RECORDED:
        # Sums and not means: where a service was there for a part of the window only, the rest of it had no events.
        every, over = number(factory.interval.seconds), number(window.seconds)
        bad = f"sum_over_time({naming.slo_errors(SHORTEST)}{me}[{window}]) * {every} / {over}"
        all_ = f"sum_over_time({naming.slo_total(SHORTEST)}{me}[{window}]) * {every} / {over}"
    else:
        all_ = _rate(slo, slo.total, window)
        # Where nothing fails there may be no series that says so: zero errors are errors, not silence.
        bad = f"{_rate(slo, slo.bad, window)} or 0 * {all_}" if slo.bad else _without(slo, window, all_)
    labels = {"slo": slo.id}
    return Record(errors, bad, labels, slo.origin), Record(total, all_, labels, slo.origin)


def _without(slo: Slo, window: Duration, all_: str) -> str:
    """Bad events where the good ones are counted: all but the good, never below zero by a scrape's jitter."""
    good = _rate(slo, slo.good, window) if slo.good else "0"
    return f"clamp_min({all_} - ({good} or 0 * {all_}), 0)"


def _rate(slo: Slo, selector: Selector, window: Duration) -> str:
    return f"sum by ({naming.by(slo.by)}) (rate({selector.render(())}[{window}]))"


def _burn(factory: Factory, slo: Slo, pair: burn.Pair, me: str) -> Alert:
    limit = number(burn.threshold(pair, slo.period, slo.budget))
    least = slo.min_events if slo.min_events is not None else burn.min_events(slo.period, slo.budget)

    def ratio(window: Duration) -> str:
        return f"{naming.slo_errors(window)}{me} / ({naming.slo_total(window)}{me} > 0)"

    expr = (
        f"({ratio(pair.long)}) > {limit}\n"
        f"and ({ratio(pair.short)}) > {limit}\n"
        f"and {naming.slo_total(pair.long)}{me} * {number(pair.long.seconds)} >= {number(least)}"
    )
    factor = number(burn.factor(pair, slo.period), 4)
    labels = {
        "severity": pair.severity,
        "owner": slo.owner,
        "layer": slo.layer,
        "slo": slo.id,
        "window": str(pair.long),
    }
    place = tuple(label for label in naming.NODE if label in slo.by)
    texts = {
        "summary": f"{slo.id} burns its error budget {factor} times too fast",
        "description": f"{{{{ $value | humanizePercentage }}}} of the events of {slo.id} failed within {pair.long}; "
        f"{percent(slo.objective)} over {slo.period} allow {percent(slo.budget)}.",
        **links(factory, slo.owner, ALERT, place),
    }
    return Alert(ALERT, expr, pair.hold, NO_TIME, labels, texts, slo.origin)


def _traffic(factory: Factory, slo: Slo, expected: Fraction, me: str) -> Alert:
    """Next to none of the expected events are counted, whatever became of them: failures before us count nowhere."""
    place = tuple(label for label in naming.NODE if label in slo.by)
    sum_ = f"sum by ({naming.by(place)})" if place else "sum"
    now, day = (f"{sum_} ({naming.slo_total(window)}{me})" for window in (SHORTEST, FROM_RECORDED))
    return Alert(
        TRAFFIC_ALERT,
        # Where there was none within a day there is nothing to miss: the service is another cluster's, or planned.
        f"({now} or 0 * {day}) < {number(expected * TRAFFIC_SHARE)}",
        Duration.of(minutes=15),
        NO_TIME,
        {"severity": "ticket", "owner": slo.owner, "layer": slo.layer, "slo": slo.id},
        {
            "summary": f"{slo.id} sees no traffic",
            "description": f"Less than {percent(TRAFFIC_SHARE)} of the {number(expected, 4)} events per second that "
            f"are expected arrive: nothing can fail, but nobody may be served.",
            **links(factory, slo.owner, TRAFFIC_ALERT, place),
        },
        slo.origin,
    )


def _tests(factory: Factory, slo: Slo, burns: tuple[Alert, ...], traffic: Alert | None) -> tuple[RuleTest, ...]:
    """Error ratios above all limits, between each two, and below all; and too few events to judge."""
    least = slo.min_events if slo.min_events is not None else burn.min_events(slo.period, slo.budget)
    # Enough for one evaluation: the test is evaluated less often than a server, and sums up fewer recorded rates.
    enough = max(least * SHORTEST.seconds / factory.interval.seconds, least)
    flow = max(Fraction(60), enough, (slo.expected or 0) * TRAFFIC_SHARE * STEP.seconds * 3 / 2)
    each = Fraction(-(-flow.numerator // flow.denominator))
    labels = events.failing_labels(factory, slo)
    limits = [burn.threshold(pair, slo.period, slo.budget) for pair in burn.PAIRS]

    def checks(share: Fraction, *expected: tuple[int, tuple[Alert, ...]]) -> list[Expectation]:
        return [
            Expectation(
                Duration.of(minutes=minute),
                ALERT,
                tuple(firing(one, labels, float(share)) for one in sorted(alerts, key=lambda a: a.labels["window"])),
            )
            for minute, alerts in expected
        ]

    def test(story: str, inputs: list[events.Series], expected: list[Expectation]) -> RuleTest:
        return proof(burns[0], story, inputs, *expected, interval=STEP)

    above = min(limits[0] * 3 / 2, (limits[0] + 1) / 2)
    below = limits[-1] * 3 / 4
    rates_from = 2  # minutes: the first moment with two samples
    holds = [rates_from + -(-int(one.hold) // int(STEP)) * 2 for one in burns]
    all_ = checks(
        above,
        *((at - 2, burns[:n]) for n, at in enumerate(holds)),
        *((at, burns[: n + 1]) for n, at in enumerate(holds)),
    )
    tests = [test("errors above every limit", events.flowing(factory, slo, each, above), all_)]
    for number_, (upper, lower) in enumerate(pairwise(limits), 1):
        share = (max(upper / 2, lower) + min(upper, lower * 2)) / 2
        one = burns[number_]
        story = (
            f"errors above the limit of {one.labels['window']} and below that of {burns[number_ - 1].labels['window']}"
        )
        tests.append(test(story, events.flowing(factory, slo, each, share), checks(share, (holds[number_], (one,)))))
    stops = holds[-1] // 2 + 1
    quiet = checks(below, (holds[-1], ()))
    if traffic:
        told = {label: labels[label] for label in naming.NODE if label in slo.by}
        quiet += [silent(traffic, 2 * stops + 16), fires(traffic, 2 * stops + 24, told)]
    tests.append(
        test("errors below every limit, then no traffic", events.flowing(factory, slo, each, below, stops), quiet)
    )
    few = max(1, int(least * 7 / 10))
    judged = checks(below, (28, ()), (holds[-1] + 20, ()))
    tests.append(test("too few events, all of which fail", events.few_failures(factory, slo, few), judged))
    return tuple(tests)

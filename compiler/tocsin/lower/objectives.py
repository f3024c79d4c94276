"""SLOs: numerators and denominators are recorded and divided after summing, so no mean of ratios and no NaN arises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import budget
from tocsin.lower.burns import burn_alert
from tocsin.lower.indicators import events
from tocsin.lower.objective_proof import alert_proof
from tocsin.lower.ratio_proof import ratio_proof
from tocsin.lower.vanishing import vanishing
from tocsin.lower.window_proof import window_proof
from tocsin.plan import Alert, Record, RuleFile, RuleGroup
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.factory import Factory, Slo

# Long windows change slowly. Twice within the five minutes for which Prometheus looks back for a sample.
LONG_PACE = Duration.of(minutes=2)


def objective(factory: Factory, slo: Slo) -> RuleFile:
    """The chain of one SLO: event rates, then an alert for each window pair; what is long, less often; the proof."""
    windows = slo.windows
    quick = [window for window in windows.all if window not in windows.summed]
    burns = tuple(burn_alert(factory, slo, pair) for pair in slo.pairs)
    at_once = [burn for burn, pair in zip(burns, slo.pairs, strict=True) if {*pair[:2]} <= {*quick}]
    later = [burn for burn in burns if burn not in at_once]
    gone = vanishing(factory, slo)
    counted = events(slo)
    rules: list[Record | Alert] = []
    for window in quick:
        rules.append(_record(slo, naming.slo_total(window), counted.total(window)))
        rules.append(_record(slo, naming.slo_errors(window), counted.errors(window)))
    slow: list[Record | Alert] = [_summed(slo, name, window) for window in windows.summed for name in _BOTH]
    slow += [*budget.described(slo), budget.burning(slo)]
    is_here = slo.period <= factory.retention.hot.keep
    slow += budget.period(slo) if is_here else ()
    tests = (
        alert_proof(slo, burns, gone),
        ratio_proof(factory, slo, is_here=is_here),
        *window_proof(slo, is_here=is_here),
    )
    groups = (
        RuleGroup(f"slo-{slo.id}", (*rules, *at_once), tests),
        RuleGroup(
            f"slo-{slo.id}-long", (*slow, *later, *([gone] if gone else [])), (), max(LONG_PACE, factory.interval)
        ),
    )
    return RuleFile(f"slo-{slo.id}", groups)


_BOTH = (naming.slo_total, naming.slo_errors)


def _record(slo: Slo, name: str, expr: str) -> Record:
    return Record(name, expr, {"slo": slo.id}, slo.origin)


def _summed(slo: Slo, name: Callable[[Duration], str], window: Duration) -> Record:
    unit = slo.windows.unit
    expr = f"{budget.summed(slo, name(unit), window)} * {number(unit.seconds)} / {number(window.seconds)}"
    return _record(slo, name(window), expr)


def periods(factory: Factory) -> dict[str, RuleFile]:
    """By tier, the rules that look back further than the servers keep: they are evaluated where that tier is read."""
    groups: dict[str, list[RuleGroup]] = {}
    for slo in factory.slos.values():
        tier = factory.retention.of_recorded(slo.period)
        if tier is not None and tier is not factory.retention.hot:
            groups.setdefault(tier.name, []).append(RuleGroup(f"slo-{slo.id}-period", budget.period(slo), ()))
    return {tier: RuleFile(f"slo_periods-{tier}", tuple(found)) for tier, found in groups.items()}

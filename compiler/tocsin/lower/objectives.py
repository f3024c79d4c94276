"""SLOs: numerators and denominators are recorded and divided after summing, so no mean of ratios and no NaN arises."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.factory.slos import Slo
from tocsin.lower import budget
from tocsin.lower.burns import burn_alerts
from tocsin.lower.cast import BLANK
from tocsin.lower.kinds import KINDS
from tocsin.lower.objective_proof import alert_proof
from tocsin.lower.period_proof import period_proofs
from tocsin.lower.proofs import joined
from tocsin.lower.vanishing import vanishing
from tocsin.lower.window_proof import window_proofs
from tocsin.plan.rules import Alert, Record, RuleFile, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tocsin.factory import Factory
    from tocsin.lower.cast import Cast

# What of an SLO shapes its texts: neither what its cast says, nor what no text says.
SHAPE = itemgetter(*(at for at, key in enumerate(Slo._fields) if key not in ("id", "indicator", "origin")))
# Long windows change slowly. Twice within the five minutes for which Prometheus looks back for a sample.
LONG_PACE = Duration.of(minutes=2)


def objectives(factory: Factory) -> Iterator[RuleFile]:
    """The chain of each SLO. Those of one shape differ in their cast only: their rules and proof are made once."""
    forms: dict[object, tuple[RuleGroup, ...]] = {}
    for slo in factory.slos.values():
        kind, is_here = KINDS[slo.kind], slo.period <= factory.retention.hot.keep
        cast = kind.cast(factory, slo)
        if not cast.is_plain:
            yield RuleFile(f"slo-{slo.id}", _chain(factory, slo, cast, is_here=is_here))
            continue
        shape = (kind.form(slo), SHAPE(slo))
        form = forms.get(shape)
        if form is None:
            blank = cast.blank()
            form = forms[shape] = _chain(factory, slo._replace(id=blank.id), blank, is_here=is_here)
        yield RuleFile(f"slo-{slo.id}", form, blanks=cast.names(), origin=slo.origin)


def _chain(factory: Factory, slo: Slo, cast: Cast, *, is_here: bool) -> tuple[RuleGroup, RuleGroup]:
    """Event rates, then an alert for each window pair; what is long, less often; the proof of both."""
    me = f"{{slo={quote(slo.id)}}}"
    burns, gone = burn_alerts(factory, slo, me), vanishing(factory, slo, me)
    slow = [burn for burn, pair in zip(burns, slo.pairs, strict=True) if not {*pair[:2]}.isdisjoint(slo.windows.summed)]
    texts = [*budget.long_windows(slo, me), budget.burning(slo, me), *(budget.period(slo, me) if is_here else ())]
    kind = KINDS[slo.kind]
    more = kind.more(slo, cast) if kind.more else None
    both = alert_proof(slo, burns, gone), kind.proof(slo, cast, is_here)
    tests = [*(joined(*both) if kind.is_calm and kind.is_calm(slo) else both), *([more] if more else [])]
    tests += window_proofs(slo, is_here)
    quick: list[Record | Alert] = [*_counted(slo, cast), *(burn for burn in burns if burn not in slow)]
    long: list[Record | Alert] = [*budget.described(slo), *_records(slo, texts), *slow, *([gone] if gone else [])]
    return (
        RuleGroup(f"slo-{slo.id}", tuple(quick), tuple(tests)),
        RuleGroup(f"slo-{slo.id}-long", tuple(long), (), max(LONG_PACE, factory.interval)),
    )


def _counted(slo: Slo, cast: Cast) -> Iterator[Record]:
    """The events of those windows that the indicator's own series are asked for."""
    counted = KINDS[slo.kind].events(slo, cast)
    yield from _records(slo, counted.before)
    for window in (slo.windows.unit, *slo.windows.counted):
        yield from _records(slo, [(naming.slo_total(window), counted.total(window))])
        yield from _records(slo, [(naming.slo_errors(window), counted.errors(window))])


def _records(slo: Slo, texts: Iterable[tuple[str, str]]) -> Iterator[Record]:
    for name, expr in texts:
        yield Record(name, expr, {"slo": slo.id}, slo.origin)


def periods(factory: Factory) -> dict[str, RuleFile]:
    """By tier, the rules that look back further than the servers keep: they are evaluated where that tier is read."""
    groups: dict[str, dict[str, RuleGroup]] = {}
    forms: dict[object, budget.Texts] = {}
    blank = f"{{slo={quote(BLANK)}}}"
    for slo in factory.slos.values():
        tier = factory.retention.of_recorded(slo.period)
        if tier is not None and tier is not factory.retention.hot:
            shape = (slo.period, slo.objective, slo.idle, slo.windows.unit)
            form = forms.get(shape)
            if form is None:
                form = forms[shape] = budget.period(slo, blank)
            me = f"{{slo={quote(slo.id)}}}"
            records = _records(slo, ((name, expr.replace(blank, me)) for name, expr in form))
            group = RuleGroup(f"slo-{slo.id}-period", tuple(records), ())
            groups.setdefault(tier.name, {})[slo.id] = group
    for tier_name, found in groups.items():
        for slo, test in period_proofs(tier_name, [factory.slos[id_] for id_ in found]):
            found[slo.id] = found[slo.id]._replace(tests=(test,))
    return {tier: RuleFile(f"slo_periods-{tier}", tuple(found.values())) for tier, found in groups.items()}

"""SLOs: numerators and denominators are recorded and divided after summing, so no mean of ratios and no NaN arises."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower import budget
from tocsin.lower.burns import Burn, burn_alert, burns, words
from tocsin.lower.indicators import events
from tocsin.lower.objective_proof import AlertStory, alert_proof, alert_story
from tocsin.lower.ratio_proof import EventStory, event_story, ratio_proof
from tocsin.lower.shape import ID, Shape, shape_of
from tocsin.lower.vanishing import vanishing
from tocsin.lower.window_proof import WindowStory, window_proof, window_story
from tocsin.plan import Alert, Record, RuleFile, RuleGroup
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tocsin.factory import Factory, Slo

# Long windows change slowly. Twice within the five minutes for which Prometheus looks back for a sample.
LONG_PACE = Duration.of(minutes=2)


class Form(NamedTuple):
    """All that SLOs of one shape have in common: the rules on recorded series, and the stories of their proof."""

    burns: tuple[Burn, ...]
    long: budget.Texts
    period: budget.Texts
    alerts: AlertStory
    events: EventStory
    windows: WindowStory | None


@lru_cache(maxsize=1024)
def _form(shape: Shape) -> Form:
    return Form(
        burns=tuple(burns(shape)),
        long=(*budget.long_windows(shape), budget.burning(shape)),
        period=budget.period(shape),
        alerts=alert_story(shape),
        events=event_story(shape),
        windows=window_story(shape),
    )


def objective(factory: Factory, slo: Slo) -> RuleFile:
    """The chain of one SLO: event rates, then an alert for each window pair; what is long, less often; the proof."""
    form, id_ = _form(shape_of(slo, is_here=_is_here(factory, slo))), quote(slo.id)
    said = words(factory, slo)
    alerts = [burn_alert(slo, burn, id_, said) for burn in form.burns]
    quick = [alert for alert, burn in zip(alerts, form.burns, strict=True) if burn.quick]
    later = [alert for alert, burn in zip(alerts, form.burns, strict=True) if not burn.quick]
    gone = vanishing(factory, slo)
    slow: list[Record | Alert] = [*budget.described(slo), *_records(slo, form.long, id_)]
    slow += _records(slo, form.period, id_) if _is_here(factory, slo) else ()
    tests = [alert_proof(slo, form.alerts, alerts, gone), ratio_proof(factory, slo, form.events, id_)]
    tests += [window_proof(slo, form.windows, id_)] if form.windows else []
    groups = (
        RuleGroup(f"slo-{slo.id}", (*_counted(slo), *quick), tuple(tests)),
        RuleGroup(
            f"slo-{slo.id}-long",
            (*slow, *later, *([gone] if gone else [])),
            (),
            max(LONG_PACE, factory.interval),
        ),
    )
    return RuleFile(f"slo-{slo.id}", groups)


def _is_here(factory: Factory, slo: Slo) -> bool:
    return slo.period <= factory.retention.hot.keep


def _counted(slo: Slo) -> Iterator[Record]:
    """The events of those windows that the indicator's own series are asked for."""
    counted, labels = events(slo), {"slo": slo.id}
    for window in (slo.windows.unit, *slo.windows.counted):
        yield Record(naming.slo_total(window), counted.total(window), labels, slo.origin)
        yield Record(naming.slo_errors(window), counted.errors(window), labels, slo.origin)


def _records(slo: Slo, texts: Iterable[tuple[str, str]], id_: str) -> list[Record]:
    labels = {"slo": slo.id}
    return [Record(name, expr.replace(ID, id_), labels, slo.origin) for name, expr in texts]


def periods(factory: Factory) -> dict[str, RuleFile]:
    """By tier, the rules that look back further than the servers keep: they are evaluated where that tier is read."""
    groups: dict[str, list[RuleGroup]] = {}
    for slo in factory.slos.values():
        tier = factory.retention.of_recorded(slo.period)
        if tier is not None and tier is not factory.retention.hot:
            texts = _form(shape_of(slo, is_here=False)).period
            group = RuleGroup(f"slo-{slo.id}-period", tuple(_records(slo, texts, quote(slo.id))), ())
            groups.setdefault(tier.name, []).append(group)
    return {tier: RuleFile(f"slo_periods-{tier}", tuple(found)) for tier, found in groups.items()}

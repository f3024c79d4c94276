"""The alerts on burning budgets: one for each pair of windows, so that who is paged sees which one fired."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower.alerts import links
from tocsin.lower.shape import ID, ME
from tocsin.plan import Alert
from tocsin.units import Duration, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory, Slo
    from tocsin.lower.shape import Shape

ALERT = "ErrorBudgetBurn"


class Burn(NamedTuple):
    """What an alert of a pair is in numbers. It is `quick` where neither window is summed up."""

    window: str
    severity: str
    hold: Duration
    expr: str
    factor: str
    quick: bool


def burns(shape: Shape) -> Iterator[Burn]:
    """Too large a share of the events of both windows is bad, and enough events came for a share to mean something."""
    for pair in shape.pairs:
        limit = number(pair.threshold(shape.budget))
        errors, total = naming.slo_errors(pair.long) + ME, naming.slo_total(pair.long) + ME
        # The short window is compared without a division: where there is no event, nothing is above nothing.
        expr = (
            f"{errors} / {total} > {limit}\n"
            f"and {naming.slo_errors(pair.short)}{ME} > {limit} * {naming.slo_total(pair.short)}{ME}\n"
            f"and {total} * {number(pair.long.seconds)} >= {number(shape.least)}"
        )
        quick = {pair.long, pair.short}.isdisjoint(shape.windows.summed)
        yield Burn(str(pair.long), pair.severity, pair.hold, expr, number(pair.factor, 4), quick)


class Words(NamedTuple):
    """What all burn-rate alerts of an SLO say alike: what failed, what is allowed, and where to look next."""

    failed: str
    allowed: str
    links: dict[str, str]


def words(factory: Factory, slo: Slo) -> Words:
    """The words of an SLO's alerts."""
    named = ", ".join(f"{label} {{{{ $labels.{label} }}}}" for label in slo.by)
    return Words(
        f"{{{{ $value | humanizePercentage }}}} of the events of {slo.id} ({named}) failed within",
        f"{percent(slo.objective)} over {slo.period} allow {percent(slo.budget)}.",
        links(factory, slo.owner, ALERT, place(slo)),
    )


def burn_alert(slo: Slo, burn: Burn, id_: str, said: Words) -> Alert:
    """The alert of one pair of windows."""
    labels = {
        "severity": burn.severity,
        "owner": slo.owner,
        "layer": slo.layer,
        "slo": slo.id,
        "window": burn.window,
    }
    texts = {
        "summary": f"{slo.id} burns its error budget at more than {burn.factor} times its pace",
        "description": f"{said.failed} {burn.window}; {said.allowed}",
        **said.links,
    }
    return Alert(ALERT, burn.expr.replace(ID, id_), burn.hold, labels, texts, slo.origin)


def place(slo: Slo) -> tuple[str, ...]:
    """The labels by which the dashboard opens at the place, as far as the SLO tells them apart."""
    return tuple(label for label in naming.NODE if label in slo.by)

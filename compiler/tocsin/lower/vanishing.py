"""Where an SLO's events end, nothing fails: that they end is told by an alert of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.indicators import SLICED, ends
from tocsin.lower.alerts import links
from tocsin.lower.burns import named, place
from tocsin.plan.rules import Alert
from tocsin.units import Duration, number, percent

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo

ALERT = "SloTrafficMissing"
SHARE = Fraction(1, 100)  # of the expected traffic. Less is no lull: something before the service is broken.
HOLD = Duration.of(minutes=10)
FLEETING = frozenset(("job_id", "pod", "container"))  # what these name ends when its work is done


def vanishing(factory: Factory, slo: Slo, me: str) -> Alert | None:
    """Next to none of the expected events are counted, or, where no number is known, there are no series any more.

    Nothing where a budget is a job's, which ends with the job, and where the spec says when there is nothing.
    """
    if not FLEETING.isdisjoint(slo.by) or ends(slo.indicator):
        return None
    where = place(slo)
    unit = naming.slo_total(slo.windows.unit) + me
    # Where none came for so long there is nothing to miss: the service is another cluster's, or still planned.
    known = f"({unit} or 0 * {naming.slo_total(max(slo.windows.all))}{me})"
    summary = f"{named(slo)} sees no traffic"
    # All together: a service that is renamed is not missed.
    if slo.expected is None:
        expr = f"{known}\nunless on ({naming.by(where)}) {unit}"
        what = "No series tells of its events any more: nothing fails, but perhaps nobody is served."
        if slo.kind in SLICED:
            summary = f"Nothing tells of {named(slo)} any more"
            what = "No series is left of what it measures, so that no time counts: perhaps nothing is done."
    else:
        together = f"sum by ({naming.by(where)}) {known}" if where else f"sum {known}"
        expr = f"{known}\nand on ({naming.by(where)}) ({together} < {number(slo.expected * SHARE)})"
        what = (
            f"Less than {percent(SHARE)} of the {number(slo.expected, 4)} events per second that are expected arrive: "
            "nothing fails, but perhaps nobody is served."
        )
    return Alert(
        name=ALERT,
        expr=expr,
        hold=HOLD,
        labels={"severity": "ticket", "owner": slo.owner, "layer": slo.layer, "slo": slo.id},
        annotations={
            "summary": summary,
            "description": what,
            **links(factory, slo.owner, ALERT, where, "slos", slo.id),
        },
        origin=slo.origin,
    )

"""An availability: samples of a gauge that is 1 while something is there and 0 while it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.examples import labels_for
from tocsin.indicators import Availability, of_kind
from tocsin.lower.cast import Cast, stranger
from tocsin.lower.events import Events
from tocsin.lower.proofs import series
from tocsin.lower.ratio import KNOWN
from tocsin.units import number

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.units import Duration


class Texts(NamedTuple):
    """The texts of its cast: the selector, two series that it selects and one that it does not, and a place.

    The place are the labels of what is recorded of these series.
    """

    gauge: str
    one: str
    other: str
    stranger: str
    place: str


def form(slo: Slo) -> object:
    """How much a series that has gone is worth."""
    return of_kind(slo.indicator, Availability).pace


def cast(factory: Factory, slo: Slo) -> Cast:
    """Its selector, and series that it selects."""
    gauge = of_kind(slo.indicator, Availability).gauge
    labels = labels_for([gauge], None, slo.by, factory.labels) or {}
    recorded = {**{label: labels[label] for label in slo.by}, "slo": slo.id}
    one, other = (series(gauge.metric or "", {**labels, "example": which}, "")[0] for which in ("one", "other"))
    beside = series(*stranger(gauge, slo.by, factory.labels), "")[0]
    return Cast(slo.id, Texts(gauge.render(), one, other, beside, series("", recorded, "")[0]))


def events(slo: Slo, cast: Cast) -> Events:
    """Each sample is an event, a bad one where it is not 1.

    Where no traffic is bad, a series that has gone goes on for a while in bad samples, as many as it would have had.
    """
    gauge, by = Texts(*cast.texts).gauge, naming.by(slo.by)
    each = number(1 / of_kind(slo.indicator, Availability).pace.seconds)
    gone = f"\nor 0 * count_over_time({gauge}[{KNOWN}]) + {each}" if slo.idle == "bad" else ""

    def total(window: Duration) -> str:
        return f"sum by ({by}) (count_over_time({gauge}[{window}]) / {number(window.seconds)}{gone})"

    def errors(window: Duration) -> str:
        zeros = f"clamp_min(count_over_time({gauge}[{window}]) - sum_over_time({gauge}[{window}]), 0)"
        return f"sum by ({by}) ({zeros} / {number(window.seconds)}{gone})"

    return Events(total, errors)

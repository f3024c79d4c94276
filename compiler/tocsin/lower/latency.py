"""A latency: the events of a histogram that took too long among all of them, a ratio of its series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.examples import labels_for
from tocsin.indicators import Latency, of_kind
from tocsin.lower import native, native_proof, ratio, ratio_proof
from tocsin.lower.cast import Cast
from tocsin.lower.proofs import series

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.lower.events import Events
    from tocsin.plan.rules import RuleTest

# One Prometheus calls a bucket "1", the next release "1.0": that is no new series.
SAME = "ignoring (le) "


def form(slo: Slo) -> object:
    """A ratio's; of a native histogram the threshold, which stands in its rules and shapes its proof."""
    latency = of_kind(slo.indicator, Latency)
    return latency.below if latency.native else ratio.form(_as_ratio(slo, latency))


def cast(factory: Factory, slo: Slo) -> Cast:
    """A ratio's cast, and series that are not asked for: a larger bucket, and events of another selector."""
    latency = of_kind(slo.indicator, Latency)
    if latency.native:
        return native.cast(factory, slo)
    total, told = latency.ratio.total, latency.ratio.told
    labels = labels_for([total], None, slo.by, factory.labels) or {}
    counted, late = (series(total.metric or "", {**labels, **more}, "")[0] for more in ({}, ratio.LATE))
    larger = series(told.metric or "", {**labels, "le": "+Inf"}, "")[0]
    of_ratio = ratio.cast(factory, _as_ratio(slo, latency)).texts
    texts = ratio.Texts(*of_ratio[: ratio.OWN])._replace(rest_series=counted, late_series=late)
    return Cast(slo.id, (*texts, larger, *of_ratio[ratio.OWN :]))


def events(slo: Slo, cast: Cast) -> Events:
    """Events that are not in the bucket are bad."""
    latency = of_kind(slo.indicator, Latency)
    if latency.native:
        return native.events(slo, cast)
    return ratio.events_of(_as_ratio(slo, latency), ratio.Texts(*cast.texts[: ratio.OWN]), SAME)


def proof(slo: Slo, cast: Cast, is_here: bool) -> RuleTest:
    """What happens to a ratio's counters, with series beside them that are not theirs."""
    latency = of_kind(slo.indicator, Latency)
    if latency.native:
        return native_proof.proof(slo, cast, is_here)
    return ratio_proof.proof(_as_ratio(slo, latency), cast, is_here)


def _as_ratio(slo: Slo, latency: Latency) -> Slo:
    return slo._replace(indicator=latency.ratio)

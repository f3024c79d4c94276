"""The kinds of indicators: of each, who plays, which events are counted, and how that is proven."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.lower import composite, ratio, ratio_proof, slice_proof, slowdown, time_slice, utilisation

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.factory import Factory, Slo
    from tocsin.lower.cast import Cast
    from tocsin.lower.events import Events
    from tocsin.plan import RuleTest


class Kind(NamedTuple):
    """An indicator's `cast`, what of it shapes the texts beside the cast, its `events`, and their `proof`."""

    cast: Callable[[Factory, Slo], Cast]
    form: Callable[[Slo], object]
    events: Callable[[Slo, Cast], Events]
    proof: Callable[[Slo, Cast, bool], RuleTest]


KINDS = {
    "ratio": Kind(ratio.cast, ratio.form, ratio.events, ratio_proof.proof),
    "time_slice": Kind(time_slice.cast, time_slice.form, time_slice.events, slice_proof.of_time_slice),
    "throughput": Kind(time_slice.cast, time_slice.form, time_slice.events, slice_proof.of_time_slice),
    "slowdown": Kind(slowdown.cast, slowdown.form, slowdown.events, slice_proof.of_slowdown),
    "utilisation": Kind(utilisation.cast, utilisation.form, utilisation.events, utilisation.proof),
    "composite": Kind(composite.cast, composite.form, composite.events, composite.proof),
}

"""The kinds of indicators: of each, who plays, which events are counted, and how that is proven."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.lower import (
    availability,
    availability_proof,
    composite,
    latency,
    ratio,
    ratio_proof,
    slice_proof,
    slice_windows,
    slowdown,
    time_slice,
    utilisation,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.lower.cast import Cast
    from tocsin.lower.events import Events
    from tocsin.plan.rules import RuleTest


class Kind(NamedTuple):
    """An indicator's `cast`, what of it shapes the texts beside the cast, its `events`, and their `proof`.

    `more` is a second test, where the lengths of the windows need one. A proof that `is_calm` alerts nobody at first,
    and can share a test with that of the alerts.
    """

    cast: Callable[[Factory, Slo], Cast]
    form: Callable[[Slo], object]
    events: Callable[[Slo, Cast], Events]
    proof: Callable[[Slo, Cast, bool], RuleTest]
    more: Callable[[Slo, Cast], RuleTest | None] | None = None
    is_calm: Callable[[Slo], bool] | None = None


def _sliced(kind: ModuleType, proof: Callable[[Slo, Cast, bool], RuleTest]) -> Kind:
    """A kind that counts slices of time."""
    return Kind(kind.cast, kind.form, kind.events, proof, slice_windows.windows_proof)


KINDS = {
    "ratio": Kind(ratio.cast, ratio.form, ratio.events, ratio_proof.proof, is_calm=ratio_proof.is_calm),
    "latency": Kind(latency.cast, latency.form, latency.events, latency.proof),
    "availability": Kind(
        availability.cast,
        availability.form,
        availability.events,
        availability_proof.proof,
        availability_proof.windows_proof,
    ),
    "time_slice": _sliced(time_slice, slice_proof.of_time_slice),
    "throughput": _sliced(time_slice, slice_proof.of_time_slice),
    "slowdown": _sliced(slowdown, slice_proof.of_slowdown),
    "utilisation": _sliced(utilisation, utilisation.proof),
    "composite": _sliced(composite, composite.proof),
}

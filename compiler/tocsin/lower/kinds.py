"""The kinds of indicators: of each, who plays, which events are counted, and how that is proven."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.lower import ratio, ratio_proof

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


KINDS = {"ratio": Kind(ratio.cast, ratio.form, ratio.events, ratio_proof.proof)}

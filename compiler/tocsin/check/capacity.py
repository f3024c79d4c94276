"""The budget: how much the factory makes against how much it may."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import capacity
from tocsin.units import amount

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory

_NAMED = 3


def check_capacity(factory: Factory, document: Document, log: Log) -> None:
    """Series and samples per second keep the budget; if not, the biggest contributors are named.

    Says nothing where something else is wrong: what could not be read is not counted.
    """
    budget = document.spec.collection.budget
    if log.failed or (budget.series is None and budget.samples_per_second is None):
        return
    sizes: dict[tuple[str, str, str], capacity.Size] = defaultdict(lambda: capacity.NOTHING)
    for cluster in factory.clusters.values():
        for part in capacity.parts(factory, cluster):
            sizes[part.cluster, part.job, part.owner] += capacity.of([part])
    series = {key: size.series for key, size in sizes.items()}
    samples = {key: size.samples for key, size in sizes.items()}
    _keep("CAP101", "samples_per_second", "samples per second", samples, budget.samples_per_second, document, log)
    _keep("CAP102", "series", "series", series, budget.series, document, log)


def _keep(
    code: str,
    key: str,
    what: str,
    counts: Mapping[tuple[str, str, str], Fraction | int],
    most: Fraction | None,
    document: Document,
    log: Log,
) -> None:
    total = sum(counts.values(), Fraction())
    if most is None or total <= most:
        return
    biggest = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_NAMED]
    named = "; ".join(
        f"{amount(count)} by {job} of {cluster}, owner {owner}" for (cluster, job, owner), count in biggest
    )
    hint = f"the biggest: {named}. Lengthen an interval, collect less, or raise the budget"
    place = document.places.value("collection", "budget", key)
    log.error(code, f"{amount(total)} {what} are predicted, the budget is {amount(most)}", place, hint)

"""A type checker for PromQL: expressions against what their series are.

`check` infers, for every part of an expression, the reading and the unit of its values, between which bounds they lie,
which labels its series have, which of those tell them apart, and under which one value is repeated, and tells what
contradicts that. It does so in a `World`: that of the catalogue (`of_catalogue`) or of a factory (`of_factory`). What
it does not know it lets pass: a name without a type is any number with any labels. `parsed` and `judged` tell a log,
`check_rate` looks at a selector as an SLO takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promtypes.findings import Finding
from tocsin.promtypes.judging import check, check_rate, judged, parsed
from tocsin.promtypes.selectors import no_label
from tocsin.promtypes.vector import Vector
from tocsin.promtypes.world import World, from_tiers, is_recorded, of_catalogue, scraped

if TYPE_CHECKING:
    from tocsin.factory import Factory

__all__ = [
    "Finding",
    "Vector",
    "World",
    "check",
    "check_rate",
    "from_tiers",
    "is_recorded",
    "judged",
    "no_label",
    "of_catalogue",
    "of_factory",
    "parsed",
    "recorded_as",
]


def of_factory(factory: Factory) -> World:
    """What a factory scrapes and records, the records of the spec and its mixins included.

    Several records of one name differ in the value of a label: they are of one type.
    """
    world = scraped(factory)
    for record in factory.own_records:
        if record.name in world.series:
            continue
        vector, _ = check(record.text, record.expr, world)
        vector = vector._replace(labels=vector.labels.plus(record.labels, certain=True)) if record.labels else vector
        world = world._replace(series={**world.series, record.name: recorded_as(record.name, vector, world)})
    return world


def recorded_as(name: str, vector: Vector, world: World) -> Vector:
    """What a recorded series is, by the type of its expression; messages call it by its own name."""
    metric = vector.quantity.metric
    quantity = vector.quantity._replace(metric=metric._replace(name=name) if metric else None)
    return vector._replace(
        quantity=quantity,
        window=0,
        interval=world.interval,
        doubled=(),
        standing=(),
        filled=False,
        pinned=False,
        job="",
    )

"""Which series belong to a node group: by cluster, and by host where a cluster has several groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import pattern
from tocsin.promql import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Cluster, Factory, NodeGroup


def groups(factory: Factory) -> Iterator[tuple[Cluster, NodeGroup]]:
    """Every node group with its cluster."""
    for cluster in factory.clusters.values():
        for group in cluster.groups:
            yield cluster, group


def matchers(cluster: Cluster, group: NodeGroup) -> str:
    """The matchers of a group, as they stand inside a selector's braces."""
    place = f"cluster={quote(cluster.name)}"
    if len(cluster.groups) == 1:
        return place
    return f"{place}, node=~{quote(one_of(group.hosts))}"


def one_of(names: tuple[str, ...]) -> str:
    """An expression that matches the names and nothing else, their common beginning written once."""
    if len(names) == 1:
        return pattern.literal(names[0])
    shortest = min(names, key=len)
    length = next((i for i, char in enumerate(shortest) if any(name[i] != char for name in names)), len(shortest))
    rest = "|".join(pattern.literal(name[length:]) for name in names)
    return f"{pattern.literal(names[0][:length])}({rest})"

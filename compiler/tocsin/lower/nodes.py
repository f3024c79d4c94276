"""Which series belong to a node group: by cluster, and by host where a cluster has several groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import pattern
from tocsin.lower.proofs import STRANGER
from tocsin.promql import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, NodeGroup


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


def examples(groups: Iterable[tuple[Cluster, NodeGroup]]) -> list[dict[str, str]]:
    """The labels of one real node of each group."""
    return [{"cluster": cluster.name, "node": group.hosts[0]} for cluster, group in groups]


def strangers(groups: Iterable[tuple[Cluster, NodeGroup]]) -> list[dict[str, str]]:
    """The labels of nodes that a single matcher keeps out of a group: for each of its matchers one."""
    found = []
    for cluster, group in groups:
        found.append({"cluster": STRANGER, "node": group.hosts[0]})
        found += [{"cluster": cluster.name, "node": STRANGER}] if len(cluster.groups) > 1 else []
    return distinct(found)


def distinct(places: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Each of some places once: no series may be given twice."""
    return list({tuple(place.items()): place for place in places}.values())


def one_of(names: tuple[str, ...]) -> str:
    """An expression that matches the names and nothing else, their common beginning written once."""
    if len(names) == 1:
        return pattern.literal(names[0])
    shortest = min(names, key=len)
    length = next((i for i, char in enumerate(shortest) if any(name[i] != char for name in names)), len(shortest))
    rest = "|".join(pattern.literal(name[length:]) for name in names)
    return f"{pattern.literal(names[0][:length])}({rest})"

"""Storms: a cluster has as many nodes as the spec says that make one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import units

if TYPE_CHECKING:
    from fractions import Fraction

    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory

_LIMIT = "storm_nodes"


def check_storms(factory: Factory, document: Document, log: Log) -> None:
    """A limit that no cluster can reach has no effect; the usual one may be beyond a small factory."""
    if _LIMIT not in document.spec.limits or _LIMIT not in factory.limits:
        return
    if document.is_broken("clusters") or _is_refused(document.spec.limits[_LIMIT], factory.limits[_LIMIT]):
        return
    most = max(factory.clusters.values(), key=lambda cluster: cluster.nodes)
    if most.nodes < factory.limits[_LIMIT]:
        what = f"no cluster has so many nodes that `{_LIMIT}` could be reached"
        hint = f"'{most.name}' has {most.nodes}: lower it, or leave it out"
        log.error("LIM104", what, document.places.value("limits", _LIMIT), hint)


def _is_refused(text: str, held: Fraction) -> bool:
    """Whether what the spec says was no lawful limit: then the usual one holds."""
    try:
        return units.parse_amount(text) != held
    except ValueError:
        return True

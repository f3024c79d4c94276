"""Versions: known ones, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import versions
from tocsin.factory.servers import Targets

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path, Places
    from tocsin.versions import Version


def resolve_targets(document: Document, log: Log) -> Targets:
    """The target versions; a release outside the verified range is told."""
    written = document.spec.targets
    found: dict[str, Version] = {}
    for product in versions.KNOWN:
        found[product] = versions.parse(getattr(written, product))
        if not versions.is_known(product, found[product]):
            first, last = (versions.show(v) for v in versions.KNOWN[product])
            place = document.places.value("targets", product)
            what = f"{product} {versions.show(found[product])} is not a release that this version was verified with"
            log.error("TGT102", what, place, f"name one from {first} to {last}")
    return Targets(**found, long_term=written.long_term or "")


def require(feature: str, targets: Targets, what: str, places: Places, path: Path, log: Log) -> None:
    """Tell that a target lacks a feature, and which release could."""
    product, since = versions.SINCE[feature]
    have = getattr(targets, product)
    if not versions.has(feature, have):
        message = f"{what} needs {product} {versions.show(since)}; the target is {versions.show(have)}"
        hint = f'write `{product}: "{versions.show(since)}"` or later, or do without'
        log.error("TGT103", message, places.key(*path), hint)

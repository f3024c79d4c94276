"""Exporters: where each of a cluster's listens, and how often it is asked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.catalog import EXPORTERS, MONITORS, exporter_kinds, metrics_of
from tocsin.diagnostics import Related
from tocsin.factory.clusters import Exporter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tocsin.catalog.kinds import ExporterKind, Metric
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory.clusters import Cluster
    from tocsin.spec.exporters import Exporters

    Names = Callable[[Path, tuple[str, ...], Log], tuple[str, ...]]


def scraped_jobs(document: Document) -> tuple[str, ...]:
    """The jobs of all exporters that some cluster has."""
    written = [cluster.exporters for cluster in document.spec.clusters.values()]
    kinds = exporter_kinds().values()
    return tuple(kind.job for kind in kinds if any(getattr(section, kind.id) is not None for section in written))


def resolve_exporters(
    path: Path, written: Exporters, names: Names, document: Document, log: Log
) -> tuple[Exporter, ...]:
    """The exporters of a cluster in the order of the catalogue; `names` expands a range of hosts."""
    found = []
    for kind in exporter_kinds().values():
        section = getattr(written, kind.id)
        if section is None:
            continue
        at = getattr(section, "at", ())
        exporter = Exporter(
            kind=kind,
            flavour=getattr(section, "flavour", ""),
            port=getattr(section, "port", 0),
            addresses=(at,) if isinstance(at, str) else tuple(at),
            hosts=names((*path, kind.id, "hosts"), section.hosts, log) if kind.stands == "proxy" else (),
            interval=max(kind.least, document.spec.collection.intervals.default),
            origin=document.places.key(*path, kind.id),
        )
        _check_addresses(path, exporter, document, log)
        found.append(exporter)
    return tuple(found)


def _check_addresses(path: Path, exporter: Exporter, document: Document, log: Log) -> None:
    for index, address in enumerate(exporter.addresses):
        if exporter.addresses.index(address) != index:
            place = document.places.value(*path, exporter.kind.id, "at", index)
            log.error("CLU102", f"'{address}' is listed twice", place, "remove one")


def check_flavours(clusters: Mapping[str, Cluster], log: Log) -> None:
    """One program a purpose: two of them share names of metrics that mean different things."""
    first: dict[str, tuple[str, Exporter]] = {}
    for cluster in clusters.values():
        for exporter in cluster.exporters:
            name, before = first.setdefault(exporter.kind.id, (cluster.name, exporter))
            if before.flavour != exporter.flavour:
                what = f"{exporter.kind.id} is {before.flavour} in '{name}' and {exporter.flavour} in '{cluster.name}'"
                there = [Related(before.origin, "the other one")]
                log.error("CLU120", what, exporter.origin, "choose one of them for all clusters", there)


def shown(clusters: Mapping[str, Cluster], *, everything: bool) -> dict[str, Metric]:
    """The catalogue's metrics that the exporters of some cluster show, by name.

    `everything` is for a spec that could not be read whole: what it may have is no further mistake.
    """
    kinds = exporter_kinds()
    usual = ((kind.id, kind.flavours[0] if kind.flavours else "") for kind in kinds.values())
    scraped = {(e.kind.id, e.flavour) for cluster in clusters.values() for e in cluster.exporters}
    scraped |= {one for one in usual if everything or one[0] in EXPORTERS}
    ordered = sorted(scraped, key=lambda one: list(kinds).index(one[0]))
    ordered += [(monitor, "") for monitor in MONITORS]
    return {metric.name: metric for kind, flavour in ordered for metric in metrics_of(kind, flavour)}


def who_shows(series: str) -> tuple[ExporterKind, str] | None:
    """The exporter of the catalogue, with its flavour, that shows a series. It reads every file: for messages only."""
    names = {series, re.sub("_(?:bucket|count|sum)$", "", series)}
    for kind in exporter_kinds().values():
        for flavour in kind.flavours or ("",):
            if any(metric.name in names for metric in metrics_of(kind.id, flavour)):
                return kind, flavour
    return None


def how_to_scrape(kind: ExporterKind, flavour: str) -> str:
    """What to write for an exporter that no cluster has."""
    settings = [f"flavour: {flavour}"] if flavour else []
    match kind.stands:
        case "node":
            settings.append(f"port: {kind.example}")
        case "proxy":
            settings.append(f'at: "{kind.example}", hosts: "bmc-[01-64]"')
        case _:
            settings.append(f'at: ["{kind.example}"]')
    return f"add `{kind.id}: {{{', '.join(settings)}}}` to `clusters.<name>.exporters`"

"""The servers of the clusters, and what the spec says of series that tocsin does not know."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin import capacity
from tocsin.catalog import entity_kinds
from tocsin.diagnostics import near
from tocsin.factory.servers import Servers
from tocsin.resolve.exporters import scraped_jobs

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document

_PATH = ("collection", "servers")
_LEVELS = ("edge", "regional", "global")
_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}:[1-9][0-9]{0,4}")


def resolve_servers(document: Document, log: Log) -> Servers:
    """The settings of the servers; what cannot be meant together is told."""
    written, places = document.spec.collection.servers, document.places
    if written.shards is not None and written.max_series is not None:
        hint = "keep `max_series`: the number of shards follows from it"
        log.error("SRV101", "the number of shards is said twice", places.key(*_PATH, "shards"), hint)
    levels = tuple(written.federation)
    if levels and (levels[0] != "edge" or list(levels) != [one for one in _LEVELS if one in levels] or len(levels) < 2):
        what = f"the levels of a federation lead from the edge upwards, not {', '.join(levels)}"
        hint = "write `[edge, regional, global]`, `[edge, regional]` or `[edge, global]`"
        log.error("SRV102", what, places.value(*_PATH, "federation"), hint)
    parts = ("{server}", "{cluster}")
    sample = written.address.replace(parts[0], "a").replace(parts[1], "b")
    is_alone = len(document.spec.clusters) == 1 and not levels and written.replicas == 1
    is_alone = is_alone and written.shards is None and written.max_series is None
    told_apart = is_alone or all(part in written.address for part in parts)
    if not told_apart or not _ADDRESS.fullmatch(sample):
        what = f"'{written.address}' does not tell the servers apart, or is no address"
        hint = "write host and port with both names in it: `prometheus-{server}.{cluster}:9090`"
        log.error("SRV103", what, places.value(*_PATH, "address"), hint)
    return Servers(
        shards=1 if written.shards is None and written.max_series is None else written.shards,
        max_series=written.max_series,
        replicas=written.replicas,
        levels=levels[1:],
        address=written.address,
        origin=places.key(*_PATH),
    )


def resolve_other_series(document: Document, log: Log) -> dict[str, int]:
    """The series of a target of each job beside the known ones; a job that is nowhere is told."""
    jobs = {*scraped_jobs(document), *(job for cluster in document.spec.clusters.values() for job in cluster.jobs)}
    for name in document.spec.collection.other_series:
        if name not in jobs and not document.is_broken("clusters"):
            close = near(name, jobs)
            hint = f"did you mean '{close}'?" if close else f"choose from {', '.join(sorted(jobs))}"
            place = document.places.key("collection", "other_series", name)
            log.error("CAP103", f"no job is called '{name}'", place, hint)
    written = {name: int(count) for name, count in document.spec.collection.other_series.items()}
    return {**capacity.OTHER_SERIES, **written}


def resolve_entities(document: Document, log: Log) -> dict[str, int]:
    """How many of each kind one target shows; a kind that nothing is counted by is told, and one that is listed."""
    kinds = entity_kinds()
    for name in document.spec.collection.entities:
        if name in kinds and not kinds[name].fixed:
            continue
        known = sorted(id_ for id_, kind in kinds.items() if not kind.fixed)
        what, hint = f"no series are counted by '{name}'", f"choose from {', '.join(known)}"
        if name in kinds:
            what, hint = f"how many `{name}` there are is said by the node groups", "remove it here"
        elif close := near(name, known):
            hint = f"did you mean '{close}'?"
        log.error("CAP104", what, document.places.key("collection", "entities", name), hint)
    return {name: int(count) for name, count in document.spec.collection.entities.items()}

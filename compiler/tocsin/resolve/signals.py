"""Signals: what is collected, from the catalogue and from the spec's own definitions, each with its one owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.catalog import Metric, metrics, signal_kinds
from tocsin.diagnostics import Related, near
from tocsin.factory import Signal
from tocsin.resolve.owners import known_owner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Label, Owner
    from tocsin.source import Span
    from tocsin.spec.signals import SignalDefinition


def resolve_signals(
    document: Document,
    owners: dict[str, Owner],
    layers: dict[str, str],
    labels: dict[str, Label],
    deep: dict[str, Span],
    log: Log,
) -> dict[str, Signal]:
    """The signals by id: the catalogue's base, what the spec makes mandatory or deep, what it defines."""
    written, places = document.spec.signals, document.places
    kinds = signal_kinds()
    found: dict[str, Signal] = {}
    mandatory = _mandatory(document, [*kinds, *written.define], log)
    for id_, kind in kinds.items():
        if kind.base or id_ in mandatory or id_ in deep:
            carriers = tuple(metric for metric in metrics().values() if metric.signal == id_)
            origin = mandatory.get(id_) or deep.get(id_) or places.key("signals")
            owner = layers.get(kind.layer, "")
            found[id_] = Signal(id_, kind.layer, owner, kind.meaning, carriers, id_ in mandatory, kind.label, origin)
    taken = {metric.name: "the catalogue" for metric in metrics().values()}
    for id_, definition in written.define.items():
        if id_ in kinds:
            what = f"the catalogue has a signal called '{id_}' already"
            log.error("SIG102", what, places.key("signals", "define", id_), "choose another name for your own")
            continue
        _check_definition(document, id_, definition, owners, labels, log)
        owner = definition.owner or layers.get(definition.layer, "")
        origin = places.key("signals", "define", id_)
        found[id_] = _defined(id_, definition, owner, id_ in mandatory, origin)
        _claim(document, id_, definition.metric, taken, log)
    return dict(sorted(found.items()))


def _mandatory(document: Document, known: Iterable[str], log: Log) -> dict[str, Span]:
    """Where each mandatory signal is named; one that resolves to nothing is told."""
    mandatory: dict[str, Span] = {}
    known = set(known)
    for index, id_ in enumerate(document.spec.signals.mandatory):
        place = document.places.value("signals", "mandatory", index)
        if id_ in mandatory:
            there = Related(mandatory[id_], "first named here")
            log.error("SIG107", f"the signal '{id_}' is named twice", place, "remove one", [there])
        elif id_ in known or document.is_broken("signals", "define", id_):
            mandatory[id_] = place
        else:
            close = near(id_, known)
            lawful = f"define it under `signals.define`, or choose from {', '.join(signal_kinds())}"
            hint = f"did you mean '{close}'?" if close else lawful
            log.error("SIG101", f"no signal is called '{id_}'", place, hint)
    return mandatory


def _check_definition(
    document: Document,
    id_: str,
    definition: SignalDefinition,
    owners: dict[str, Owner],
    labels: dict[str, Label],
    log: Log,
) -> None:
    path = ("signals", "define", id_)
    places = document.places
    jobs = {job for cluster in document.spec.clusters.values() for job in cluster.jobs}
    if document.spec.clusters and definition.job not in jobs and not document.is_broken("clusters"):
        close = near(definition.job, jobs)
        hint = f"did you mean '{close}'?" if close else "jobs are defined under `clusters.<name>.jobs`"
        log.error("SIG105", f"no cluster has a job called '{definition.job}'", places.value(*path, "job"), hint)
    for index, label in enumerate(definition.labels):
        if label not in labels and not document.is_broken("labels", label):
            close = near(label, labels)
            hint = f"did you mean `{close}`?" if close else "declare it under `labels`"
            log.error("LBL102", f"the schema has no label `{label}`", places.value(*path, "labels", index), hint)
    if definition.owner:
        known_owner(document, owners, definition.owner, (*path, "owner"), log)


def _defined(id_: str, definition: SignalDefinition, owner: str, mandatory: bool, origin: Span) -> Signal:
    metric = Metric(
        name=definition.metric,
        signal=id_,
        exporter=definition.job,
        type=definition.type,
        reading="total" if definition.type == "counter" else "level",
        unit=definition.unit,
        entity="target",
        help=f"{id_} in {definition.unit}",
        labels=tuple(definition.labels),
        sensitivity=definition.sensitivity,
    )
    return Signal(id_, definition.layer, owner, metric.help, (metric,), mandatory, "", origin)


def _claim(document: Document, id_: str, metric: str, taken: dict[str, str], log: Log) -> None:
    """A series name means one signal."""
    place = document.places.value("signals", "define", id_, "metric")
    if metric in taken:
        what = f"the metric {metric} belongs to {taken[metric]} already"
        log.error("SIG103", what, place, "a series name means one signal: use that one")
    reserved = next((p for p in ("slo:", "gpu:", "job:", "node:", "port:", "tocsin:") if metric.startswith(p)), "")
    if reserved:
        what = f"metrics that begin with {reserved} are recorded by tocsin itself"
        log.error("SIG104", what, place, "choose another name at the exporter")
    taken.setdefault(metric, f"the signal '{id_}'")

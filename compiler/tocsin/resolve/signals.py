"""Signals: what is collected, from the catalogue and from the spec's own definitions, each with its one owner."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tocsin import versions
from tocsin.catalog import DEEP_JOB, EXPORTERS, PORT_ERRORS, carriers, exporter_kinds, signal_kinds
from tocsin.catalog.kinds import Metric
from tocsin.diagnostics import Related, near
from tocsin.factory.signals import Signal
from tocsin.resolve.exporters import how_to_scrape, scraped_jobs, shown
from tocsin.resolve.owners import known_owner
from tocsin.spec.slos import selected
from tocsin.units import number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from fractions import Fraction

    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.owners import Owner
    from tocsin.factory.servers import Targets
    from tocsin.factory.signals import Label
    from tocsin.source import Span
    from tocsin.spec.signals import SignalDefinition


_NAME = re.compile(r"\s*([a-zA-Z_:][a-zA-Z0-9_:]*)")
_WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_RECORDED = ("slo:", "gpu:", "job:", "node:", "port:", "cluster:", "tocsin:")
_PART = re.compile(r"_(?:bucket|count|sum)$")


class Known(NamedTuple):
    """What is resolved already when the signals are."""

    owners: dict[str, Owner]
    layers: dict[str, str]
    labels: dict[str, Label]
    clusters: dict[str, Cluster]
    targets: Targets
    deep: dict[str, Span]


def resolve_signals(document: Document, known: Known, log: Log) -> dict[str, Signal]:
    """The signals by id: the catalogue's that are wanted, and what the spec defines."""
    series = shown(known.clusters, everything=document.is_broken("clusters"))
    mandatory = _named(document, "mandatory", {}, log)
    found = _of_catalogue(document, series, mandatory, known, log)
    kinds, places, native = signal_kinds(), document.places, _native(document)
    taken = {metric.name: "the catalogue" for metric in series.values()}
    for id_, definition in document.spec.signals.define.items():
        if id_ in kinds and not kinds[id_].mapped:
            what = f"the catalogue has a signal called '{id_}' already"
            log.error("SIG102", what, places.key("signals", "define", id_), "choose another name for your own")
            continue
        _check_definition(document, id_, definition, known, log)
        owner = definition.owner or known.layers.get(definition.layer, "")
        origin = places.key("signals", "define", id_)
        found[id_] = _defined(id_, definition, owner, id_ in mandatory, definition.metric in native, origin)
        _claim(document, id_, definition.metric, taken, log)
    return dict(sorted(found.items()))


def _of_catalogue(
    document: Document, series: dict[str, Metric], mandatory: dict[str, Span], known: Known, log: Log
) -> dict[str, Signal]:
    """The catalogue's signals that are always collected, that the spec names, and that an SLO is about."""
    by_signal: dict[str, list[Metric]] = {}
    for metric in series.values():
        by_signal.setdefault(metric.signal, []).append(metric)
    collected = _named(document, "collect", mandatory, log)
    if any(group.fabric == "roce" for cluster in known.clusters.values() for group in cluster.groups):
        for some in (mandatory, collected):  # whose ports count their errors by other names
            if PORT_ERRORS["infiniband"] in some:
                some.setdefault(PORT_ERRORS["roce"], some[PORT_ERRORS["infiniband"]])
    named = {**_promised(document, series), **known.deep, **collected, **mandatory}
    found = {}
    for id_, kind in signal_kinds().items():
        metrics, is_own = by_signal.get(id_, []), kind.mapped and id_ in document.spec.signals.define
        if id_ in known.deep:
            metrics = [metric._replace(exporter=DEEP_JOB) for metric in metrics]
        if (kind.base and metrics) or (id_ in named and not is_own):
            owner = document.spec.alerting.fallback if kind.monitoring else known.layers.get(kind.layer, "")
            origin = named.get(id_) or document.places.key("signals")
            signal = Signal(id_, kind.layer, owner, kind.meaning, tuple(metrics), id_ in mandatory, kind.label, origin)
            found[id_] = signal
            if id_ in named:
                _check_carriers(signal, document, known.targets, log)
    return found


def _promised(document: Document, series: dict[str, Metric]) -> dict[str, Span]:
    """The signals of the catalogue that objectives, rules and dashboards read, and where, be they sound or not."""
    found: dict[str, Span] = {}
    kinds = signal_kinds()
    for id_, slo in document.spec.slos.items():
        for kind, key, text in selected(slo):
            name = _NAME.match(text)
            metric = series.get(name[1]) or series.get(_PART.sub("", name[1])) if name else None
            signal = metric.signal if metric else text
            if signal in kinds and signal not in found:
                found[signal] = document.places.value("slos", id_, kind, key)
    for rules in ("alerts", "records"):
        for key, rule in getattr(document.spec, rules).items():
            _read(rule.expr, document.places.value(rules, key, "expr"), series, found)
    for section, file, text in _brought(document):
        _read(text, document.places.value(section, file, "path"), series, found)
    return found


def _brought(document: Document) -> Iterator[tuple[str, str, str]]:
    """Every expression of mixins and dashboards, with the section and the name by which the spec brings it."""
    for mixin, written in document.mixins.items():
        left_out = document.spec.mixins[mixin].without
        rules = (rule for group in written.groups for rule in group.rules)
        yield from (("mixins", mixin, rule.expr) for rule in rules if rule.name not in left_out)
    if not (document.mixins or document.dashboards):
        return
    from tocsin.dashboard import queries  # a spec without dashboards of its own does without

    for section, page, model in document.pages:
        yield from ((section, page, query) for query in queries(model))


def _read(expr: str, place: Span, series: dict[str, Metric], found: dict[str, Span]) -> None:
    """Add the signals of the catalogue that an expression reads."""
    for word in _WORD.findall(expr):
        if (metric := series.get(word) or series.get(_PART.sub("", word))) and metric.signal not in found:
            found[metric.signal] = place


def _named(document: Document, section: str, before: dict[str, Span], log: Log) -> dict[str, Span]:
    """Where each signal of a list is named; one that resolves to nothing is told, and one that is named twice."""
    found: dict[str, Span] = {}
    known = {*signal_kinds(), *document.spec.signals.define}
    for index, id_ in enumerate(getattr(document.spec.signals, section)):
        place = document.places.value("signals", section, index)
        first = found.get(id_) or before.get(id_)
        if first:
            there = Related(first, "first named here")
            log.error("SIG107", f"the signal '{id_}' is named twice", place, "remove one", [there])
        elif id_ in known or document.is_broken("signals", "define", id_):
            found[id_] = place
        else:
            tell_unknown(id_, known, place, log)
    return found


def tell_unknown(id_: str, known: Collection[str], place: Span, log: Log) -> None:
    """A name that no signal has: a slip of the hand, or what is still to be defined."""
    close = near(id_, known)
    hint = f"did you mean '{close}'?"
    if not close or not _is_slip(id_, close):
        usual = ", ".join([kind.id for kind in signal_kinds().values() if kind.mandatory][:2])
        form = f"`{id_}: {{metric: ..., type: counter, unit: ..., layer: application, job: ...}}`"
        hint = f"define it under `signals.define`, as {form}, or choose from the catalogue, such as {usual}"
    if id_ in signal_kinds():
        hint = "name it under `signals.collect`, since nothing collects it"
    log.error("SIG101", f"no signal is called '{id_}'", place, hint)


def _is_slip(id_: str, close: str) -> bool:
    """Whether each word is meant as one of the other name: `train_steps` is no slip for `train_loss`."""
    words = close.split("_")
    return id_.replace("_", "") == "".join(words) or all(near(word, words) for word in id_.split("_"))


def _check_carriers(signal: Signal, document: Document, targets: Targets, log: Log) -> None:
    """A signal that the spec names is shown by something that is scraped, in the release that runs."""
    if not signal.metrics and not signal.label:
        _tell_unseen(signal, document, log)
    newest = max((versions.parse(metric.since) for metric in signal.metrics if metric.since), default=())
    if newest > targets.dcgm_exporter:
        have, need = versions.show(targets.dcgm_exporter), versions.show(newest)
        what = f"the signal '{signal.id}' needs dcgm_exporter {need}; the target is {have}"
        log.error("SIG121", what, signal.origin, f'write `dcgm_exporter: "{need}"` or later, or do without')
    if signal.mandatory and signal.metrics and all(metric.sparse for metric in signal.metrics):
        what = f"the signal '{signal.id}' has no series until something happens: that it is missing would not show"
        log.error("SIG122", what, signal.origin, "name it under `signals.collect` instead")


def _tell_unseen(signal: Signal, document: Document, log: Log) -> None:
    if signal_kinds()[signal.id].mapped:
        if not document.is_broken("signals", "define", signal.id):
            what = f"no exporter is known to show the signal '{signal.id}'"
            hint = f"say which metric it is: `signals.define.{signal.id}: {{metric: ..., layer: {signal.layer}, ...}}`"
            log.error("SIG120", what, signal.origin, hint)
        return
    if not document.spec.clusters or document.is_broken("clusters"):
        return
    names = carriers()[signal.id]
    kind, _, flavour = names[0].partition(" ")
    what = f"the signal '{signal.id}' is shown by {' or '.join(names)}, which no cluster scrapes"
    log.error("SIG120", what, signal.origin, how_to_scrape(exporter_kinds()[kind], flavour))


def _check_definition(document: Document, id_: str, definition: SignalDefinition, known: Known, log: Log) -> None:
    path = ("signals", "define", id_)
    places, labels = document.places, known.labels
    jobs = {job for cluster in document.spec.clusters.values() for job in cluster.jobs}
    jobs |= {*scraped_jobs(document), *EXPORTERS}
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
        known_owner(document, known.owners, definition.owner, (*path, "owner"), log)
    if definition.buckets is not None:
        _check_buckets(definition.buckets, definition.type, (*path, "buckets"), document, log)


def _check_buckets(buckets: list[Fraction], type_: str, path: Path, document: Document, log: Log) -> None:
    if type_ != "histogram":
        what = f"a {type_} has no buckets"
        log.error("SIG130", what, document.places.key(*path), "leave `buckets` out, or write `type: histogram`")
        return
    for index, (before, bound) in enumerate(pairwise(buckets), 1):
        if bound <= before:
            what = f"the bound {number(bound)} does not lie above {number(before)}"
            log.error("SIG130", what, document.places.value(*path, index), "write the bounds as they rise, each once")


def _native(document: Document) -> set[str]:
    """The histograms that some SLO looks at as native ones."""
    latencies = (slo.latency for slo in document.spec.slos.values())
    names = (_NAME.match(latency.histogram) for latency in latencies if latency is not None and latency.native)
    return {name[1] for name in names if name}


def _defined(id_: str, definition: SignalDefinition, owner: str, mandatory: bool, native: bool, origin: Span) -> Signal:
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
        buckets=tuple(definition.buckets or ()),
        native=native and definition.type == "histogram",
    )
    return Signal(id_, definition.layer, owner, metric.help, (metric,), mandatory, "", origin)


def _claim(document: Document, id_: str, metric: str, taken: dict[str, str], log: Log) -> None:
    """A series name means one signal."""
    place = document.places.value("signals", "define", id_, "metric")
    if metric in taken:
        what = f"the metric {metric} belongs to {taken[metric]} already"
        log.error("SIG103", what, place, "a series name means one signal: use that one")
    reserved = next((prefix for prefix in _RECORDED if metric.startswith(prefix)), "")
    if reserved:
        what = f"metrics that begin with {reserved} are recorded by tocsin itself"
        log.error("SIG104", what, place, "choose another name at the exporter")
    taken.setdefault(metric, f"the signal '{id_}'")

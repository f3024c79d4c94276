"""Limits of alerts: the spec's, then what is usual; and the XIDs whose tier the spec says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import units
from tocsin.catalog import carriers, limit_kinds, metrics_of, signal_kinds, xid_classes
from tocsin.catalog.kinds import XidClass
from tocsin.diagnostics import Related, near

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from tocsin.catalog.kinds import LimitKind
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory.signals import Signal
    from tocsin.source import Span

_READ: dict[str, Callable[[str], Fraction]] = {
    "share": units.parse_percent,
    "duration": lambda text: units.Duration.parse(text).seconds,
    "number": units.parse_amount,
}
_WRITTEN = {"share": "a share, as in 95%", "duration": "a duration, as in 2h", "number": "a number, as in 40"}
_MOST = 999  # of an XID: NVIDIA's list ends below


def resolve_limits(document: Document, signals: dict[str, Signal], log: Log) -> dict[str, Fraction]:
    """The limits of what is collected; those without a usual value only where the spec says one."""
    kinds = limit_kinds()
    found = {kind.id: _READ[kind.kind](kind.usual) for kind in kinds.values() if kind.usual and kind.signal in signals}
    for id_, text in document.spec.limits.items():
        if id_ not in kinds:
            close = near(id_, kinds)
            hint = f"did you mean '{close}'?" if close else f"choose from {', '.join(kinds)}"
            log.error("LIM101", f"no limit is called '{id_}'", document.places.key("limits", id_), hint)
            continue
        value = _read(kinds[id_], text, document.places.value("limits", id_), log)
        if value is not None and _is_measured(kinds[id_], document, signals, log):
            found[id_] = value
    return dict(sorted(found.items()))


def _read(kind: LimitKind, text: str, place: Span, log: Log) -> Fraction | None:
    read = _READ[kind.kind]
    try:
        value = read(text)
    except ValueError:
        log.error("LIM102", f"'{text}' is not {_WRITTEN[kind.kind]}", place, f"`{kind.id}` means {kind.meaning}")
        return None
    if read(kind.least) <= value <= read(kind.most):
        return value
    what = f"`{kind.id}` is {text}, it must lie between {kind.least} and {kind.most}"
    log.error("LIM102", what, place, f"it means {kind.meaning}")
    return None


def _is_measured(kind: LimitKind, document: Document, signals: dict[str, Signal], log: Log) -> bool:
    metrics = signals[kind.signal].metrics if kind.signal in signals else ()
    is_shown = any(kind.metric in ("", metric.name) for metric in metrics)
    if is_shown and kind.beside in ("", *signals):
        return True
    if not document.is_broken("signals") and not document.is_broken("clusters"):
        signal = kind.beside if is_shown else kind.signal
        lacking = kind.metric if kind.metric and not is_shown else f"the signal '{signal}'"
        what = f"nothing shows {lacking}, so that `{kind.id}` has no effect"
        hint = _how_to_measure(signal, kind.metric)
        log.error("LIM103", what, document.places.key("limits", kind.id), hint)
    return False


def _how_to_measure(signal: str, metric: str) -> str:
    if signal_kinds()[signal].mapped:
        return f"say which metric it is, under `signals.define.{signal}`"
    shown = [name for name in carriers()[signal] if not metric or metric in _names(name)]
    return f"collect '{signal}' where {' or '.join(shown)} is scraped"


def _names(carrier: str) -> set[str]:
    exporter, _, flavour = carrier.partition(" ")
    return {metric.name for metric in metrics_of(exporter, flavour)}


def resolve_xid(document: Document, log: Log) -> tuple[XidClass, ...]:
    """The classes of the catalogue, those codes moved out of them whose tier the spec says."""
    tiers = _tiers(document, log)
    classes: list[XidClass] = []
    known = {code for class_ in xid_classes() for code in class_.codes}
    others = tuple(sorted(tiers.keys() - known))
    unknown = XidClass("unclassified", "", "silicon", others, "look it up in NVIDIA's list of XID errors")
    for class_ in (*xid_classes(), unknown):
        stay = tuple(code for code in class_.codes if tiers.get(code, class_.severity) == class_.severity)
        classes += [class_._replace(codes=stay)] if stay else []
        for severity, ending in (("page", "paged"), ("ticket", "ticketed")):
            moved = tuple(code for code in class_.codes if code not in stay and tiers[code] == severity)
            classes += (
                [class_._replace(name=f"{class_.name}_{ending}", severity=severity, codes=moved)] if moved else []
            )
    return tuple(classes)


def _tiers(document: Document, log: Log) -> dict[int, str]:
    """The tier of each code that the spec names; one that is named twice is told."""
    found: dict[int, str] = {}
    places: dict[int, Span] = {}
    for tier in ("page", "ticket"):
        for index, code in enumerate(getattr(document.spec.xid, tier)):
            place = document.places.value("xid", tier, index)
            if not 0 < code <= _MOST:
                log.error("XID102", f"{code} is not an XID", place, f"XIDs lie between 1 and {_MOST}")
            elif code in found:
                where = f"in two tiers, {found[code]} and {tier}" if found[code] != tier else f"twice in {tier}"
                there = Related(places[code], "first named here")
                log.error("XID101", f"XID {code} stands {where}", place, "remove one of them", [there])
            else:
                found[code], places[code] = tier, place
    return found

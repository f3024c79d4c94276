"""The label schema at ingest: what breaks it is marked, and kept apart or dropped, before anything can rely on it.

The label `violates` names what is wrong. A series with a wrong place, a board's or a node's, would be taken for another
one's: it is renamed to `quarantined_series`, or dropped. So is one of an application, which without the label would
fall together with its siblings. A board's fault must be seen, however wrong the job is that its series names: there the
bad label is taken off, and the series stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import pattern
from tocsin.catalog import DEEP_JOB
from tocsin.ingest import ORIGINAL, QUARANTINED, VIOLATES, beside_nodes, labels_of
from tocsin.plan.servers import Relabel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.factory.signals import Label

_BAD = "__tmp_bad"  # the label that is looked at, while its value is not known to be good
_PLACE = ("node", "gpu_uuid")  # what tells one piece of hardware from another
HARDWARE = ("dcgm", DEEP_JOB, "node")  # the jobs whose series stay without a label that is wrong
# Every one of these series is a board's: without its board it could be anybody's.
_BOARDS = "DCGM_FI_.*"
# But for those of a node's switches, CPUs and daemons, which have none.
_NO_BOARDS = "DCGM_FI_(?:DEV_NVSWITCH|DEV_CPU|IMEX)_.*"
_BOARDLESS = ("nvswitch", "nvswitch_link", "cpu", "host")
_ANY, _SOME = "(?s:.*)", "(?s:.+)"  # line breaks too, which a dot matches by itself from Prometheus 3.0 on only


def enforced(factory: Factory, job: str) -> tuple[Relabel, ...]:
    """The relabelling of a job that enforces the schema on all labels that its metrics can have."""
    own, of_pods = {"node"} - ({"node"} if job in beside_nodes() else set()), factory.of_pods
    known = own.union(*(labels_of(one, of_pods) for one in factory.metrics.values() if one.exporter == job))
    # The cluster is written by us, and no exporter can change it.
    rules = [rule for rule in factory.labels.values() if rule.name in known - {"cluster"}]
    place = [rule for name in _PLACE for rule in rules if rule.name == name]
    others = [rule for rule in rules if rule not in place and (rule.values is not None or rule.pattern)]
    apart, stripped = (place, others) if job in HARDWARE else ([*place, *others], [])
    boardless = any(metric.entity in _BOARDLESS for metric in factory.metrics.values() if metric.exporter == job)
    steps = [step for rule in apart for step in _marked(rule, needed="node" in own, boardless=boardless)]
    for rule in stripped:
        steps += [
            *_marked(rule, needed=False, boardless=False),
            Relabel(source=(_BAD,), regex=rule.name, target=rule.name, replacement=""),
        ]
    if not apart:
        return ()
    named = "|".join(rule.name for rule in apart)
    return (
        Relabel("labeldrop", regex=f"{VIOLATES}|{_BAD}"),  # an exporter's own must not pass for ours
        *steps,
        *(_kept_apart(named) if factory.on_violation == "quarantine" else _dropped(named)),
        Relabel("labeldrop", regex=_BAD),
    )


def _marked(rule: Label, *, needed: bool, boardless: bool) -> Iterator[Relabel]:
    """Suspect every value, absolve the good ones, and mark what is left. RE2 cannot say "all but these".

    Where the node is `needed`, a series without it is suspected as well. `boardless` is whether some series of
    dcgm-exporter are no board's.
    """
    if rule.name == "node" and needed:
        yield Relabel(source=(rule.name,), regex=_ANY, target=_BAD, replacement=rule.name)
    elif rule.name == "gpu_uuid":
        suspects = f"{_BOARDS};{_ANY}|.*;{_SOME}"
        yield Relabel(source=("__name__", rule.name), regex=suspects, target=_BAD, replacement=rule.name)
        if boardless:
            yield Relabel(source=("__name__", rule.name), regex=f"{_NO_BOARDS};", target=_BAD, replacement="")
    else:
        yield Relabel(source=(rule.name,), regex=_SOME, target=_BAD, replacement=rule.name)
    yield Relabel(source=(_BAD, rule.name), regex=f"{rule.name};(?:{_domain(rule)})", target=_BAD, replacement="")
    yield Relabel(source=(VIOLATES, _BAD), regex=f";({rule.name})", target=VIOLATES)


def _domain(rule: Label) -> str:
    if rule.values is not None:
        return "|".join(pattern.literal(value) for value in rule.values)
    return rule.pattern or ".+"


def _kept_apart(named: str) -> tuple[Relabel, ...]:
    return (
        Relabel(source=(VIOLATES, "__name__"), regex=f"(?:{named});(.+)", target=ORIGINAL),
        Relabel(source=(VIOLATES,), regex=named, target="__name__", replacement=QUARANTINED),
    )


def _dropped(named: str) -> tuple[Relabel, ...]:
    return (Relabel("drop", source=(VIOLATES,), regex=named),)

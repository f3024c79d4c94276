"""The alerts that there are, as they come to Alertmanager: what their own proofs say that they carry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.plan.notifications import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.plan.rules import RuleFile
    from tocsin.plan.servers import Server
    from tocsin.source import Span


def samples(rules: Sequence[RuleFile], servers: Sequence[Server]) -> tuple[Sample, ...]:
    """One alert of each name, owner, severity, layer and set of labels, in the order of the rules.

    A proof lists all labels that its alert has when it fires; the server that evaluates the rule adds its own external
    ones. Where servers differ in the names of those, only what all of them add is there for certain.
    """
    found: dict[tuple[object, ...], Sample] = {}
    seen: set[int] = set()
    for file in rules:
        if id(file.groups) in seen:
            continue  # files of the same groups have alerts of the same kinds
        seen.add(id(file.groups))
        added = _added(file, servers)
        for name, fired, origin in _fired(file):
            labels = {"alertname": name, **added, **fired}
            kind = tuple(labels.get(label) for label in ("alertname", "owner", "severity", "layer"))
            found.setdefault((*kind, *sorted(labels)), Sample(labels, origin))
    return tuple(found.values())


def _added(file: RuleFile, servers: Sequence[Server]) -> dict[str, str]:
    """The external labels that alerts of a file carry, whichever server raises them."""
    labels = [
        {name: value for name, value in server.external_labels if name not in server.silent_labels}
        for server in servers
        if file.path in server.rule_files and server.alertmanagers
    ]
    return {name: value for name, value in labels[0].items() if all(name in one for one in labels)} if labels else {}


def _fired(file: RuleFile) -> list[tuple[str, dict[str, str], Span]]:
    return [
        (
            expected.alert,
            {name: file.filled(value) for name, value in firing.labels.items()},
            file.origin or test.origin,
        )
        for group in file.groups
        for test in group.tests
        for expected in test.expectations
        for firing in expected.firing
    ]

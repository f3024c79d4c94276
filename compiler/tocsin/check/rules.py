"""Alerts and records of the spec: their expressions mean what they seem to, and their texts say what is there."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from tocsin import capacity
from tocsin.diagnostics import near
from tocsin.promql import PromqlError, parse_selector

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Factory
    from tocsin.factory.rules import OwnAlert, OwnRecord
    from tocsin.promtypes import Vector
    from tocsin.source import Span

_LABEL = re.compile(r"\$labels\.(\w+)")
_ACTION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
# What the generated tests can render: see `render` of the proofs.
_PLAIN = re.compile(
    r"\{\{ (?:(?:\$labels\.\w+|\$value)(?: \| (?:urlquery|humanize(?:Percentage)?))?|if \$labels\.\w+|end) \}\}"
)
_OWN = ("severity", "owner", "layer", "signal")  # put on the alert by its rule, behind the expression


def check_rules(factory: Factory, document: Document, log: Log) -> None:
    """Every rule of the spec."""
    if not (factory.records or factory.alerts) or document.is_broken("clusters"):
        return
    from tocsin.promtypes import judged, of_factory  # a spec without rules of its own does without

    world = of_factory(factory)
    rules: list[tuple[str, OwnRecord | OwnAlert]] = [("records", one) for one in factory.records.values()]
    rules += [("alerts", one) for one in factory.alerts.values()]
    for section, rule in rules:
        path = (section, rule.name, "expr")
        vector = judged(rule.text, rule.expr, world, log, partial(_place, document, path))
        check_reach(factory, document.places.value(*path), rule, vector, log)
        if section == "alerts":
            alert = factory.alerts[rule.name]
            for key in ("summary", "description"):
                _check_text(alert, key, vector, document, log)
            _check_tests(alert, document, log)


def _place(document: Document, path: Path, start: int, end: int) -> Span:
    return document.places.inside(path, start, end)


def check_reach(factory: Factory, place: Span, rule: OwnAlert | OwnRecord, vector: Vector, log: Log) -> None:
    """On shards, what is scraped on the nodes is seen by one shard each: a rule about all of them sees a part."""
    if not rule.on_nodes or all((capacity.shards(factory, one) or 1) < 2 for one in factory.clusters.values()):
        return
    if vector.labels.can_be("node") and not rule.elsewhere:
        return
    what = "no single server sees all of this: each shard scrapes some of the nodes, and evaluates this for them only"
    hint = "record it by node first, as node:metric:operation, and ask the server above for that"
    log.error("PQL218", what, place, hint)


def _check_text(alert: OwnAlert, key: str, vector: Vector, document: Document, log: Log) -> None:
    """A text shows labels that are there."""
    text: str = getattr(alert, key)
    path: Path = ("alerts", alert.name, key)
    for found in _LABEL.finditer(text):
        label = found[1]
        if vector.labels.can_be(label):
            continue
        place = document.places.inside(path, found.start(), found.end())
        close = near(label, sorted(vector.labels.known))
        hint = f"did you mean `{close}`?" if close else f"it has {', '.join(sorted(vector.labels.known)) or 'none'}"
        if label in _OWN:
            hint = "a text sees the labels of the expression only, not those of the rule"
        log.error("ALR103", f"the expression's result has no label `{label}`: nothing would stand there", place, hint)
    for action in _ACTION.finditer(text) if alert.tests else ():
        if not _PLAIN.fullmatch(action[0]):
            place = document.places.inside(path, action.start(), action.end())
            pipes = "urlquery, humanize or humanizePercentage"
            hint = f"write {{{{ $labels.x }}}} or {{{{ $value }}}}, with {pipes} at most, or no `tests`"
            log.error("ALR104", "the tests cannot tell what this becomes", place, hint)


def _check_tests(alert: OwnAlert, document: Document, log: Log) -> None:
    """The series of a test are series."""
    for index, test in enumerate(alert.tests):
        for series, _ in test.series:
            fault = ""
            try:
                selector = parse_selector(series)
                if selector.metric is None or any(matcher.op != "=" for matcher in selector.matchers):
                    fault = "a series has a name, and one value for each of its labels"
            except PromqlError as error:
                fault = error.message
            if fault:
                place = document.places.key("alerts", alert.name, "tests", index, "series", series)
                log.error("ALR104", fault, place, "write it as metric{label=\"value\"}: '1 2 3'")

"""What of a rule file has to do with one rule: what reads it, what those read, and the tests of that."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tocsin.plan.rules import Alert, RuleFile, RuleTest
from tocsin.promql import metric_names, parse, selectors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.plan.rules import Reading

ANY = ""  # the name of whatever a selector without one reads


class Wanted(NamedTuple):
    """The rules whose results tests are to look at, and all that are evaluated for that."""

    told: frozenset[str]
    needed: frozenset[str]


def sliced(file: RuleFile, name: str) -> RuleFile:
    """The file with those rules, tests, expectations and series only that can tell what a rule of this name says."""
    reads = {rule.name: frozenset[str]() for group in file.groups for rule in group.rules}
    for group in file.groups:
        for rule in group.rules:
            reads[rule.name] |= _names(rule.expr)
    alerts = {rule.name for group in file.groups for rule in group.rules if isinstance(rule, Alert)}
    told = _closed({name}, {one: {other for other, read in reads.items() if one in read} for one in reads})
    readings = [one for group in file.groups for test in group.tests for one in test.readings]
    shown = {read for one in readings if _tells(one, told, alerts) for read in (*_names(one.expr), *_alerts(one))}
    wanted = Wanted(frozenset(told), frozenset(reads if ANY in shown else _closed(told | shown, reads)))
    groups = [
        group._replace(rules=tuple(rule for rule in group.rules if rule.name in wanted.needed), tests=())
        for group in file.groups
    ]
    first, *others = (group for group in groups if group.rules)
    tests = (_of(test, wanted, alerts, reads) for group in file.groups for test in group.tests)
    return file._replace(groups=(first._replace(tests=tuple(test for test in tests if test)), *others))


def _of(test: RuleTest, wanted: Wanted, alerts: set[str], reads: dict[str, frozenset[str]]) -> RuleTest | None:
    expectations = tuple(one for one in test.expectations if one.alert in wanted.told)
    readings = tuple(one for one in test.readings if _tells(one, wanted.told, alerts))
    if not expectations and not readings:
        return None
    read = {name for one in wanted.needed for name in reads.get(one, ())}
    read |= {name for one in readings for name in _names(one.expr)}
    series = (one for one in test.series if ANY in read or one[0].partition("{")[0] in read)
    return test._replace(expectations=expectations, readings=readings, series=tuple(series))


def _closed(names: Iterable[str], following: dict[str, Iterable[str]] | dict[str, frozenset[str]]) -> set[str]:
    """The names and all that follow from them."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += following.get(name, ())
    return found


def _tells(reading: Reading, told: Iterable[str], alerts: set[str]) -> bool:
    names = _names(reading.expr) | (_alerts(reading) or alerts if "ALERTS" in reading.expr else set())
    return ANY in names or not names.isdisjoint(told)


def _alerts(reading: Reading) -> set[str]:
    """The alerts that a reading names."""
    return set(re.findall(r'alertname="(\w+)"', reading.expr))


@cache
def _names(expr: str) -> frozenset[str]:
    tree = parse(expr)
    nameless = any(one.metric is None and not metric_names(one) for one in selectors(tree))
    return frozenset((*metric_names(tree), *([ANY] if nameless else [])))

"""Alerts on a level: each with a place at which it fires, and others like it at which it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.lower.proofs import fires, series, shared, silent
from tocsin.plan.rules import RuleGroup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.plan.rules import Alert, Expectation

Input = tuple[str, "Mapping[str, str]", str]


class Case(NamedTuple):
    """An alert, and a world in which it is silent at the minute `before` and fires `at` another at `place`, only there.

    `inputs` are metrics with their labels and their values, one a minute; `value` is that of the expression. Where it
    fires at several places, the others are `also`.
    """

    alert: Alert
    before: int
    at: int
    place: Mapping[str, str]
    inputs: Sequence[Input]
    value: float = 0
    after: int | None = None
    also: Sequence[Mapping[str, str]] = ()


def group(name: str, story: str, cases: Sequence[Case]) -> RuleGroup | None:
    """The alerts of some cases and one world that proves them all; None where there is no case."""
    if not cases:
        return None
    inputs: dict[tuple[str, str], None] = {}
    expected: list[Expectation] = []
    for case in cases:
        inputs.update({series(*one): None for one in case.inputs})
        places = (case.place, *case.also)
        expected += [silent(case.alert, case.before), fires(case.alert, case.at, *places, value=case.value)]
        expected += [silent(case.alert, case.after)] if case.after is not None else []
    alerts = tuple(case.alert for case in cases)
    return RuleGroup(name, alerts, (shared(name, story, alerts[0].origin, tuple(inputs), *expected),))

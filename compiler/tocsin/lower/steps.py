"""What to do first about each alert that tocsin makes itself; of those that are brought their teams say it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tocsin.catalog import first_steps
from tocsin.plan.rules import Alert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.factory import Factory
    from tocsin.plan.rules import RuleFile


def steps(factory: Factory, rules: Sequence[RuleFile]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The steps beside the name of the alert, in the order of names."""
    brought = {rule.name for mixin in factory.mixins.values() for group in mixin.groups for rule in group.rules}
    named = {rule.name for file in rules for group in file.groups for rule in group.rules if isinstance(rule, Alert)}
    return tuple((name, _of(name)) for name in sorted(named - brought - factory.alerts.keys()))


def _of(name: str) -> tuple[str, ...]:
    return next((row.steps for row in first_steps() if any(fnmatchcase(name, one) for one in row.alerts)), ())

"""Rule groups and dashboards of a mixin: values without a type in, records out. What is of another form is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Protocol

from tocsin.document import WrittenGroup, WrittenRule
from tocsin.units import NO_TIME, Duration

if TYPE_CHECKING:
    from collections.abc import Iterator


class Tell(Protocol):
    """Tells what is wrong and how to mend it, at the name of what it is about."""

    def __call__(self, message: str, hint: str, name: str = "") -> None:
        """Tell it."""


_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,199}")
_LABEL = re.compile(r"(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,99}")
_OF_RULE = {"expr", "for", "keep_firing_for", "labels", "annotations"}
_FORM = "rule groups have the form that Prometheus reads: {groups: [{name: …, rules: [{alert: …, expr: …}]}]}"


def groups_of(value: Any, part: str, tell: Tell) -> Iterator[WrittenGroup]:
    """The groups of `prometheusAlerts` or `prometheusRules`; None is a mixin that has none."""
    if value is None:
        return
    groups = value.get("groups") if isinstance(value, dict) else None
    if not isinstance(groups, list):
        tell(f"{part} has no list of `groups`", _FORM)
        return
    for number, group in enumerate(groups, 1):
        if (
            not isinstance(group, dict)
            or not isinstance(group.get("name"), str)
            or not isinstance(group.get("rules"), list)
        ):
            tell(f"group {number} of {part} has no `name`, or no list of `rules`", _FORM)
            continue
        name = group["name"]
        for key in sorted(group.keys() - {"name", "rules", "interval"}):
            tell(f"the group '{name}' has `{key}`, which is not understood", "leave it out of the mixin", name)
        interval = _duration(group, "interval", f"the group '{name}'", tell)
        rules = (_rule(rule, f"rule {at} of the group '{name}'", tell) for at, rule in enumerate(group["rules"], 1))
        yield WrittenGroup(name, interval or None, tuple(rule for rule in rules if rule is not None))


def dashboards_of(value: Any, tell: Tell) -> dict[str, dict[str, Any]]:
    """The dashboards by the names of their files."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        tell("grafanaDashboards is not an object", "it has one dashboard a file name: {'nodes.json': {…}}")
        return {}
    for name in sorted(value):
        if not isinstance(value[name], dict):
            tell(f"the dashboard '{name}' is not an object", "a dashboard has a title and panels", name)
    from tocsin.dashboard import unwrapped  # a spec without dashboards of its own does without

    return {name: unwrapped(model) for name, model in sorted(value.items()) if isinstance(model, dict)}


def _rule(rule: Any, where: str, tell: Tell) -> WrittenRule | None:
    kinds = [kind for kind in ("alert", "record") if isinstance(rule, dict) and kind in rule]
    if len(kinds) != 1:
        tell(f"{where} is neither an alert nor a record", _FORM)
        return None
    kind = kinds[0]
    name, expr = rule[kind], rule.get("expr")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        tell(f"{where} has no name that Prometheus takes", "a name has letters, digits, `_` and `:`, no digit first")
        return None
    if not isinstance(expr, str) or not expr.strip():
        tell(f"{name} has no `expr`", f"{where} needs an expression", name)
        return None
    allowed = _OF_RULE if kind == "alert" else {"expr", "labels"}
    for key in sorted(rule.keys() - allowed - {kind}):
        tell(f"{name} has `{key}`, which no {kind} has", f"{where} may have {', '.join(sorted(allowed))}", name)
    return WrittenRule(
        kind,
        name,
        expr,
        _duration(rule, "for", name, tell),
        _duration(rule, "keep_firing_for", name, tell),
        _texts(rule, "labels", name, tell),
        _texts(rule, "annotations", name, tell),
    )


def _duration(values: dict[str, Any], key: str, where: str, tell: Tell) -> Duration:
    value = values.get(key, "0s")
    try:
        return Duration.parse(value)
    except (ValueError, TypeError):
        tell(f"`{key}` of {where} is not a duration", "Prometheus reads 30s, 15m, 1h30m", where)
        return NO_TIME


def _texts(rule: dict[str, Any], key: str, name: str, tell: Tell) -> dict[str, str]:
    found = rule.get(key, {})
    texts = isinstance(found, dict) and all(isinstance(value, str) for value in found.values())
    if not texts or not all(map(_LABEL.fullmatch, found)):
        tell(f"`{key}` of {name} are not texts by name", "a name has letters, digits and `_`, a value is text", name)
        return {}
    return dict(sorted(found.items()))

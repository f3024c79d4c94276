"""Rules of mixins: in files of their mixin, their groups whole, with the labels and links that every alert has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.factory.rules import OwnRecord
from tocsin.lower.own_rules import is_per_node, own_alert
from tocsin.plan.rules import Alert, Record, RuleFile, RuleGroup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.factory.rules import Mixin
    from tocsin.promtypes import World

_NODES = "-nodes"  # ends the name of a file that holds node by node


def mixins(factory: Factory) -> Iterator[RuleFile]:
    """Of each mixin a file of what holds node by node, and one of what looks further.

    A group whose rules are of both kinds is cut in two; each half keeps its order.
    """
    if not factory.mixins:
        return
    from tocsin.promtypes import of_factory  # a spec without rules of its own does without

    world = of_factory(factory)
    per_node: dict[str, bool] = {}
    for record in factory.own_records:
        per_node[record.name] = is_per_node(record, per_node, world)
    for mixin in factory.mixins.values():
        for on_nodes in (True, False):
            groups = tuple(_groups(factory, mixin, world, per_node, on_nodes=on_nodes))
            if groups:
                yield RuleFile(_file(mixin, on_nodes), groups, per_node=on_nodes)


def _groups(
    factory: Factory, mixin: Mixin, world: World, per_node: dict[str, bool], *, on_nodes: bool
) -> Iterator[RuleGroup]:
    """The groups of one of the two files; names that a mixin gives twice are told apart by a number."""
    times: dict[str, int] = {}
    for group in mixin.groups:
        rules: list[Record | Alert] = []
        for rule in group.rules:
            if is_per_node(rule, per_node, world) is not on_nodes:
                continue
            if isinstance(rule, OwnRecord):
                rules.append(Record(rule.name, rule.text.strip(), rule.labels, rule.origin))
            else:
                rules.append(own_alert(factory, rule, world))
        if rules:
            times[group.name] = times.get(group.name, 0) + 1
            again = "" if times[group.name] == 1 else f" ({times[group.name]})"
            yield RuleGroup(f"{_file(mixin, on_nodes)}: {group.name}{again}", tuple(rules), (), group.interval)


def _file(mixin: Mixin, on_nodes: bool) -> str:
    return f"mixin-{mixin.name}{_NODES if on_nodes else ''}"

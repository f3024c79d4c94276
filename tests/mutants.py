"""Small mistakes put into generated rules, one at a time: whoever proves the rules should notice every one of them."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from rule_files import rule_files
from rule_slice import sliced
from tocsin.lower.own_rules import own_rules
from tocsin.plan.rules import Alert, RuleFile
from tocsin.promql import (
    Aggregation,
    Binary,
    Expr,
    Grouping,
    Number,
    Paren,
    PromqlError,
    Range,
    Subquery,
    metric_names,
    parse,
    selectors,
    walk,
)
from tocsin.units import NO_TIME, Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.pipeline import Compiled
    from tocsin.plan import Plan
    from tocsin.plan.rules import Record

COMPARISONS = {">": "<", "<": ">", ">=": "<", "<=": ">", "==": "!=", "!=": "=="}
SETS = {"and": "unless", "unless": "and"}


class Mutant(NamedTuple):
    """A file with a mistake in one rule, and what the mistake is.

    The file has nothing but what has to do with the rule. `kind` is its group, or the indicator of an SLO.
    """

    file: RuleFile
    kind: str
    rule: str
    story: str


class Edit(NamedTuple):
    """Other text for the characters [start, end) of an expression."""

    start: int
    end: int
    text: str
    story: str


def mutants(compiled: Compiled) -> Iterator[Mutant]:
    """Every mutant of every rule that an alert depends on, in the order of the rules; of SLOs of every rule.

    Rules of the spec's own are left out: their tests are not generated. Of files that differ in their blanks only, one
    stands for all.
    """
    own = {file.name for file in own_rules(compiled.factory)}
    for file in judged(compiled.plan):
        if file.name not in own:
            yield from _of_file(file, compiled.factory)


def judged(plan: Plan) -> list[RuleFile]:
    """The rule files of a plan as they are written, one of each form."""
    forms = {id(plain.groups): file for plain, file in zip(plan.rules, rule_files(plan), strict=True)}
    return list(forms.values())


def _of_file(file: RuleFile, factory: Factory) -> Iterator[Mutant]:
    for name in told(file):
        part = sliced(file, name)
        for at, group in enumerate(part.groups):
            slo = factory.slos.get(file.name.removeprefix("slo-"))
            kind = f"slo {slo.kind}" if slo else group.name
            for index, rule in enumerate(group.rules):
                for changed, story in _of_rule(rule) if rule.name == name else ():
                    rules = (*group.rules[:index], changed, *group.rules[index + 1 :])
                    groups = (*part.groups[:at], group._replace(rules=rules), *part.groups[at + 1 :])
                    yield Mutant(part._replace(groups=groups), kind, name, story)


def told(file: RuleFile) -> list[str]:
    """The alerts of a file and all records that they are made of; all records of SLOs, which dashboards show."""
    rules = [rule for group in file.groups for rule in group.rules]
    names: set[str] = {rule.name for rule in rules if rule.name.startswith("slo:")}
    for rule in reversed(rules):
        if isinstance(rule, Alert) or rule.name in names:
            names |= {rule.name, *metric_names(parse(rule.expr))}
    return list(dict.fromkeys(rule.name for rule in rules if rule.name in names))


def _of_rule(rule: Record | Alert) -> Iterator[tuple[Record | Alert, str]]:
    tree = parse(rule.expr)
    edits = [[edit] for node in walk(tree) for edit in _of_node(node, rule.expr)]
    for edit in (*edits, *_matchers(tree)):
        expr = rule.expr
        for one in sorted(edit, key=lambda one: one.start, reverse=True):
            expr = expr[: one.start] + one.text + expr[one.end :]
        try:
            parse(expr)
        except PromqlError:
            continue
        yield rule._replace(expr=expr), edit[0].story
    yield from _labelled(rule)
    if isinstance(rule, Alert) and rule.hold:
        yield rule._replace(hold=NO_TIME), f"`for: {rule.hold}` removed"
        yield rule._replace(hold=Duration(2 * rule.hold)), f"`for: {rule.hold}` doubled"


def _labelled(rule: Record | Alert) -> Iterator[tuple[Record | Alert, str]]:
    carried = {matcher.label for one in selectors(parse(rule.expr)) for matcher in one.matchers if matcher.op == "="}
    for name in rule.labels:
        if name == "slo" and name in carried:
            continue  # its expression's series have this label already
        others = {label: value for label, value in rule.labels.items() if label != name}
        yield rule._replace(labels=others), f"without the label {name}"
        yield rule._replace(labels={**others, name: "another"}), f"another {name}"


def _of_node(node: Expr, text: str) -> Iterator[Edit]:
    match node:
        case Binary(op=op) if op in COMPARISONS:
            yield Edit(node.op_start, node.op_end, COMPARISONS[op], f"`{op}` is `{COMPARISONS[op]}`")
            yield from _limits(node, text)
        case Binary(op="/"):
            left, right = text[node.left.start : node.left.end], text[node.right.start : node.right.end]
            yield Edit(node.left.start, node.right.end, f"{right} / {left}", "numerator and denominator swapped")
        case Binary(op=op) if op in SETS:
            yield Edit(node.op_start, node.op_end, SETS[op], f"`{op}` is `{SETS[op]}`")
            yield _without(node, text)
        case Binary(op="or"):
            yield _without(node, text)
        case Aggregation(grouping=Grouping(labels=labels, without=False)) if labels:
            first = labels[0]
            end = labels[1].start if len(labels) > 1 else first.end
            yield Edit(first.start, end, "", f"not by {first.name}")
        case Range() | Subquery():
            window = Duration(node.duration.milliseconds)
            for other, how in ((Duration(window // 2), "halved"), (Duration(2 * window), "doubled")):
                yield Edit(node.duration.start, node.duration.end, str(other), f"[{window}] {how}")


def _limits(node: Binary, text: str) -> Iterator[Edit]:
    for side in (node.left, node.right):
        inner = side
        while isinstance(inner, Paren):
            inner = inner.expr
        if isinstance(inner, Number) and inner.value and isfinite(inner.value):
            for factor in (0.5, 2):
                was = text[inner.start : inner.end]
                yield Edit(inner.start, inner.end, f"{inner.value * factor:.12g}", f"{was} times {factor:g}")


def _without(node: Binary, text: str) -> Edit:
    dropped = " ".join(text[node.op_start : node.end].split())
    return Edit(node.left.end, node.end, "", f"without `{dropped if len(dropped) < 60 else dropped[:57] + '...'}`")


def _matchers(tree: Expr) -> Iterator[list[Edit]]:
    """Each matcher dropped from all selectors that have it: the others of a join would make up for one alone."""
    places = [selector for selector in selectors(tree) if selector.matchers]
    for dropped in dict.fromkeys(matcher.render() for place in places for matcher in place.matchers):
        edits = []
        for place in places:
            rest = [matcher.render() for matcher in place.matchers if matcher.render() != dropped]
            if len(rest) < len(place.matchers):
                end = place.matchers[-1].end + 1
                braces = f"{{{', '.join(rest)}}}" if rest else ""
                edits.append(Edit(place.start, end, (place.metric or "") + braces, f"without {dropped}"))
        yield edits

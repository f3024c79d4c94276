"""Which series of two sides meet: none where one lacks a label, too many where one has it and it is not asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promql import Aggregation, Binary, Number, Paren
from tocsin.promtypes.labels import implied
from tocsin.promtypes.quantity import ANY, Quantity
from tocsin.promtypes.selectors import no_label

if TYPE_CHECKING:
    from tocsin.promql import Expr, Label
    from tocsin.promtypes.checker import Checker
    from tocsin.promtypes.labels import Labels
    from tocsin.promtypes.vector import Vector


def joined(checker: Checker, node: Binary, left: Vector, right: Vector) -> Vector:
    """The series of an arithmetic operation or a comparison of two vectors; the numbers are left's."""
    meets = _check_meeting(checker, node, left.labels, right.labels) and _check_jobs(checker, node, left, right)
    group = node.matching.group if node.matching else None
    if meets:
        _check_unique(checker, node, left, right, group)
    many, one = (right, left) if group == "right" else (left, right)
    include = [label.name for label in node.matching.include] if node.matching else []
    for label in node.matching.include if node.matching else ():
        if not one.labels.can_be(label.name):
            what = f"the {'left' if group == 'right' else 'right'} side"
            message, place, hint = no_label(label.name, one.labels, what, (label.start, label.end))
            checker.tell("PQL103" if "is called" in message else "PQL208", message, place, hint)
    labels, key = many.labels, many.key
    if group is None and node.matching:
        names = [label.name for label in node.matching.labels]
        labels = labels.only(names) if node.matching.on else labels.without(names)
        key = frozenset(names) if node.matching.on else key
    labels = labels.plus(include)
    return many._replace(quantity=left.quantity, labels=labels, key=key)


def _check_meeting(checker: Checker, node: Binary, left: Labels, right: Labels) -> bool:
    """Whether series of the two sides can have the same values of the labels that are compared."""
    if node.matching and node.matching.on:
        sound = [_check_on(checker, node, label, left, right) for label in node.matching.labels]
        return all(sound)
    ignored = {label.name for label in node.matching.labels} if node.matching else set()
    for mine, other, side in ((left, right, "left"), (right, left, "right")):
        lost = sorted(label for label in mine.certain - ignored if not other.can_be(label))
        if lost:
            both = sorted(mine.known & other.known - {"job", "instance"}) if mine.known & other.known else []
            named = f"`{lost[0]}`" if len(lost) == 1 else f"`{lost[0]}` and {len(lost) - 1} more"
            what = f"`{node.op}` meets nothing: every series of the {side} side has {named}, and none of the other does"
            many = "" if node.op in ("and", "unless", "or") else f" group_{side} ()"
            hint = f"write {node.op} on ({', '.join(both)}){many}" if both else "compare with scalar(…), or match on ()"
            checker.tell("PQL210", what, (node.op_start, node.op_end), hint)
            return False
    return True


def _check_jobs(checker: Checker, node: Binary, left: Vector, right: Vector) -> bool:
    """Whether series of two jobs can meet: not where `job` is compared, as it is where nothing else is said."""
    named = {label.name for label in node.matching.labels} if node.matching else set()
    compared = "job" in named if node.matching and node.matching.on else "job" not in named
    both = "job" in left.labels.certain & right.labels.certain
    if not (compared and both and left.job and right.job) or left.job == right.job:
        return True
    shared = sorted((left.labels.certain & right.labels.certain) - {"job", "instance"})
    what = f"`{node.op}` meets nothing: the left side is of the job {left.job}, the right one of {right.job}"
    checker.tell("PQL210", what, (node.op_start, node.op_end), f"write {node.op} on ({', '.join(shared)})")
    return False


def _check_on(checker: Checker, node: Binary, label: Label, left: Labels, right: Labels) -> bool:
    place = (label.start, label.end)
    here, there = left.can_be(label.name), right.can_be(label.name)
    if here and there:
        return True
    side = "left" if there else "right"
    lacking, other = (left, right) if there else (right, left)
    message, place, hint = no_label(label.name, lacking, f"the {side} side", place)
    if "is called" in message or not (here or there):
        checker.tell("PQL103", message, place, hint)
        return False
    if label.name in other.certain:
        what = f"`{node.op}` meets nothing: the {side} side has no label `{label.name}`"
        checker.tell("PQL210", what, place, "keep the label in the aggregation there, or leave it out here")
        return False
    return True


def _check_unique(checker: Checker, node: Binary, left: Vector, right: Vector, group: str | None) -> None:
    """One series at the most on the side that is not the many's."""
    for vector, expr, side in ((left, node.left, "left"), (right, node.right, "right")):
        if group == side or vector.key is None:
            continue
        rest = sorted(_unmatched(node, vector.key))
        if not rest:
            continue
        asked = checker.source(expr)
        names = [label.name for label in node.matching.labels] if node.matching and node.matching.on else []
        what = (
            f"`{node.op}` fails as soon as two series of the {side} side differ in `{rest[0]}` only: "
            "Prometheus evaluates none of the rule then"
        )
        hint = f"make it one a group: max by ({', '.join(names)}) ({asked})" if names else "match on more labels"
        if names and node.matching and node.matching.include:
            on = ", ".join(names)
            hint = f"take groups of one only: ({asked} and on ({on}) (count by ({on}) ({asked}) == 1))"
        if group is None and names:
            hint += f", or write group_{side} () where many are meant"
        checker.tell("PQL209", what, expr, hint)
        return


def _unmatched(node: Binary, key: frozenset[str]) -> frozenset[str]:
    """The labels that tell series apart and are not compared; each server has one cluster."""
    if node.matching is None:
        return frozenset()
    names = frozenset(label.name for label in node.matching.labels)
    return (key - implied(names) if node.matching.on else key & names) - {"cluster"}


def united(checker: Checker, node: Binary, left: Vector, right: Vector) -> Vector:
    """The type of `and`, `or` and `unless`: whose right side only says which series there are."""
    if node.op == "or":
        return _either(left, right)
    if _check_meeting(checker, node, left.labels, right.labels) and _check_jobs(checker, node, left, right):
        _check_place(checker, node, left.labels, right.labels)
    result = left._replace(standing=(), filled=False)
    if node.op == "and" and (one := _only_one(node.right)) is not None and node.matching and node.matching.on:
        names = frozenset(label.name for label in node.matching.labels)
        if one <= names:
            result = result._replace(key=one, copies=frozenset())
    return result


def _check_place(checker: Checker, node: Binary, left: Labels, right: Labels) -> None:
    """Two sides that say where they are meet there, and not wherever anything is."""
    shared = sorted(left.certain & right.certain & {"node", "gpu_uuid"})
    if node.matching and node.matching.on and not node.matching.labels and shared:
        what = f"`{node.op}` on nothing: one series of the right side, of any {shared[-1]}, decides for all of the left"
        place = (node.matching.start, node.matching.end)
        checker.tell("PQL210", what, place, f"write on ({', '.join(shared)})")


def _only_one(expr: Expr) -> frozenset[str] | None:
    """The labels K of `count by (K) (…) == 1`, which leaves groups of a single series."""
    while isinstance(expr, Paren):
        expr = expr.expr
    if not isinstance(expr, Binary) or expr.op != "==" or not isinstance(expr.right, Number) or expr.right.value != 1:
        return None
    counted = expr.left
    while isinstance(counted, Paren):
        counted = counted.expr
    if isinstance(counted, Aggregation) and counted.op == "count" and counted.grouping and not counted.grouping.without:
        return frozenset(label.name for label in counted.grouping.labels)
    return None


def _either(left: Vector, right: Vector) -> Vector:
    labels = left.labels.either(right.labels)
    key = None if left.key is None or right.key is None else left.key | right.key
    return left._replace(
        quantity=_one_of(left.quantity, right.quantity),
        labels=labels,
        key=key,
        copies=left.copies | right.copies,
        filled=left.filled or right.filled,
        doubled=(*left.doubled, *right.doubled),
        standing=(*left.standing, *right.standing),
        sum_of=left.sum_of or right.sum_of,
    )


def _one_of(left: Quantity, right: Quantity) -> Quantity:
    """What holds of both."""
    low = None if left.low is None or right.low is None else min(left.low, right.low)
    high = None if left.high is None or right.high is None else max(left.high, right.high)
    constant = right.constant is not None or right.reading == "number"
    base = left if left[:4] == right[:4] or constant else ANY
    same = left.metric == right.metric or constant
    return base._replace(low=low, high=high, metric=base.metric if same else None, whole=left.whole or right.whole)

"""Example labels for selectors: what a series must look like to be selected, or to be just not selected."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, islice, product
from typing import TYPE_CHECKING

from tocsin import pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from tocsin.factory.signals import Label
    from tocsin.promql import Matcher, Selector

Test = tuple[str, str]  # what a matcher asks of a value: its operator and its text

_USUAL = ("200", "example", "4711", "0", "other")
_MOST = 10_000  # a search, not a proof: it finds what people write, and it ends


def labels_for(
    all_of: Sequence[Selector], not_of: Selector | None, by: Iterable[str], schema: Mapping[str, Label]
) -> dict[str, str] | None:
    """Labels of a series that every selector of `all_of` selects and `not_of` does not, with all labels of `by`.

    None where no such series was found: the selectors contradict each other, or `not_of` selects all that they do.
    """
    wanted: dict[str, list[Matcher]] = {label: [] for label in by}
    for selector in all_of:
        for matcher in selector.matchers:
            wanted.setdefault(matcher.label, []).append(matcher)
    values: dict[str, str] = {}
    for label, matchers in sorted(wanted.items()):
        value = value_for(matchers, schema.get(label))
        if value is None:
            return None
        values[label] = value
    if not_of is None:
        return values
    for matcher in not_of.matchers:
        other = value_for(wanted.get(matcher.label, []), schema.get(matcher.label), matcher)
        if other is not None:
            return {**values, matcher.label: other}
    return None


def labels_beside(
    one: Selector, other: Selector, by: Collection[str], schema: Mapping[str, Label]
) -> dict[str, str] | None:
    """Labels of a series that one selector selects and the other does not, in a group of which the other selects some.

    A group has one value of each label of `by`. None where no such series was found.
    """
    of_group = tuple(matcher for matcher in other.matchers if matcher.label in by)
    beside = tuple(matcher for matcher in other.matchers if matcher.label not in by)
    return labels_for([one, other._replace(matchers=of_group)], other._replace(matchers=beside), by, schema)


def labels_of_each(
    selectors: Sequence[Selector], by: Sequence[str], schema: Mapping[str, Label]
) -> list[dict[str, str]] | None:
    """Labels of a series of each selector, all with the same values of the labels of `by`; None where none were found.

    Of other labels each has its own: who says that a job runs is not the job.
    """
    matchers = [matcher for selector in selectors for matcher in selector.matchers]
    shared = {label: value_for([m for m in matchers if m.label == label], schema.get(label)) for label in by}
    each = [labels_for([selector], None, by, schema) for selector in selectors]
    values = {label: value for label, value in shared.items() if value is not None}
    found = [{**labels, **values} for labels in each if labels is not None]
    return found if len(found) == len(selectors) and len(values) == len(shared) else None


def value_for(wanted: Sequence[Matcher], label: Label | None, refused: Matcher | None = None) -> str | None:
    """A value that the schema allows and every matcher takes but the refused one; None where none was found."""
    if refused is None and wanted and (label is None or label.pattern is label.values is None):
        first = wanted[0]
        if first.op == "=" and first.value and all(one.op == "=" and one.value == first.value for one in wanted):
            return first.value  # so it is nearly always
    tests = tuple((matcher.op, matcher.value) for matcher in wanted)
    other = (refused.op, refused.value) if refused else None
    if label is None or label.values is None:
        return _free_value(tests, label.pattern if label else None, other)
    # No value but the listed ones exists after ingest.
    fixed = _fixed(tests)
    return _first([value for value in fixed if value in label.values] if fixed else label.values, tests, other)


@lru_cache(maxsize=2**16)  # the same few matchers are all over a spec, and each is looked at by several stages
def _free_value(wanted: tuple[Test, ...], form: str | None, refused: Test | None) -> str | None:
    candidates = _fixed(wanted) or _candidates([*wanted, refused] if refused else wanted, form)
    return _first((value for value in candidates if form is None or pattern.matches(form, value)), wanted, refused)


def _fixed(wanted: tuple[Test, ...]) -> list[str]:
    """The value that a matcher names, which leaves nothing to search for."""
    return [value for op, value in wanted if op == "="][:1]


def _first(candidates: Iterable[str], wanted: tuple[Test, ...], refused: Test | None) -> str | None:
    for value in candidates:
        if value and all(_accepts(test, value) for test in wanted) and not (refused and _accepts(refused, value)):
            return value
    return None


def _candidates(tests: Sequence[Test], form: str | None) -> Iterable[str]:
    """What the matchers and the schema name, then usual values, then what differs from the named by little."""
    named = list(dict.fromkeys(_named(tests, form)))
    characters = sorted({"0", "a", *"".join((*named, *(value for _, value in tests)))})
    return chain(named, _USUAL, islice(_neighbours(named, characters), _MOST))


def _named(tests: Sequence[Test], form: str | None) -> Iterator[str]:
    patterns = [value for op, value in tests if op.endswith("~")]
    yield from (value for op, value in tests if not op.endswith("~"))
    if form:
        patterns.append(form)
    for expression in patterns:
        for part in (expression, *expression.split("|")):
            yield pattern.example(part) or ""


def _neighbours(named: Sequence[str], characters: Sequence[str]) -> Iterator[str]:
    """Each text with one character put in or changed, and each two in a row."""
    for text in named:
        for at, width, char in product(range(len(text), -1, -1), (0, 1), characters):
            yield text[:at] + char + text[at + width :]
    yield from map("".join, product(named, repeat=2))


def _accepts(test: Test, value: str) -> bool:
    op, named = test
    same = named == value if op in ("=", "!=") else pattern.matches(named, value)
    return same == op.startswith("=")

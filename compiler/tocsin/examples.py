"""Example labels for selectors: what a series must look like to be selected, or to be just not selected."""

from __future__ import annotations

from itertools import chain, islice, product
from typing import TYPE_CHECKING

from tocsin import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tocsin.factory import Label
    from tocsin.promql import Matcher, Selector

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
    found = {label: value_for(matchers, schema.get(label)) for label, matchers in sorted(wanted.items())}
    values = {label: value for label, value in found.items() if value is not None}
    if len(values) < len(found):
        return None
    if not_of is None:
        return values
    for matcher in not_of.matchers:
        other = value_for(wanted.get(matcher.label, []), schema.get(matcher.label), matcher)
        if other is not None:
            return {**values, matcher.label: other}
    return None


def value_for(wanted: Sequence[Matcher], label: Label | None, refused: Matcher | None = None) -> str | None:
    """A value that the schema allows and every matcher takes but the refused one; None where none was found."""
    fixed = [matcher.value for matcher in wanted if matcher.op == "="]  # leaves nothing to search for
    candidates = fixed[:1] or _candidates([*wanted, refused] if refused else wanted, label)
    return next(
        (
            value
            for value in candidates
            if value
            and (label is None or label.allows(value))
            and all(_accepts(m, value) for m in wanted)
            and not (refused and _accepts(refused, value))
        ),
        None,
    )


def _candidates(matchers: Sequence[Matcher], label: Label | None) -> Iterable[str]:
    """What the matchers and the schema name, then usual values, then what differs from the named by little."""
    if label and label.values is not None:
        return label.values  # no other value exists after ingest
    named = list(dict.fromkeys(_named(matchers, label)))
    characters = sorted({"0", "a", *"".join((*named, *(matcher.value for matcher in matchers)))})
    return chain(named, _USUAL, islice(_neighbours(named, characters), _MOST))


def _named(matchers: Sequence[Matcher], label: Label | None) -> Iterator[str]:
    patterns = [matcher.value for matcher in matchers if matcher.op.endswith("~")]
    yield from (matcher.value for matcher in matchers if not matcher.op.endswith("~"))
    if label and label.pattern:
        patterns.append(label.pattern)
    for expression in patterns:
        for part in (expression, *expression.split("|")):
            yield pattern.example(part) or ""


def _neighbours(named: Sequence[str], characters: Sequence[str]) -> Iterator[str]:
    """Each text with one character put in or changed, and each two in a row."""
    for text in named:
        for at, width, char in product(range(len(text), -1, -1), (0, 1), characters):
            yield text[:at] + char + text[at + width :]
    yield from map("".join, product(named, repeat=2))


def _accepts(matcher: Matcher, value: str) -> bool:
    same = matcher.value == value if matcher.op in ("=", "!=") else pattern.matches(matcher.value, value)
    return same == matcher.op.startswith("=")

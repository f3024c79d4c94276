"""Who plays in the rules and tests of an SLO: what is its own in texts that SLOs of one shape have in common."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tocsin.examples import labels_for, value_for
from tocsin.lower.proofs import series

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tocsin.factory.signals import Label
    from tocsin.promql import Matcher, Selector

BLANK = "?slo?"  # the id of nobody


class Cast(NamedTuple):
    """An SLO's id, and what its indicator reads, in PromQL: which texts these are is a matter of its kind."""

    id: str
    texts: tuple[str, ...]

    @property
    def is_plain(self) -> bool:
        """Whether every text can stand for a blank: in YAML, each needs single quotes and nothing else."""
        return all("'" not in text and text.isprintable() for text in self.texts)

    def blank(self) -> Cast:
        """A cast in its place that is nobody. Its texts have double quotes in them and are themselves PromQL."""
        return _nobody(len(self.texts))

    def names(self) -> tuple[tuple[str, str], ...]:
        """What stands for each text of the blank cast."""
        blank = self.blank()
        return ((blank.id, self.id), *zip(blank.texts, self.texts, strict=True))


@lru_cache(maxsize=64)
def _nobody(texts: int) -> Cast:
    return Cast(BLANK, tuple(f'blank{{at="?{number}?"}}' for number in range(texts)))


def stranger(selector: Selector, by: Iterable[str], schema: Mapping[str, Label]) -> tuple[str, dict[str, str]]:
    """A series that the selector does not select: of its metric, or of another where it selects all of those."""
    labels = labels_for([selector._replace(matchers=())], selector, by, schema)
    return (f"not_{selector.metric}", {}) if labels is None else (selector.metric or "", labels)


def strangers(
    selectors: Sequence[Selector], matchers: Iterable[Matcher], labels: Mapping[str, str], schema: Mapping[str, Label]
) -> Iterator[str]:
    """For each of some matchers a series of the last selector's metric that this matcher alone keeps out of all.

    `labels` are those of a series that all the selectors select.
    """
    metric = selectors[-1].metric or ""
    beside = [matcher for selector in selectors for matcher in selector.matchers]
    for matcher in matchers:
        label, sign = matcher.label, matcher[3:5]  # the same matcher may stand in several selectors
        others = [other for other in beside if other.label == label and other[3:5] != sign]
        value = value_for(others, schema.get(label), matcher)
        made = (f"not_{metric}", {"of": matcher.render()}) if value is None else (metric, {**labels, label: value})
        yield series(*made, "")[0]

"""Texts of several alerts: what all of them say, and what is different."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_TOKEN = re.compile(r"[\w-]+|[^\w-]")
_GAP, _GAPS = "…", 2


class Text(NamedTuple):
    """A text, the labels of the alerts that have it, and its `form`, in which names stand for the labels' values."""

    text: str
    labels: tuple[Mapping[str, str], ...]
    form: str = ""


def merged(texts: Iterable[Text]) -> list[Text]:
    """The texts that differ in more than values of labels: where they have these, the label's name stands."""
    forms: dict[tuple[str, ...], list[tuple[Sequence[str], Text]]] = {}
    for one in texts:
        named = {labels[name]: f"`{name}`" for labels in one.labels[:1] for name in labels}
        words = _TOKEN.findall(one.text)
        forms.setdefault(tuple(named.get(word, word) for word in words), []).append((words, one))
    return [
        Text(_said(form, some), tuple(at for _, one in some for at in one.labels), "".join(form))
        for form, some in forms.items()
    ]


def _said(form: Sequence[str], some: Sequence[tuple[Sequence[str], Text]]) -> str:
    """A word that is the same in all texts stays, even if it is the value of a label as well."""
    columns = zip(*(words for words, _ in some), strict=True)
    return "".join(column[0] if len({*column}) == 1 else name for name, column in zip(form, columns, strict=True))


def common(texts: Sequence[Text]) -> str:
    """What texts have in common, with a gap for what they have not; nothing where they have little or it is in bits."""
    if len(texts) == 1:
        return texts[0].text
    words = [one.form.replace(")", " )").split(" ") for one in texts]
    shared = reduce(_shared, words)
    gaps = shared.count(_GAP)
    if gaps > _GAPS or 2 * (len(shared) - gaps) < min(len(one) for one in words):
        return ""
    return " ".join(shared).replace(" )", ")")


def _shared(one: Sequence[str], other: Sequence[str]) -> list[str]:
    found: list[str] = []
    for what, start, end, _, _ in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        found += one[start:end] if what == "equal" else [_GAP]
    return [word for index, word in enumerate(found) if word != _GAP or found[index - 1 : index] != [_GAP]]


def apart(texts: Sequence[Text]) -> list[tuple[str, list[str]]]:
    """Of each text the label by which it is told from the others, and its values; no name where there is none."""
    names = dict.fromkeys(name for one in texts for labels in one.labels for name in labels)
    for name in names:
        values = [sorted({labels.get(name, "") for labels in one.labels}) for one in texts]
        if len({value for some in values for value in some}) == sum(map(len, values)):
            return [(name, some) for some in values]
    return [("", [])] * len(texts)

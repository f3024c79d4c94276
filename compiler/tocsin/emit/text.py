"""YAML text, line by line, with the place in the spec that each line came from."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from tocsin.artifact import Artifact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tocsin.source import Span

_PLAIN = re.compile(r"[A-Za-z_/](?:[A-Za-z0-9_./:-]*[A-Za-z0-9_/])?")
_WORDS = frozenset("null true false yes no on off y n".split())  # what some reader of YAML takes for something else
# What YAML folds or refuses where it stands raw. A fixed set: one that followed Python's Unicode tables would let the
# output depend on the Python that runs.
_HIDDEN = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"
_FOLDED = re.compile(f"[{_HIDDEN}]".replace(r"\x00-\x1f", r"\x00-\x09\x0b-\x1f"))
_LEFT_RAW_BY_JSON = re.compile(f"[{_HIDDEN}]")


@lru_cache(maxsize=4096)
def scalar(text: str) -> str:
    """A text as YAML reads it back, letter by letter, in Go as in Python."""
    usual = text.isascii() and text.isprintable()  # most texts are, and need no closer look
    if '"' in text:
        if "'" not in text and (usual or not _LEFT_RAW_BY_JSON.search(text)):  # PromQL stays readable
            return f"'{text}'"
    elif usual and "\\" not in text:
        is_plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
        return text if is_plain else f'"{text}"'
    return _LEFT_RAW_BY_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _is_block(text: str) -> bool:
    """Whether a text can stand as the lines that it has."""
    usual = text.isascii() and text.replace("\n", "").isprintable()
    return not text[0].isspace() and not text.endswith("\n") and (usual or not _FOLDED.search(text))


def flow(texts: Iterable[str]) -> str:
    """A list on one line."""
    return f"[{', '.join(map(scalar, texts))}]"


class Lines:
    """A text that grows line by line."""

    def __init__(self, header: str) -> None:
        self._lines = [f"# {line}" for line in header.splitlines()]
        self._origins: list[tuple[int, Span]] = []

    def at(self, origin: Span) -> None:
        """What follows comes from here."""
        if not self._origins or self._origins[-1][1] != origin:
            self._origins.append((len(self._lines) + 1 if self._origins else 1, origin))

    def add(self, line: str) -> None:
        """One line."""
        self._lines.append(line)

    def field(self, indent: str, key: str, value: str) -> None:
        """`key: value`; a text of several lines as a block."""
        if "\n" in value and _is_block(value):
            deeper = indent.replace("-", " ") + "  "
            self._lines.append(f"{indent}{key}: |-")
            self._lines += [deeper + line for line in value.split("\n")]
        else:
            self._lines.append(f"{indent}{key}: {scalar(value)}")

    def mapping(self, indent: str, key: str, values: Mapping[str, str]) -> None:
        """`key:` with one `name: text` a line; nothing where there are none."""
        if values:
            self._lines.append(f"{indent}{key}:")
            deeper = indent.replace("-", " ") + "  "
            self._lines += [f"{deeper}{scalar(name)}: {scalar(value)}" for name, value in values.items()]

    def artifact(self, path: str) -> Artifact:
        """The finished file."""
        return Artifact(path, "\n".join(self._lines) + "\n", tuple(self._origins))

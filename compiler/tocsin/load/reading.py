"""What was read so far: the texts, and what is missing from them."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from tocsin.load.syntax import tell_syntax
from tocsin.source import compose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tocsin.diagnostics import Log
    from tocsin.source import Node, Source, Span


class Reading:
    """`sources` are the texts by name, `gaps` the mappings that lost an entry, `whole` whether no file is missing."""

    def __init__(self, sources: dict[str, Source], log: Log) -> None:
        self.sources, self.log = sources, log
        self.gaps: set[Node] = set()
        self.whole = True

    def lost(self, code: str, message: str, span: Span, hint: str) -> None:
        """Tell why a file, or a section of it, is not part of what was read."""
        self.log.error(code, message, span, hint)
        self.whole = False

    def tree(self, source: Source) -> Node | None:
        """The nodes of a text, and all that is wrong with it told; None where it is empty or cannot be read."""
        self.sources[source.path] = source
        root, errors = compose(source)
        for error in errors:
            tell_syntax(error, source, self.log)
        refused = [error.span for error in errors if error.code == "YML108"]
        if root is not None and refused:
            self.gaps.update(_around(sorted(_mappings(root), key=_start), refused))
        self.whole &= root is not None or not errors
        return root


def _around(mappings: list[Node], keys: Iterable[Span]) -> Iterator[Node]:
    """The mapping that each refused key stands in: the last one begun before it that holds it or its column."""
    for key in keys:
        at = (key.line, key.column)
        index = bisect_right(mappings, at, key=_start) - 1
        while index >= 0 and at >= mappings[index].end and mappings[index].start[1] != key.column:
            index -= 1
        if index >= 0:
            yield mappings[index]


def _start(node: Node) -> tuple[int, int]:
    return node.start


def _mappings(root: Node) -> Iterator[Node]:
    seen: set[Node] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += [*node.items, *(value for _, value in node.entries.values())]
            if node.kind == "mapping":
                yield node

"""What was read so far: the texts, and what is missing from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.composer import MAX_VALUES, compose

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.source import Node, Source, Span


class Reading:
    """`sources` are the texts by name, `gaps` the mappings that lost an entry, `whole` whether no file is missing."""

    def __init__(self, sources: dict[str, Source], log: Log) -> None:
        self.sources, self.log = sources, log
        self.gaps: set[Node] = set()
        self.whole = True
        self._left = MAX_VALUES  # keys and values that further texts may hold

    def lost(self, code: str, message: str, span: Span, hint: str) -> None:
        """Tell why a file, or a section of it, is not part of what was read."""
        self.log.error(code, message, span, hint)
        self.whole = False

    def tree(self, source: Source) -> Node | None:
        """The nodes of a text, and all that is wrong with it told; None where it is empty or cannot be read."""
        self.sources[source.path] = source
        root, errors = compose(source, self._left)
        self._left -= root.weight if root else 0
        for error in errors:
            from tocsin.load.syntax import tell_syntax  # a text without mistakes does without

            tell_syntax(error, source, self.log)
            self.gaps |= {error.gap} if error.gap else set()
        self.whole &= root is not None or not errors
        return root

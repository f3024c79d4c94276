"""The spec as written, and the place of every part of it."""

from typing import NamedTuple

from tocsin.source import Node, Span
from tocsin.spec import Spec

Path = tuple[str | int, ...]


class Places(NamedTuple):
    """Answers where a part of the spec stands. `root` is the merged tree of the root spec and its includes."""

    root: Node

    def value(self, *path: str | int) -> Span:
        """Where the value at a path stands; where it is not written, its closest written parent's key."""
        node = self.node(*path)
        return self.key(*path) if node is None else node.span._replace(route=_route(path))

    def key(self, *path: str | int) -> Span:
        """Where the key at a path stands; the root's is the first character."""
        key = self._find(path)[1]
        line, column = key.start
        span = Span(key.source.path, line, column, line, column + 1) if key is self.root else key.span
        return span._replace(route=_route(path))

    def inside(self, path: Path, start: int, end: int) -> Span:
        """Where the characters [start, end) of the text at a path stand."""
        from tocsin.offsets import inside  # read where something is wrong with a text, and no earlier

        node = self.node(*path)
        return inside(node, start, end) if node is not None and node.text else self.value(*path)

    def node(self, *path: str | int) -> Node | None:
        """The value at a path, if it is written."""
        return self._find(path)[0]

    def names(self, *path: str | int) -> list[str]:
        """The keys written in the mapping at a path, those of unreadable entries too."""
        node = self.node(*path)
        return list(node.entries) if node is not None else []

    def _find(self, path: Path) -> tuple[Node | None, Node]:
        node, key = self.root, self.root
        for step in path:
            if node.kind == "mapping" and step in node.entries:
                key, node = node.entries[str(step)]
            elif node.kind == "sequence" and isinstance(step, int) and step < len(node.items):
                key = node = node.items[step]
            elif step == 0:
                key = node  # what stands where a list may, is its own first item
            else:
                return None, key
        return node, key


def _route(path: Path) -> str:
    return ".".join(map(str, path))


class Document(NamedTuple):
    """What `load` found.

    `broken` are the paths of parts that could not be read and are not in `spec` as written, `around` those of the
    parts that hold them.
    """

    spec: Spec
    places: Places
    broken: frozenset[Path]
    around: frozenset[Path]

    def is_broken(self, *path: str | int) -> bool:
        """Whether a part, or anything around or inside it, could not be read: what it lacks is no further mistake."""
        return path in self.around or any(path[:depth] in self.broken for depth in range(1, len(path) + 1))

"""The spec as written, and the place of every part of it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tocsin.source import Node, Source, Span
from tocsin.spec import Spec
from tocsin.units import Duration

Path = tuple[str | int, ...]
_TELLING = 5  # characters: a shorter line may stand anywhere by chance


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


class Made(NamedTuple):
    """Of what a file was made that the spec names: the texts in which a part of it may be found again."""

    texts: tuple[Source, ...]

    def place(self, text: str, start: int, end: int) -> Span | None:
        """Where the characters [start, end) of a text stand.

        JSON says it itself. Jsonnet puts texts together: only where a whole line of one is written as it is, and once,
        the place is known.
        """
        from tocsin.jsontext import Text  # a spec without files beside it does without

        if isinstance(text, Text):
            return text.inside(start, end)
        first = text.rfind("\n", 0, start) + 1
        line = text[first:].partition("\n")[0]
        lead = first + len(line) - len(line.lstrip())
        source, at = self._only(line.strip())
        if source is None:
            return None
        here = at + max(start - lead, 0)
        return source.span(here, max(min(at + end - lead, at + len(line.strip())), here + 1))

    def named(self, name: str) -> Span | None:
        """Where a name stands in quotes, if it does so once."""
        for quoted in (f"'{name}'", f'"{name}"'):
            source, at = self._only(quoted)
            if source is not None:
                return source.span(at, at + len(quoted))
        return None

    def _only(self, wanted: str) -> tuple[Source | None, int]:
        found = [(source, source.text.find(wanted)) for source in self.texts if wanted in source.text]
        if len(wanted) < _TELLING or len(found) != 1 or found[0][0].text.count(wanted) > 1:
            return None, 0
        return found[0]


class WrittenRule(NamedTuple):
    """A rule of a mixin as Prometheus reads it; `kind` is alert or record."""

    kind: str
    name: str
    expr: str
    hold: Duration
    keep: Duration
    labels: dict[str, str]
    annotations: dict[str, str]


class WrittenGroup(NamedTuple):
    """Rules that are evaluated in their order, every `interval` or as often as all others."""

    name: str
    interval: Duration | None
    rules: tuple[WrittenRule, ...]


class WrittenMixin(NamedTuple):
    """What a mixin came to; `dashboards` by the names of their files."""

    groups: tuple[WrittenGroup, ...]
    dashboards: dict[str, dict[str, Any]]
    made: Made


class WrittenDashboard(NamedTuple):
    """The JSON of a dashboard."""

    model: dict[str, Any]
    made: Made


class Document(NamedTuple):
    """What `load` found.

    `broken` are the paths of parts that could not be read and are not in `spec` as written, `around` those of the
    parts that hold them. `mixins` and `dashboards` are what the files came to that the spec names.
    """

    spec: Spec
    places: Places
    broken: frozenset[Path]
    around: frozenset[Path]
    mixins: dict[str, WrittenMixin]
    dashboards: dict[str, WrittenDashboard]

    @property
    def pages(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Every dashboard with the section and the name by which the spec brings it."""
        for name, mixin in self.mixins.items():
            left_out = self.spec.mixins[name].without
            yield from (("mixins", name, model) for file, model in mixin.dashboards.items() if file not in left_out)
        for name, dashboard in self.dashboards.items():
            yield "dashboards", name, dashboard.model

    def is_broken(self, *path: str | int) -> bool:
        """Whether a part, or anything around or inside it, could not be read: what it lacks is no further mistake."""
        if not self.broken:
            return False
        return path in self.around or any(path[:depth] in self.broken for depth in range(1, len(path) + 1))


def around(broken: set[Path]) -> frozenset[Path]:
    """Everything that has lost a part."""
    return frozenset(path[:depth] for path in broken for depth in range(1, len(path)))

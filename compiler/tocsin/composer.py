"""YAML text in, nodes with positions out, and everything that is wrong with the text as YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import yaml

from tocsin.source import Node, Source, Span

MAX_DEPTH = 64  # levels of nesting; the language itself needs eight
MAX_VALUES = 1_000_000  # keys and values of one spec; 10,000 SLOs are half of that
MAX_ALIASED = 100_000  # values that aliases may add to what is written; a bomb adds billions
MAX_ERRORS = 100  # of one document; a file that is no spec has one for each of its lines

# libyaml scans 4 to 6 times faster than the Python scanner and reports the same marks.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What may stand before a value: `&anchor` and `!tag`, each followed by blanks, comments and line breaks.
_PROPERTIES = re.compile(
    "(?:(?:&[A-Za-z0-9_-]+|!<[^>]*>|![^ \t,\\[\\]{}\r\n\x85\u2028\u2029]*)"
    "(?:[ \t]++|#[^\r\n\x85\u2028\u2029]*+|[\r\n\x85\u2028\u2029])*+)+"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = yaml.reader.Reader.NON_PRINTABLE  # compiled already, and it takes milliseconds
_INVISIBLE = "\ufeff"  # YAML allows it, but nobody sees it, and it shifts every column of its line


class YamlError(Exception):
    """One thing wrong with a document as YAML: code, sentence, place, hint and what the reader may look at too.

    `gap` is the mapping that has lost an entry by it.
    """

    def __init__(self, code: str, message: str, span: Span, hint: str = "", related: Span | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.span, self.hint, self.related = code, message, span, hint, related
        self.gap: Node | None = None


def compose(source: Source, most: int = MAX_VALUES) -> tuple[Node | None, list[YamlError]]:
    """The one document of a source, as nodes, and everything wrong with it that does not hide the rest.

    The node is None for an empty or comment-only document and where the text cannot be read to its end, which is
    given up after `most` keys and values and after MAX_ERRORS errors.
    """
    bad = _UNPRINTABLE.search(source.text)
    at = bad.start() if bad else source.text.find(_INVISIBLE)
    if at >= 0:
        what = f"the character U+{ord(source.text[at]):04X} may not stand in YAML"
        return None, [YamlError("YML102", what, source.span(at, at + 1), "remove it; is this a text file?")]
    composer = _Composer(source, most)
    try:
        return composer.run(), composer.errors
    except YamlError as error:
        return None, [*composer.errors, error]
    except yaml.MarkedYAMLError as error:
        return None, [*composer.errors, _syntax_error(source, error)]
    except (ValueError, OverflowError):  # PyYAML without libyaml: an escape such as "\UFFFFFFFF"
        return None, [*composer.errors, YamlError("YML101", "an escape names no character", source.span(0, 0))]


def _position(source: Source, mark: Any) -> tuple[int, int]:
    """Line and column, both counted from 1, of a mark; the scanner's end of a text may lie a line behind it."""
    if mark.line >= len(source.line_starts):
        return source.position(len(source.text))
    return mark.line + 1, mark.column + 1


def _syntax_error(source: Source, error: yaml.MarkedYAMLError) -> YamlError:
    mark = error.problem_mark or error.context_mark
    line, column = _position(source, mark) if mark else (1, 1)
    problem = (error.problem or "this is not YAML").strip()
    context = f" {error.context.strip()}" if error.context else ""
    related = None
    if error.context_mark and error.context_mark.line + 1 != line:
        at = _position(source, error.context_mark)
        related = Span(source.path, *at, at[0], at[1] + 1)
    span = Span(source.path, line, column, line, column + 1)
    return YamlError("YML101", f"this is not YAML:{context} {problem}".replace("  ", " "), span, "", related)


@dataclass(slots=True)
class _Open:
    """A mapping or sequence that has not ended: its node, its anchor, and the key that waits for its value."""

    node: Node
    anchor: str | None
    key: Node | None = None


class _Composer:
    """Builds nodes from scanner events with a stack of its own, so depth never meets Python's or C's."""

    def __init__(self, source: Source, most: int) -> None:
        self.source = source
        self.left = most
        self.errors: list[YamlError] = []
        self.anchors: dict[str, Node] = {}
        self.open: list[_Open] = []
        self.root: Node | None = None
        self.aliased = 0
        self.last_line = len(source.line_starts)
        self.reached = (1, 1)  # the end of the last scalar, alias or closing bracket

    def run(self) -> Node | None:
        documents = 0
        loader = _Loader(self.source.text)
        name = ""
        while name != "StreamEndEvent":
            event = loader.get_event()
            name = type(event).__name__
            if name == "ScalarEvent":
                self._scalar(event)
            elif name == "DocumentStartEvent":
                documents += 1
                if documents > 1:
                    hint = "put the parts into files of their own and list them under `include`"
                    raise YamlError(
                        "YML104", "a spec is one YAML document, here a second begins", self._at(event), hint
                    )
            elif name in ("MappingStartEvent", "SequenceStartEvent"):
                self._begin(event, "mapping" if name == "MappingStartEvent" else "sequence")
            elif name in ("MappingEndEvent", "SequenceEndEvent"):
                self._finish(event)
            elif name == "AliasEvent":
                self._alias(event)
        return self.root

    def _at(self, event: Any) -> Span:
        first, last = _position(self.source, event.start_mark), _position(self.source, event.end_mark)
        return Span(self.source.path, *first, *max(last, (first[0], first[1] + 1)))

    def _tell(self, error: YamlError) -> None:
        if len(self.errors) >= MAX_ERRORS:
            error.hint = f"{error.hint}; after so many mistakes the rest was not read".removeprefix("; ")
            raise error
        self.errors.append(error)

    def _node(self, kind: str, event: Any) -> Node:
        self.left -= 1
        if self.left < 0:
            hint = "is this a spec? what is generated for so many would fit no Prometheus"
            raise YamlError("YML110", f"a spec has more than {MAX_VALUES} keys and values here", self._at(event), hint)
        if event.tag and event.tag not in ("!", "tag:yaml.org,2002:str"):
            shown = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._tell(YamlError("YML107", f"the tag {shown} means nothing in a spec", self._at(event), "remove it"))
        start, end = event.start_mark, event.end_mark
        first, last = (start.line + 1, start.column + 1), (end.line + 1, end.column + 1)
        if last[0] >= self.last_line:
            first, last = _position(self.source, start), _position(self.source, end)
        if event.tag or event.anchor:  # the mark stands before `&name` or `!tag`, the value behind them
            offset = self.source.offset(*first)
            properties = _PROPERTIES.match(self.source.text, offset)
            first = min(self.source.position(properties.end() if properties else offset), last)
        return Node(kind, self.source, first, last, height=int(kind != "scalar"))

    def _begin(self, event: Any, kind: str) -> None:
        self._check_depth(1, event)
        self.anchors.pop(event.anchor, None)  # inside of the value its name means nothing yet
        self.open.append(_Open(self._node(kind, event), event.anchor))

    def _check_depth(self, height: int, event: Any) -> None:
        if len(self.open) + height > MAX_DEPTH:
            hint = "a spec needs eight levels at most"
            raise YamlError("YML105", f"more than {MAX_DEPTH} levels of nesting", self._at(event), hint)

    def _finish(self, event: Any) -> None:
        ended = self.open.pop()
        node = ended.node
        if event.end_mark.index > event.start_mark.index:  # flow style: the closing bracket is the end
            self.reached = _position(self.source, event.end_mark)
        node.end = max(self.reached, node.start)
        if ended.anchor:
            self.anchors[ended.anchor] = node
        self._place(node)

    def _scalar(self, event: Any) -> None:
        node = self._node("scalar", event)
        node.text, node.style = event.value, event.style or ""
        if node.style in ("|", ">"):
            node.end = self._trimmed(event)
        elif event.tag and not node.style:
            node.style = '"'  # `!!str 12` is text
        if node.style == '"' and _SURROGATE.search(node.text):  # libyaml refuses them by itself
            self._tell(YamlError("YML102", "an escape names half a character", node.span, "write the character"))
        if event.anchor:
            self.anchors[event.anchor] = node
        self.reached = node.end
        self._place(node)

    def _trimmed(self, event: Any) -> tuple[int, int]:
        """A block scalar's end mark is where the next token begins; its own end is its last written character."""
        start, end = (self.source.offset(*_position(self.source, mark)) for mark in (event.start_mark, event.end_mark))
        return self.source.position(start + len(self.source.text[start:end].rstrip(" \t\r\n\x85\u2028\u2029")))

    def _alias(self, event: Any) -> None:
        node = self.anchors.get(event.anchor)
        if node is None:
            hint = "an anchor `&name` must come first, and cannot contain its own alias"
            raise YamlError("YML106", f"no finished anchor is called '{event.anchor}' here", self._at(event), hint)
        self.aliased += node.weight
        if self.aliased > MAX_ALIASED:
            what = f"the aliases of this document stand for more than {MAX_ALIASED} values"
            raise YamlError("YML106", what, self._at(event), "write the values out, or generate the file")
        self._check_depth(node.height, event)
        self.reached = _position(self.source, event.end_mark)
        self._place(node)

    def _place(self, node: Node) -> None:
        if not self.open:
            self.root = node
            return
        around = self.open[-1]
        container, key = around.node, around.key
        container.weight += node.weight
        if container.height <= node.height:
            container.height = node.height + 1
        if container.kind == "sequence":
            container.items.append(node)
        elif key is None:
            around.key = node
        else:
            around.key = None
            self._enter(container, key, node)

    def _enter(self, mapping: Node, key: Node, value: Node) -> None:
        if key.kind != "scalar":
            self._leave_out(mapping, key, "a key must be a name", "did a `{` or `[` slip in?")
        elif key.text == "<<" and not key.style:
            hint = "repeat the keys, or put them into an include"
            self._leave_out(mapping, key, "merge keys (`<<`) are not part of the spec language", hint)
        elif key.text in mapping.entries:
            first = mapping.entries[key.text][0].span
            hint = f"it stands at line {first.line} already; keep one of the two"
            self._tell(YamlError("YML103", f"the key '{key.text}' is written twice", key.span, hint, first))
        else:
            mapping.entries[key.text] = (key, value)

    def _leave_out(self, mapping: Node, key: Node, message: str, hint: str) -> None:
        error = YamlError("YML108", message, key.span, hint)
        error.gap = mapping
        self._tell(error)

"""YAML with positions: every node where it is written, every character of a value where it comes from, no exception."""

from __future__ import annotations

import random
import re
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from conftest import ROOT
from tocsin import composer
from tocsin.composer import MAX_ALIASED, MAX_DEPTH, MAX_ERRORS, YamlError, compose
from tocsin.offsets import inside
from tocsin.source import Node, Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

SPECS = [path.read_text("utf-8") for path in sorted((ROOT / "specs").rglob("*.yaml"))]
LOADERS = [yaml.CSafeLoader, yaml.SafeLoader]  # the second is for a PyYAML that was built without libyaml
BREAKS = "\r\n|\n|\r|\x85|\u2028|\u2029"

both_loaders = pytest.mark.parametrize("loader", LOADERS)


@contextmanager
def scanning_with(loader: Any) -> Iterator[None]:
    """Scan with one of PyYAML's two scanners."""
    before = composer._Loader
    composer._Loader = loader
    try:
        yield
    finally:
        composer._Loader = before


def composed(text: str) -> Node:
    """The nodes of a text that has nothing wrong."""
    root, errors = compose(Source("a.yaml", text))
    assert errors == []
    assert root is not None
    return root


def faults(text: str) -> list[tuple[str, int, int]]:
    """Code, line and column of everything wrong with a text."""
    return [(error.code, *error.span[1:3]) for error in compose(Source("a.yaml", text))[1]]


def nodes(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    yield node
    for key, value in node.entries.values():
        yield key
        yield from nodes(value)
    for item in node.items:
        yield from nodes(item)


def written(span: Span, text: str) -> str:
    """What stands in a span, found without the help of Source."""
    starts = [0, *(found.end() for found in re.finditer(BREAKS, text))]
    return text[starts[span.line - 1] + span.column - 1 : starts[span.end_line - 1] + span.end_column - 1]


def assert_inside(span: Span, text: str) -> None:
    """A span begins in the text or at its end, and ends at most one column behind it, where nothing is left to mark."""
    lines = re.split(BREAKS, text)
    assert 1 <= span.line <= span.end_line <= len(lines)
    assert 1 <= span.column <= len(lines[span.line - 1]) + 1
    assert 1 <= span.end_column <= len(lines[span.end_line - 1]) + 2
    assert (span.line, span.column) <= (span.end_line, span.end_column)


# --- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("yes", "yes"), ("on", "on"), ("off", "off"), ("y", "y"), ("NO", "NO"),
        ("true", True), ("True", True), ("TRUE", True), ("tRue", "tRue"),
        ("false", False), ("False", False), ("FALSE", False),
        ("null", None), ("Null", None), ("NULL", None), ("~", None), ("", None), ("nULL", "nULL"),
        ("0", 0), ("010", 10), ("-0", 0), ("+12", 12), ("-7", -7), ("0o17", 15), ("0x1F", 31), ("0xfg", "0xfg"),
        ("0o18", "0o18"), ("0b1", "0b1"), ("1_000", "1_000"), ("1:30", "1:30"), ("1:30:00", "1:30:00"),
        ("1.50", Decimal("1.50")), (".5", Decimal("0.5")), ("5.", Decimal(5)), ("-.5", Decimal("-0.5")),
        ("1e3", Decimal(1000)), ("1.5E-3", Decimal("0.0015")), ("+1e+2", Decimal(100)), ("1e", "1e"), ("e3", "e3"),
        (".", "."), ("-", "-"), ("+", "+"), ("1e9999", "1e9999"), (".inf", ".inf"), ("-.INF", "-.INF"),
        (".nan", ".nan"), ("9" * 40, int("9" * 40)), ("9" * 41, "9" * 41),
        ("2024-01-31", "2024-01-31"), ("2024-01-31 10:00:00", "2024-01-31 10:00:00"), ("=", "="),
        ("'12'", "12"), ('"true"', "true"), ("'~'", "~"), ("''", ""), ("!!str 12", "12"), ("! 12", "12"),
        ("!!str", ""), ("&a 12", 12), ("|-\n  12", "12"),
    ],
)  # fmt: skip
def test_scalars_are_read_by_yaml_1_2(text: str, value: object) -> None:
    if text == "-":  # alone it would begin a list
        assert composed("[a-, -a]").data() == ["a-", "-a"]
        return
    data = composed(f"key: {text}\n").data()["key"]
    assert (data, type(data)) == (value, type(value))


def test_decimals_keep_what_was_written() -> None:
    assert [str(value) for value in composed("[3.10, 0.1, 1e3]").data()] == ["3.10", "0.1", "1E+3"]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("a: 1\na: 2\n", [("YML103", 2, 1)]),
        ("{a: 1, b: 2, a: 3}", [("YML103", 1, 14)]),
        ("x:\n  k: 1\n  l: 2\n  'k': 3\n", [("YML103", 4, 3)]),
        ("a: {b: 1, b: 2}\na: 1\n", [("YML103", 1, 11), ("YML103", 2, 1)]),
        ("1: a\n'1': b\n", [("YML103", 2, 1)]),
        ("<<: {a: 1}\nb: 2\n", [("YML108", 1, 1)]),
        ("[a]: 1\n", [("YML108", 1, 1)]),
        ("{{a: 1}: 2}\n", [("YML108", 1, 2)]),
        ("a: !!int 1\nb: !x 2\nc: !<y> 3\n", [("YML107", 1, 4), ("YML107", 2, 4), ("YML107", 3, 4)]),
        ("--- a\n--- b\n", [("YML104", 2, 1)]),
        ("a: 1\n...\n--- b\n", [("YML104", 3, 1)]),
        ("a: *b\n", [("YML106", 1, 4)]),
        ("a: &x [*x]\n", [("YML106", 1, 8)]),
        ("a: &x 1\nb: &x [*x]\n", [("YML106", 2, 8)]),
        ("a: b\n\tc: d\n", [("YML101", 2, 1)]),
        ("a: 'b\n", [("YML101", 2, 1)]),
        ("a: \0", [("YML102", 1, 4)]),
        ("a: b\n\ufeffc: d", [("YML102", 2, 1)]),
        ("a: \udcff", [("YML102", 1, 4)]),
        ('a: "\\ud800"', [("YML101", 1, 7)]),
    ],
)
def test_what_is_wrong_is_told_at_its_place(text: str, at: list[tuple[str, int, int]]) -> None:
    assert faults(text) == at


def test_a_key_that_is_written_twice_names_the_first_and_keeps_it() -> None:
    root, (error,) = compose(Source("a.yaml", "a: 1\nb: 2\na: 3\n"))
    assert root is not None
    assert root.data() == {"a": 1, "b": 2}
    assert error.related is not None
    assert error.related[:3] == ("a.yaml", 1, 1)


def test_the_escapes_that_only_the_python_scanner_lets_pass_are_refused() -> None:
    with scanning_with(yaml.SafeLoader):
        assert faults('a: "\\ud800"') == [("YML102", 1, 4)]
        assert faults('a: "\\UFFFFFFFF"') == [("YML101", 1, 1)]


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "---\n# nothing\n", "%YAML 1.2\n---\n", " \n\n  "])
def test_an_empty_document_is_no_node_and_no_error_or_nothing_at_all(text: str) -> None:
    root, errors = compose(Source("a.yaml", text))
    assert errors == []
    assert root is None or root.data() is None


# --- aliases ----------------------------------------------------------------------------------------------------------


def test_aliases_are_what_they_name_and_stand_where_that_stands() -> None:
    root = composed("a: &x {k: [1, 2]}\nb: *x\nc: [*x, *x]\n")
    assert root.data() == {"a": {"k": [1, 2]}, "b": {"k": [1, 2]}, "c": [{"k": [1, 2]}, {"k": [1, 2]}]}
    assert root.get("b") is root.get("a")
    assert root.data()["a"] is not root.data()["b"]  # who changes one does not change the other


def test_a_name_can_be_given_again() -> None:
    assert composed("[&x 1, *x, &x 2, *x]").data() == [1, 1, 2, 2]


@pytest.mark.parametrize("width", [2, 10, 100])
def test_aliases_stand_for_so_many_values_and_no_more(width: int) -> None:
    lines, stands_for, added = ["a0: &a0 x"], 1, 0
    while added <= MAX_ALIASED:
        number = len(lines)
        lines.append(f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * width)}]")
        added += width * stands_for
        stands_for = 1 + width * stands_for
    ((code, line, _),) = faults("\n".join(lines))
    assert (code, line) == ("YML106", len(lines))
    composed("\n".join(lines[:-1]))


def test_aliases_do_not_nest_deeper_than_brackets() -> None:
    half = MAX_DEPTH // 2
    nested = f"{'[' * half}x{']' * half}"
    composed(f"a: &a {nested}\nb: {'[' * (half - 1)}*a{']' * (half - 1)}\n")
    assert faults(f"a: &a {nested}\nb: {'[' * half}*a{']' * half}\n")[0][0] == "YML105"
    chain = "".join(f"c{i}: &c{i} [*c{i - 1}]\n" for i in range(1, MAX_DEPTH))
    assert faults(f"c0: &c0 x\n{chain}") == []
    assert faults(f"c0: &c0 x\n{chain}d: [*c{MAX_DEPTH - 1}]\n")[0][0] == "YML105"


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")])
def test_nesting_ends_at_its_limit(opening: str, closing: str) -> None:
    composed(f"{opening * MAX_DEPTH}x{closing * MAX_DEPTH}".replace("? ? ", "? ")) if opening != "? " else None
    ((code, line, column),) = faults(opening * (MAX_DEPTH + 1) + "x" + closing * (MAX_DEPTH + 1))
    assert (code, line, column) == ("YML105", 1, len(opening) * MAX_DEPTH + 1)


def test_after_so_many_errors_a_document_is_given_up() -> None:
    root, errors = compose(Source("a.yaml", "a: 1\n" * 10_000))
    assert root is None
    assert len(errors) == MAX_ERRORS + 1
    assert ["rest was not read" in error.hint for error in errors[-2:]] == [False, True]


def test_after_so_many_values_a_document_is_given_up() -> None:
    text = "[" + "a," * 99 + "]"
    assert compose(Source("a.yaml", text), most=100)[1] == []
    root, (error,) = compose(Source("a.yaml", text), most=99)
    assert (root, error.code, error.span[1:3]) == (None, "YML110", (1, 198))


# --- positions --------------------------------------------------------------------------------------------------------


BLOCK_END = "the end"


class Writer:
    """Writes a random document and notes where each value begins and ends, in the order in which they begin."""

    def __init__(self, choices: random.Random) -> None:
        self.choose = choices
        self.text = ""
        self.newline = choices.choice(["\n", "\n", "\r\n", "\r", "\x85"])
        self.line = self.column = 1
        self.noted: list[list[Any]] = []  # kind, start, end, text

    def put(self, text: str) -> None:
        """Write a piece that holds no line break."""
        self.text += text
        self.column += len(text)

    def end_line(self) -> None:
        """Begin a new line, perhaps after a comment and some empty lines."""
        is_block = self.text.endswith(BLOCK_END)  # a comment on its last line would be part of it
        for comment in self.choose.choice([[""], [""], ["" if is_block else " # é: [x", ""], ["", "", "# y"]]):
            self.put(comment)
            self.text += self.newline
            self.line, self.column = self.line + 1, 1

    def note(self, kind: str, text: str = "") -> int:
        """A value begins here; its number."""
        self.noted.append([kind, (self.line, self.column), None, text])
        return len(self.noted) - 1

    def over(self, number: int) -> None:
        """A value ends here."""
        self.noted[number][2] = (self.line, self.column)

    def properties(self) -> None:
        """An anchor and a tag, or not."""
        self.put(self.choose.choice(["", "", "", "&a ", "!!str ", "&b-1 !!str  ", "!<tag:yaml.org,2002:str> &_ "]))

    def value(self, indent: int, depth: int, *, flow: bool = False) -> None:
        """A value behind what is written so far; it ends where it ends, without a line break."""
        kind = self.choose.choice(
            ["plain", "single", "double"] + ["block"] * (not flow) + ["list", "map"] * (depth < 4)
        )
        if kind in ("list", "map"):
            if flow or self.choose.random() < 0.4:
                self.flow(kind, indent, depth)
            else:
                self.block(kind, indent, depth)
            return
        self.properties()
        written, text = self.scalar(kind, indent)
        number = self.note("scalar", text)
        for index, line in enumerate(written.split("\n")):
            if index:
                self.text += self.newline
                self.line, self.column = self.line + 1, 1
            self.put(line)
        self.over(number)

    def scalar(self, kind: str, indent: int) -> tuple[str, str]:
        """How a text is written, lines parted by a line feed, and what it is."""
        word = self.choose.choice(["x", "gpu-node", "a b", "é😀", "x#y", "http://a:b/c", "~", "12"])
        pad = " " * (indent + 1)
        if kind == "plain":
            return self.choose.choice([(word, word), (f"{word}\n{pad}{word}", f"{word} {word}")])
        if kind == "single":
            return f"'it''s {word}\n\n{pad}x'", f"it's {word}\nx"
        if kind == "double":
            return f'"\\x41\\u00e9{word}\\\n{pad} \\\\"', f"A\u00e9{word}\\"
        return f"|-\n{pad}{word}\n{pad} {BLOCK_END}", f"{word}\n {BLOCK_END}"

    def flow(self, kind: str, indent: int, depth: int) -> None:
        """A list or mapping in brackets, over several lines perhaps."""
        number = self.note("sequence" if kind == "list" else "mapping")
        self.put("[" if kind == "list" else "{")
        for index in range(self.choose.randint(0, 3)):
            if index:
                self.put(",")
            if self.choose.random() < 0.3:
                self.end_line()
                self.put(" " * (indent + 1))
            self.put(" ")
            if kind == "map":
                self.key(index)
                self.put(" ")
            self.value(indent, depth + 1, flow=True)
        self.put(" ]" if kind == "list" else " }")
        self.over(number)

    def block(self, kind: str, indent: int, depth: int) -> None:
        """A list or mapping by indentation, on the lines that follow."""
        self.put(self.choose.choice(["", "", " &block", " &b # !x"]))
        self.end_line()
        column = indent + self.choose.choice([1, 2, 4])
        self.put(" " * column)
        number = self.note("sequence" if kind == "list" else "mapping")
        for index in range(self.choose.randint(1, 3)):
            if index:
                self.end_line()
                self.put(" " * column)
            if kind == "map":
                self.key(index)
                self.put(" ")
            else:
                self.put("- ")
            self.value(column, depth + 1)
        self.over(number)

    def key(self, index: int) -> None:
        """A key and its colon."""
        written, text = self.choose.choice([(f"k{index}", f"k{index}"), (f"'k {index}'", f"k {index}")])
        number = self.note("scalar", text)
        self.put(written)
        self.over(number)
        self.put(":")

    def document(self) -> list[list[Any]]:
        """A whole document; what was noted."""
        self.put(self.choose.choice(["", "", "---"]))
        self.block("map", -1, 0) if self.text else self.first()
        self.end_line()
        return self.noted

    def first(self) -> None:
        """A mapping that begins with the first character."""
        number = self.note("mapping")
        for index in range(3):
            if index:
                self.end_line()
            self.key(index)
            self.put(" ")
            self.value(0, 1)
        self.over(number)


@both_loaders
def test_every_value_stands_where_it_was_written(loader: Any) -> None:
    for seed in range(400):
        writer = Writer(random.Random(seed))
        noted = [tuple(note) for note in writer.document()]
        with scanning_with(loader):
            root = composed(writer.text)
        found = [(node.kind, node.start, node.end, node.text) for node in nodes(root)]
        assert found == noted, f"seed {seed}: {writer.text!r}"


def test_an_empty_value_stands_behind_its_key_or_its_anchor() -> None:
    root = composed("a:\nb: &x\nc: [&y , !!str ]\nd: &z # &w\ne: {f, g: }\n")
    places = {key: (value.start, value.end) for key, (_, value) in root.entries.items()}
    assert places["a"] == ((1, 3), (1, 3))
    assert places["b"] == ((2, 6), (2, 6))
    assert [item.start for item in root.entries["c"][1].items] == [(3, 7), (3, 15)]
    assert places["d"] == ((4, 6), (4, 6))
    assert places["e"] == ((5, 4), (5, 12))


def test_a_source_finds_its_lines_by_every_break_of_yaml() -> None:
    source = Source("a", "one\ntwo\r\nthree\rfour\x85five\u2028six\u2029\x0bseven")
    lines = ["one", "two", "three", "four", "five", "six", "\x0bseven"]
    assert [source.line(number) for number in range(9)] == ["", *lines, ""]
    for number, line in enumerate(lines, 1):
        for column in range(1, len(line) + 2):
            assert source.position(source.offset(number, column)) == (number, column)


# --- the characters of a value ----------------------------------------------------------------------------------------


def assert_exact(node: Node) -> None:
    """Every visible character of a value is found where it, or its escape, is written; positions only grow."""
    text = node.source.text
    last = -1
    for index, char in enumerate(node.text):
        span = inside(node, index, index + 1)
        offset = node.source.offset(*span[1:3])
        assert offset > last, (text, index)
        last = offset
        if char in " \t\n\u2028\u2029":
            continue
        shown = written(span, text)
        if node.style == '"' and shown[0] == "\\":
            assert yaml.safe_load(f'"{shown}"') == char, (text, index)
        else:
            assert shown == ("''" if node.style == char == "'" else char), (text, index)


def assert_whole_is_exact(text: str) -> None:
    """Every value of a text is exact, if it is YAML at all."""
    root, errors = compose(Source("a.yaml", text))
    for error in errors:
        assert_error(error, text)
    for node in nodes(root) if root is not None else ():
        assert_inside(node.span, text)
        if node.kind == "scalar":
            assert_exact(node)


def assert_error(error: YamlError, text: str) -> None:
    """An error has a code, a sentence and places in the text."""
    assert re.fullmatch("YML1[0-9]{2}", error.code)
    assert error.message
    for span in filter(None, (error.span, error.related)):
        assert_inside(span, text)


HEADS = st.sampled_from(
    ["k: ", "- ", "k:\n  - ", "a:\n    b: ", "k: &a ", "- !!str ", "? ", "[{x: 1}, ", "k: &a\n  !!str\n   "]
)
LINE_BREAKS = st.sampled_from(["\n", "\r\n", "\r", "\x85", "\u2028"])
WORDS = st.text(
    st.characters(categories=["L", "N", "S"], exclude_characters="\u2028\u2029\x85"), min_size=1, max_size=8
)
FOLDS = st.sampled_from([" ", "  ", " \t ", "\n", " \n", "\n\n", "\n \n\n", "\n\t", "\t\n\n "])


@st.composite
def plain(draw: st.DrawFn) -> str:
    """Words on one line or several."""
    words = draw(st.lists(WORDS, min_size=1, max_size=6))
    return words[0] + "".join(f"{draw(FOLDS)}{word}" for word in words[1:])


@st.composite
def single_quoted(draw: st.DrawFn) -> str:
    """Anything between single quotes."""
    pieces = draw(st.lists(WORDS | FOLDS | st.sampled_from(["''", '"', "\\", "\\n", ": ", " #", "{", "]"]), max_size=8))
    return f"'{''.join(pieces)}'"


@st.composite
def escape(draw: st.DrawFn) -> str:
    """An escape of double quoted text."""
    char = ord(draw(st.characters(exclude_categories=["Cs"])))
    forms = [f"\\U{char:08X}"] + [f"\\u{char:04x}"] * (char < 0x10000) + [f"\\x{char:02x}"] * (char < 256)
    return draw(st.sampled_from(forms) | st.sampled_from(list('0abtnvfre "/\\N_LP\t')).map("\\{}".format))


@st.composite
def double_quoted(draw: st.DrawFn) -> str:
    """Anything between double quotes: escapes, folds, escaped line breaks."""
    breaks = st.sampled_from(["\\\n", "\\\n  ", " \\\n\n\n ", "\\\n \\ "])
    pieces = draw(st.lists(WORDS | FOLDS | escape() | breaks | st.sampled_from(["'", ": ", " #", "{"]), max_size=8))
    return f'"{"".join(piece.replace(chr(34), "") if piece[0] != chr(92) else piece for piece in pieces)}"'


@st.composite
def block_scalar(draw: st.DrawFn) -> str:
    """A literal or folded block with every sort of header, and lines that are empty, indented or neither."""
    indent = draw(st.integers(5, 8))
    header = draw(st.sampled_from(["", "-", "+"])) + draw(st.sampled_from(["", " # comment", "  "]))
    lines = draw(
        st.lists(st.sampled_from(["", "", " ", "\t"]) | WORDS | st.builds("  {} \t{}".format, WORDS, WORDS), max_size=7)
    )
    first = next((line for line in lines if line.strip()), "x")
    if first[0] == " " or draw(st.booleans()):  # the indentation would be taken from a line that has more of it
        lines.insert(0, "x")
    body = "\n".join(" " * indent + line if line else " " * draw(st.integers(0, indent)) for line in lines)
    return f"{draw(st.sampled_from('|>'))}{header}\n{body}{draw(st.sampled_from(['', chr(10), chr(10) * 3]))}"


@both_loaders
@settings(max_examples=300)
@given(
    head=HEADS,
    value=plain() | single_quoted() | double_quoted() | block_scalar(),
    newline=LINE_BREAKS,
    tail=st.sampled_from(["", "\n", "\n# end\n"]),
)
@example(head="k: ", value="'it''s\n\n     x'", newline="\r\n", tail="\n")
@example(head="k: ", value='"a\\\n     b"', newline="\r\n", tail="\n")
@example(head="- ", value=">-\n     a\n     b\n\n      c\n     d\n\n\n", newline="\r\n", tail="\n")
def test_every_character_of_a_value_is_found_where_it_is_written(
    loader: Any, head: str, value: str, newline: str, tail: str
) -> None:
    indented = value if value[0] in "|>" else value.replace("\n", "\n     ")
    text = (head + indented + (" ]" if head[0] == "[" else "") + tail).replace("\n", newline)
    with scanning_with(loader):
        root, errors = compose(Source("a.yaml", text))
        assume(root is not None and not errors)
        assert_whole_is_exact(text)


@pytest.mark.parametrize(
    ("text", "start", "end", "shown"),
    [
        ("k: rate(x[5m])", 5, 6, "x"),
        ("k: 'a''b'", 1, 2, "''"),
        ("k: 'a''b'", 2, 3, "b"),
        (r'k: "a\x41\u00e9\U0001F600\tz"', 3, 4, r"\U0001F600"),
        (r'k: "a\x41\u00e9\U0001F600\tz"', 1, 4, r"\x41\u00e9\U0001F600"),
        ('k: "sum(\\\n    x)"', 4, 5, "x"),
        ("k: a\n  b", 1, 3, "\n  b"),
        ("k: a\r\n\r\n  b", 2, 3, "b"),
        ("k: |\n  ab\n   cd\n", 4, 6, "cd"),
        ("k: |1\n   ab\n", 2, 4, "ab"),
        ("k: >2\n    ab\n  cd\n", 5, 7, "cd"),
        ("k: >\n  ab\n  cd\n", 3, 5, "cd"),
        ("- &x !!str >-2\n    ab\n", 0, 4, "  ab"),
        ("k: !!str a\n  b\n", 2, 3, "b"),
        ("k: &é x", 0, 1, "x"),
    ],
)
def test_parts_of_a_value(text: str, start: int, end: int, shown: str) -> None:
    if "é" in text:  # no anchor's name: told, and no guess
        assert faults(text)[0][0] == "YML101"
        return
    (value,) = [node for node in nodes(composed(text)) if node.kind == "scalar"][-1:]
    assert written(inside(value, start, end), text) == shown


@pytest.mark.parametrize("text", ["k: ", "k: ''", "k: x", "k: |\n", "k: |+\n\n\n", "k: 'x'", "k: *a", "k: [a, b]"])
@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 1), (1, 1), (1, 9), (5, 6), (7, 3)])
def test_a_part_that_is_not_there_is_somewhere_in_the_text(text: str, start: int, end: int) -> None:
    root, _ = compose(Source("a.yaml", text))
    for node in nodes(root) if root else ():
        assert_inside(inside(node, start, end), text)


# --- no exception, ever -----------------------------------------------------------------------------------------------

# What means something to a scanner of YAML, and what means nothing to it but something to those behind it.
TOKENS = [
    *"abk019 \t\n\r\"'\\|>&*!%@`#:-?,[]{}<=~", "\n  ", "\n    ", "\r\n", "\x85", "\u2028", "é", "😀", "\ufeff", "\0",
    ": ", "- ", "? ", "---\n", "...\n", "&a ", "*a", "!!str ", "!!map", "!<x>", "<<", "|+2\n", ">-\n", "\\x41", "\\u",
    "''", '""', "%YAML 1.2\n", "%TAG ! x\n", "{a: [", "]}", "key: value\n", "  key: value\n", "- - - ", "1e999", "0o17",
    "\\U", "\x1b",
]  # fmt: skip


@both_loaders
@settings(max_examples=600)
@given(st.lists(st.sampled_from(TOKENS) | st.text(max_size=4), max_size=25).map("".join))
def test_no_text_is_an_exception(loader: Any, text: str) -> None:
    with scanning_with(loader):
        assert_whole_is_exact(text)
        root, _ = compose(Source("a.yaml", text))
        if root is not None:
            root.data()


@both_loaders
def test_no_mutation_of_a_spec_is_an_exception(loader: Any) -> None:
    chance = random.Random(20)
    with scanning_with(loader):
        for _ in range(300):
            text = chance.choice(SPECS)
            at = chance.randrange(len(text))
            text = text[max(0, at - 600) : at + 600]  # a window: the long files are many lines alike
            for _ in range(chance.randint(1, 4)):
                at, width = chance.randrange(len(text) + 1), chance.choice([0, 0, 1, 1, 5, 40])
                text = text[:at] + chance.choice([*TOKENS, text[at : at + 60]]) + text[at + width :]
            assert_whole_is_exact(text)

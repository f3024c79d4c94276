"""YAML as it is printed: read back letter by letter, by Python and by Go."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tocsin.emit.text import Lines, flow, scalar
from tocsin.source import Span
from toolbox import Tool

LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])]
INDENTS = st.sampled_from(["", "  ", "- ", "  - ", "        "])

# What some reader of YAML takes for something else than these texts, or refuses.
NASTY = [
    *(
        "yes",
        "no",
        "on",
        "off",
        "y",
        "n",
        "Y",
        "True",
        "FALSE",
        "null",
        "Null",
        "~",
        "None",
        "nan",
        ".nan",
        "-.inf",
        "<<",
    ),
    *("0", "1", "-1", "+1", "007", "0o7", "0x1", "0b1", "1_000", "1e3", "1.", ".5", "1:30", "190:20:30", "2026-01-01"),
    *(" ", "  ", " a", "a ", "\ta", "a\t", "a\tb", "\n", "\r", "\r\n", "a\nb", "a\n", "\na", "a\n\n", "a\n b", " a\nb"),
    *("a\n  ", "a\n\tb", "a \nb", "a\n\nb", "a\n---\nb", "---", "...", "--- a", "a\n...", "%YAML", "a\r\nb", "a\n# b"),
    *(
        "#",
        "# a",
        "a #b",
        "a#b",
        ":",
        "a:",
        ": a",
        "a: b",
        "a:b",
        "::",
        "-",
        "- a",
        "-a",
        "?",
        "? a",
        "!",
        "!!str",
        "!a",
    ),
    *(
        "&",
        "&a",
        "*",
        "*a",
        "|",
        "|-",
        "> a",
        ">",
        "%",
        "@",
        "@a",
        "`",
        "`a`",
        ",",
        "a, b",
        "a,b",
        "[",
        "[a]",
        "]",
        "{",
    ),
    *(
        "{a}",
        "{a: b}",
        "}",
        '"',
        '"a"',
        'a"b',
        "'",
        "'a'",
        "a'b",
        "''",
        '""',
        "a\"b'c",
        "'\"",
        "\\",
        "\\n",
        "a\\",
        '\\"',
    ),
    *(
        "=",
        "a=b",
        "http://a.b/c?d=e&f#g",
        "/a/b",
        "//",
        "a/",
        "a.",
        "a.b",
        "a-",
        "_",
        "$",
        "${a}",
        "$1",
        "$$",
        "%s",
        "{%",
    ),
    *('m{a="b"}', "m{a='b'}", 'm{a=~"b.*|c"} > 1', "a\n  and b", "sum by (x) (\n  y\n)", 'x == "a\nb"', "<", "< >"),
    *("\x00", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x1f", "\x7f", "\x80", "\x85", "a\x85b", "\x9f", "\xa0"),
    *(
        "\xad",
        "\u2028",
        "\u2029",
        "a\u2028b",
        "\ufeff",
        "a\ufeffb",
        "\ufffd",
        "\ufffe",
        "\uffff",
        "\u200b",
        "\u202e",
        "é",
    ),
    *(
        "e\u0301",
        "ñandú",
        "日本語",
        "😀",
        "a😀b",
        "\U0001fffe",
        "\U0010ffff",
        "\ue000",
        "\ud7ff",
        "a\n\x85b",
        "a\n\ufffeb",
    ),
]

# A spec holds no lone surrogates: its file would not be UTF-8.
CHARACTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from(
    " \n\t'\"\\:#-{}[],&*!|>%@`?~\r\x85\u2028\ufeff"
)
TEXT = st.text(CHARACTERS, max_size=20) | st.sampled_from(NASTY)


def read(text: str) -> list[Any]:
    """The document as each of PyYAML's loaders reads it."""
    return [yaml.load(text, loader) for loader in LOADERS]


def same(text: str, document: object) -> None:
    """Every loader reads the document from the text."""
    assert read(text) == [document] * len(LOADERS), text


@given(TEXT)
def test_a_scalar_is_read_back_as_key_value_and_item(text: str) -> None:
    one = scalar(text)
    assert one.splitlines() == [one]
    same(f"key: {one}\nnext: 1\n", {"key": text, "next": 1})
    same(f"{one}: 1\nzz zz: 2\n", {text: 1, "zz zz": 2})
    same(f"- {one}\n- {one}\n", [text, text])
    same(f"{{series: {one}, values: {one}}}\n", {"series": text, "values": text})


@pytest.mark.parametrize("text", NASTY, ids=ascii)
def test_every_nasty_text_is_read_back(text: str) -> None:
    lines = Lines("")
    lines.field("", "key", text)
    lines.add(f"again: {scalar(text)}")
    same(printed(lines), {"key": text, "again": text})


@given(st.lists(TEXT, max_size=4))
def test_a_list_on_one_line_is_read_back(texts: list[str]) -> None:
    assert "\n" not in flow(texts)
    same(f"key: {flow(texts)}\n", {"key": texts})


def printed(lines: Lines) -> str:
    """The text without its header."""
    return lines.artifact("x.yml").text


@settings(max_examples=300)
@given(INDENTS, TEXT, TEXT)
@example("  - ", "a\n  ", "a\n b")
def test_a_field_is_read_back_at_every_depth(indent: str, first: str, second: str) -> None:
    lines = Lines("A header\nof two lines")
    for depth in range(0, len(indent), 2):
        if indent[depth] == " ":
            lines.add(f"{indent[:depth]}in:")
    lines.field(indent, "key", first)
    lines.field(indent.replace("-", " "), "other", second)
    inner: Any = {"key": first, "other": second}
    if "-" in indent:
        inner = [inner]
    for _ in range(indent.count("  ") if "-" not in indent else (len(indent) - 2) // 2):
        inner = {"in": inner}
    same(printed(lines), inner)


@settings(max_examples=300)
@given(INDENTS, st.dictionaries(TEXT, TEXT, max_size=4))
def test_a_mapping_is_read_back_and_an_empty_one_is_not_there(indent: str, values: dict[str, str]) -> None:
    indent = indent.replace("-", " ")
    lines = Lines("A header")
    lines.add(f"{indent}zz zz: 1")
    lines.mapping(indent, "key", values)
    same(printed(lines), {"zz zz": 1} | ({"key": values} if values else {}))


@pytest.mark.parametrize(
    "text", ["GpuLost", "node:gpus_present:count", "gpu-node-01", "/a/b", "a.b_c", "http://a:9090"]
)
def test_a_simple_text_stays_as_it_is(text: str) -> None:
    assert scalar(text) == text


def test_promql_stays_readable() -> None:
    assert scalar('up{job="dcgm"} == 0') == "'up{job=\"dcgm\"} == 0'"
    lines = Lines("")
    lines.field("  - ", "expr", 'up{job="dcgm"} == 0\nand on (node) x')
    assert printed(lines) == '  - expr: |-\n      up{job="dcgm"} == 0\n      and on (node) x\n'


def test_each_line_knows_where_it_came_from() -> None:
    here, there = (Span("spec.yaml", line, 1, line, 2) for line in (1, 9))
    lines = Lines("Two lines\nof header")
    lines.at(here)
    lines.add("a: 1")
    lines.at(here)
    lines.add("b: 2")
    lines.at(there)
    lines.field("", "c", "x\ny")
    artifact = lines.artifact("x.yml")
    assert artifact.text == "# Two lines\n# of header\na: 1\nb: 2\nc: |-\n  x\n  y\n"
    assert artifact.origins == ((1, here), (5, there))
    assert [artifact.origin(line) for line in range(1, 8)] == [here] * 4 + [there] * 3


# -- Go ----------------------------------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Every character by its number: nothing is left for a reader to misunderstand."""
    return '"' + "".join(f"\\U{ord(char):08X}" for char in text) + '"'


def nasty_texts() -> list[str]:
    """The nasty texts, alone and side by side; without {{, which begins a template of Prometheus."""
    pairs = [one + other for one, other in zip(NASTY, reversed(NASTY), strict=True)]
    lines = [f"{one}\n{other}" for one, other in zip(NASTY[1:], NASTY, strict=False)]
    return [text for text in dict.fromkeys([*NASTY, *pairs, *lines]) if "{{" not in text]


def test_go_reads_every_text_as_it_was_meant(promtool: Tool, tmp_path: Path) -> None:
    """Labels and annotations of real rules, against the same texts with every character escaped."""
    texts = nasty_texts()
    assert len(texts) > 500
    rules = Lines("Rules with nasty texts")
    for line in ("groups:", "- name: nasty", "  rules:"):
        rules.add(line)
    expected = ["rule_files: [rules.yml]", "tests:", "- alert_rule_test:", "  - eval_time: 0s", "    alertname: Nasty"]
    expected.append("    exp_alerts:")
    for number, text in enumerate(texts):
        rules.field("  - ", "alert", "Nasty")
        rules.field("    ", "expr", "vector(1)")
        rules.mapping("    ", "labels", {"number": str(number), "text": text})
        rules.mapping("    ", "annotations", {"text": text, "again": f"begin{text}end"})
        expected.append(f'    - exp_labels: {{number: "{number}", text: {escaped(text)}}}')
        expected.append(f"      exp_annotations: {{text: {escaped(text)}, again: {escaped(f'begin{text}end')}}}")
    (tmp_path / "rules.yml").write_text(rules.artifact("rules.yml").text, "utf-8")
    (tmp_path / "test.yml").write_text("\n".join(expected), "ascii")
    run = subprocess.run([promtool.path, "test", "rules", tmp_path / "test.yml"], capture_output=True, check=False)
    assert run.returncode == 0, (run.stdout + run.stderr).decode()[-5000:]

"""Broken specs by the thousand: whatever people write, the compiler answers with diagnostics or with files."""

from __future__ import annotations

import csv
import json
import os
import random
import re
from typing import TYPE_CHECKING

import pytest
import yaml

from conftest import ROOT
from tocsin.codes import catalogue
from tocsin.diagnostics import Log
from tocsin.pipeline import compile_spec
from tocsin.report import FORMATS, report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tocsin.artifact import Artifact
    from tocsin.source import Source, Span

# Thousands of cases, which measuring makes twice as slow; what they reach is reached elsewhere.
pytestmark = pytest.mark.no_cover

SPECS = ROOT / "specs"
# Fewer hosts than the examples: the same rules come out of them, faster.
ROOTS = [
    path.read_text("utf-8").replace("[01-64]", "[01-04]").replace("[01-56]", "[01-02]").replace("[57-64]", "[03-04]")
    for path in sorted(SPECS.glob("*.yaml"))
]
PARTS = [path.read_text("utf-8") for path in sorted(SPECS.glob("slos/*.yaml"))]
CASES, LONG, CHUNK = 1500, 200_000, 25_000

VALUES = [
    value.replace("⏎", "\n")
    for value in r"""\
~ ¦ 0 ¦ -1 ¦ 1 ¦ 3 ¦ 1e3 ¦ 1e999 ¦ -0 ¦ 0o17 ¦ 0x7f ¦ .5 ¦ 1.0 ¦ 2.42 ¦ 99999999999999999999999 ¦ true ¦ no
[] ¦ {} ¦ [[]] ¦ [{}] ¦ {a: b} ¦ {a: {b: c}} ¦ [a, b] ¦ [~] ¦ '' ¦ "\0" ¦ "\n" ¦ "a\nb" ¦ "\x1b[31m" ¦ "\u2028"
"\ufeff" ¦ "\uffff" ¦ "\ud800" ¦ "\U0001F600" ¦ é ¦ ａ ¦ İ ¦ ß ¦ '{{ $labels.x }}' ¦ x y ¦ '{{ template "x" . }}'
'{{' ¦ '$1' ¦ '${HOME}' ¦ '%s' ¦ '%' ¦ '#' ¦ '"' ¦ "'" ¦ '\' ¦ a\ ¦ ../.. ¦ /etc/passwd ¦ ../../etc/passwd
slos/*.yaml ¦ '*' ¦ '**/*' ¦ '[!a]*' ¦ - ¦ --help ¦ $(id) ¦ ';' ¦ `id` ¦ 0% ¦ 100% ¦ 99.999999999999999%
0.000000000000001% ¦ 50% ¦ 97% ¦ -5% ¦ 0s ¦ 1ms ¦ 999999999y ¦ 28d ¦ 13d ¦ 92d ¦ 1d ¦ 0/s ¦ 1/d ¦ 999999999999999/s
0.000000000000001/d ¦ 5M ¦ 0k ¦ 1G ¦ 400Gb/s ¦ 0Gb/s ¦ 0.000000000000001Mb/s ¦ 999999999999999Tb/s ¦ gpu-node-[1-3]
gpu-node-[01-03,02] ¦ gpu-node-[3-1] ¦ gpu-node-[1-3000] ¦ 'a[1-2' ¦ '[1-2]' ¦ a[] ¦ a[1][2] ¦ h100 ¦ none
infiniband ¦ static ¦ kubernetes ¦ xid ¦ job_metadata ¦ cluster ¦ node ¦ le ¦ __name__ ¦ job ¦ http://a
https://a:99999/ ¦ http://[::1]/ ¦ http://a b/ ¦ http://u:p@h/ ¦ ftp://a ¦ http://%zz/ ¦ http://x/$1{{ . }} ¦ a:0
a:65536 ¦ a:1 ¦ 'x{a="b"}' ¦ '{a="b"}' ¦ up ¦ 'up[5m]' ¦ sum(up) ¦ 'inference_requests_total{code=~"("}'
'inference_requests_total{code=~"\\p{Foo}"}' ¦ 'inference_requests_total{code="\\xff"}'
'inference_requests_total{code!~".*"}' ¦ 'inference_requests_total{code=~"(a{1000}){1000}"}'
inference_requests_total ¦ 'inference_requests_total{service="a\\nb{{ }}"}'
'inference_requests_total{code=~"4.."}' ¦ 'inference_requests_total offset 5m' ¦ train_checkpoints_total
DCGM_FI_DEV_XID_ERRORS ¦ DCGM_FI_DEV_GPU_TEMP ¦ node_infiniband_link_downed_total ¦ inference_requests_total_sum
inference_request_duration_seconds_count ¦ '(?i)[a-z]+' ¦ '(a*)*b' ¦ '(' ¦ '[[:foo:]]' ¦ '\\C' ¦ '(?<n>a)'
'a{1001}' ¦ '.*' ¦ '^$' ¦ xoxb-1-2 ¦ 0123456789abcdef0123456789abcdef ¦ &x y ¦ *x ¦ *y ¦ &x {a: 1} ¦ !!int 5
!!binary x ¦ !<x> y ¦ << ¦ ? x ¦ - x ¦ |⏎    x⏎ ¦ >-⏎    x ¦ |2⏎  x ¦ { ¦ } ¦ [ ¦ ] ¦ # ¦ : ¦ ---
... ¦ %YAML 1.1 ¦ @ ¦ `""".replace("\n", " ¦ ").split(" ¦ ")
]
VALUES += ["", ": ", "- ", "? ", "\t", "\r", "\x85", "\0", "\u202e", "x" * 3000, "a-" * 60 + "a"]
VALUES += [f"'inference_requests_total{{code=~\"{'a?' * 1200}\"}}'"]


def mutated(text: str, chance: random.Random) -> str:
    """The text with one thing changed."""
    return chance.choice(MUTATIONS)(text, chance)


def flip_byte(text: str, chance: random.Random) -> str:
    raw = bytearray(text.encode("utf-8", "surrogateescape"))
    if raw:
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    return raw.decode("utf-8", "surrogateescape")


def drop_line(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines) + 1)
    return "".join(lines[:at] + lines[at + chance.choice([1, 1, 2, 5]) :])


def repeat_line(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines) + 1)
    return "".join(lines[:at] + lines[at : at + chance.choice([1, 1, 3])] + lines[at:])


def swap_lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def cut(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + text[at + chance.choice([1, 1, 2, 10, 100]) :]


def insert(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(VALUES) + text[at:]


TOKEN = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|[^\s,{}\[\]:#]+(?::[^\s,{}\[\]#]+)*")
LANGUAGE = re.compile(
    r"[a-z_]+_total(?:\{[^{}\n]*\})?|\{\n[^{}]*\}|\"\[[^\"\n]*\"|[a-z0-9_-]+\[[0-9,-]+\]|[0-9.]+[%a-zA-Z/]+"
)
SIGNS = [
    *"{}()[]\"'\\~=!,.*+?|^$-/%@:;#&<>09aZ_ ",
    "\n",
    "\0",
    "é",
    "\\\\x",
    "\\\\p{L}",
    "{9}",
    "(?:",
    "[^",
    "=~",
    "[5m]",
]
KEY = re.compile(r"[\w-]+(?=:(?: |\n))")


def replace_token(text: str, chance: random.Random) -> str:
    """A key or a value becomes another one of the text, or a nasty one."""
    tokens = list(TOKEN.finditer(text))
    if not tokens:
        return text
    found, other = chance.choice(tokens), chance.choice(tokens)
    return text[: found.start()] + chance.choice([chance.choice(VALUES), other[0]]) + text[found.end() :]


def replace_value(text: str, chance: random.Random) -> str:
    """All that stands behind the colon of a key."""
    keys = list(KEY.finditer(text))
    if not keys:
        return text
    found = chance.choice(keys)
    end = re.compile(r"[,}\n]|$").search(text, found.end())
    return f"{text[: found.end()]}: {chance.choice(VALUES)}{text[end.start() if end else len(text) :]}"


def retouch(text: str, chance: random.Random) -> str:
    """A few characters of a value: of a selector, an expression, a range, a number."""
    tokens = list(chance.choice([TOKEN, LANGUAGE]).finditer(text))
    if not tokens:
        return text
    found = chance.choice(tokens)
    value = found[0]
    for _ in range(chance.choice([1, 1, 2])):
        at = chance.randrange(len(value) + 1)
        value = value[:at] + chance.choice(["", *SIGNS]) + value[at + chance.choice([0, 1]) :]
    return text[: found.start()] + value + text[found.end() :]


def rename_key(text: str, chance: random.Random) -> str:
    keys = list(KEY.finditer(text))
    if not keys:
        return text
    found, other = chance.choice(keys), chance.choice(keys)
    return text[: found.start()] + chance.choice([other[0], chance.choice(VALUES)]) + text[found.end() :]


def splice(text: str, chance: random.Random) -> str:
    """A key with all that is below it, of this text or another one, at another place and its indentation."""
    lines, others = text.splitlines(), chance.choice([text, *ROOTS, *PARTS]).splitlines()
    if not lines or not others:
        return text
    start, to = chance.randrange(len(others)), chance.randrange(len(lines))
    width = indent(others[start])
    end = next((n for n in range(start + 1, len(others)) if indent(others[n]) <= width), len(others))
    moved = [" " * indent(lines[to]) + line[width:] for line in others[start:end]]
    return "\n".join(lines[:to] + moved + lines[to + chance.choice([0, 1]) :]) + "\n"


def indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


# Those that keep the text YAML more often, so that the later stages see it, stand here more often.
MUTATIONS = [flip_byte, drop_line, repeat_line, swap_lines, cut, insert]
MUTATIONS += [replace_token, replace_value, retouch, retouch, rename_key, splice] * 3


def case(number: int) -> str:
    """The spec with this number: the same for ever."""
    chance = random.Random(number)
    text = chance.choice(ROOTS)
    for _ in range(chance.choice([1, 1, 1, 2, 3, 8])):
        text = mutated(text, chance)
    return text


def judge(number: int, text: str, path: str = "-") -> None:
    """Compile a spec; whatever it is, the answer is a lawful one."""
    log = Log()
    sources: dict[str, Source] = {}
    raw = text.encode("utf-8", "surrogateescape")
    compiled = compile_spec(path, log, sources, raw if path == "-" else None)
    assert (compiled is None) == log.failed
    diagnostics = log.sorted()
    for diagnostic in diagnostics:
        assert diagnostic.code in catalogue()
        assert diagnostic.message.strip()
        for span in (diagnostic.span, *(related.span for related in diagnostic.related)):
            assert_in_text(span, sources)
    for form in FORMATS:
        report(form, diagnostics, sources).encode("utf-8")
    if compiled is not None:
        assert_lawful(compiled.artifacts, parse=number % 20 == 0)


def assert_in_text(span: Span, sources: dict[str, Source]) -> None:
    """A place is in a text that was read; a text that could not be read has only a beginning."""
    if span.path not in sources:
        assert (span.path, span.line) == ("-", 1) or span.line >= 1
        return
    source = sources[span.path]
    assert 1 <= span.line <= span.end_line <= len(source.line_starts)
    assert 1 <= span.column <= len(source.line(span.line)) + 1
    assert (span.line, span.column) <= (span.end_line, span.end_column)
    assert span.end_column <= len(source.line(span.end_line)) + 2


def assert_lawful(artifacts: Sequence[Artifact], *, parse: bool) -> None:
    """Every file has a path of its own below the folder, text that is UTF-8, and is of its format."""
    assert len({artifact.path for artifact in artifacts}) == len(artifacts)
    for artifact in artifacts:
        assert re.fullmatch(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*", artifact.path)
        assert not {".", ".."} & set(artifact.path.split("/"))
        artifact.text.encode("utf-8")
        if not parse:
            continue
        if artifact.path.endswith((".yml", ".yaml")):
            yaml.load(artifact.text, yaml.CSafeLoader)
        elif artifact.path.endswith(".json"):
            json.loads(artifact.text)
        else:
            list(csv.reader(artifact.text.splitlines(), strict=True))


def judge_all(numbers: range) -> int:
    """Judge many cases; how many of them became files."""
    for number in numbers:
        text = case(number)
        try:
            judge(number, text)
        except Exception as error:
            error.add_note(f"case {number}:\n{text}")
            raise
    return len(numbers)


@pytest.fixture(autouse=True)
def beside_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The includes of a spec on standard input lie below the working directory."""
    monkeypatch.chdir(SPECS)


def test_broken_specs_become_diagnostics_or_files() -> None:
    assert judge_all(range(CASES)) == CASES


def test_mutations_reach_every_stage() -> None:
    """Otherwise the test above would be easy to pass."""
    codes = set()
    files = 0
    for number in range(800):
        log = Log()
        compiled = compile_spec("-", log, {}, case(number).encode("utf-8", "surrogateescape"))
        codes |= {diagnostic.code[:3] for diagnostic in log.sorted()}
        files += compiled is not None
    assert codes >= {"YML", "SPC", "SEC", "OWN", "LBL", "CLU", "SIG", "SLO", "PQL", "TEN", "TGT"}
    assert files > 20


@pytest.mark.parametrize("text", ROOTS)
def test_what_is_mutated_is_right_itself(text: str) -> None:
    log = Log()
    assert compile_spec("-", log, {}, text.encode()) is not None
    assert not log.sorted()


def test_broken_parts_become_diagnostics_or_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "spec.yaml"
    root.write_text(next(text for text in ROOTS if "include:" in text), "utf-8")
    os.mkdir("slos")
    for number in range(150):
        chance = random.Random(number)
        for name, text in zip(("one.yaml", "two.yaml"), PARTS, strict=False):
            broken = mutated(text, chance) if chance.random() < 0.7 else text
            (tmp_path / "slos" / name).write_bytes(broken.encode("utf-8", "surrogateescape"))
        judge(number, "", str(root))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(CASES, CASES + LONG, CHUNK))
def test_broken_specs_become_diagnostics_or_files_for_long(first: int) -> None:
    assert judge_all(range(first, first + CHUNK)) == CHUNK

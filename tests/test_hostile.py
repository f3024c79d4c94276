"""Specs in bad faith: each is refused with a diagnostic or comes out inert, in bounded time and memory.

Times are processor seconds, measured against those of a trivial run beside it; a limit of the kernel ends what exceeds
them, and memory has one as well.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import pickle
import re
import resource
import socket
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import re2
import yaml

from command import MIB, tocsin
from conftest import ROOT
from tocsin import promql
from tocsin.catalog import metrics
from tocsin.cli import run
from tocsin.codes import catalogue
from tocsin.diagnostics import MAX_TOLD, Log
from tocsin.hostlist import MAX_HOSTS
from tocsin.load.files import MAX_BYTES
from tocsin.load.include import MAX_FILES
from tocsin.pipeline import compile_spec
from tocsin.report import FORMATS, report
from toolbox import INSTALL, Tool, found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tocsin.artifact import Artifact

# Thousands of cases, which measuring makes twice as slow; what they reach is reached elsewhere.
pytestmark = pytest.mark.no_cover

SPEC = (ROOT / "specs" / "incident-world.yaml").read_text("utf-8")
MEMORY = 1536 * MIB  # of addresses; a trivial run has a tenth of it
RATIO = 100  # a hostile spec may take so many times the processor time of a trivial one
MANY = 100_000
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")


@cache
def allowance() -> int:
    """The processor seconds that a hostile spec may take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert tocsin(["check", "-"], stdin=SPEC.encode()).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return math.ceil((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * RATIO)


def endured(arguments: list[str | bytes | Path], folder: Path | None = None, stdin: bytes = b"") -> tuple[int, str]:
    """Exit status and standard output of a call within the limits, which ends without a traceback."""
    limits = {resource.RLIMIT_AS: MEMORY, resource.RLIMIT_CPU: allowance()}
    done = tocsin(arguments, folder=folder, stdin=stdin, limits=limits)
    assert done.returncode in (0, 1, 2), f"{done.returncode}: {done.stderr[-500:]}"
    assert "Traceback" not in done.stderr
    assert not CONTROLS.search(done.stdout + done.stderr)
    return done.returncode, done.stdout


def told(text: str | bytes) -> set[str]:
    """The codes with which a spec is refused by a process of its own; none where it is accepted."""
    status, out = endured(["check", "-"], stdin=text if isinstance(text, bytes) else text.encode())
    codes = re.findall(r"^error\[([A-Z]{3}[0-9]{3})\]", out, re.MULTILINE)
    assert len(codes) <= MAX_TOLD
    assert set(codes) <= set(catalogue())
    assert bool(codes) == (status == 1)
    return set(codes)


def told_of_each(folder: Path, names: Iterable[str]) -> dict[str, set[str]]:
    """The codes with which each of some specs in a folder is refused, all of them checked by one process."""
    names = list(names)
    status, out = endured(["check", "--format", "json", *names], folder)
    diagnostics = json.loads(out)["diagnostics"]
    assert {diagnostic["code"] for diagnostic in diagnostics} <= set(catalogue())
    codes: dict[str, set[str]] = {name: set() for name in names}
    for diagnostic in diagnostics:
        codes.setdefault(diagnostic["location"]["path"], set()).add(diagnostic["code"])
    assert status == any(codes.values())
    return codes


def changed(old: str, new: str) -> str:
    """The spec with one part replaced."""
    assert old in SPEC
    return SPEC.replace(old, new, 1)


def many(pattern: str, count: int = MANY) -> str:
    """A pattern with numbers put in, again and again."""
    return "".join(pattern.replace("%", str(number)) for number in range(count))


# --- documents --------------------------------------------------------------------------------------------------------

HOSTS, BAD = 'hosts: "gpu-node-[01-02]"', "'inference_requests_total{code=~\"5..\"}'"
NODE = 'node: {pattern: "gpu-node-[0-9]+"}'
SLO = "  s%: {owner: s%, objective: 99, period: 28d, ratio: {bad: inference_requests_total, total: x}}\n"
CHANNEL = "{slack: {channel: x, api_url_file: a}}"
OWNER = f"  xs%: {{page: {CHANNEL}, ticket: {CHANNEL}, runbooks: https://x/}}\n"


def strangers() -> str:
    """5,000 SLOs of owners that are nearly those of 5,000 others."""
    return changed("slos:\n", f"slos:\n{many(SLO, 5000)}").replace("owners:\n", f"owners:\n{many(OWNER, 5000)}")


def listed(old: str, pattern: str, count: int = MANY) -> str:
    """The spec with many items more at the beginning of a list."""
    return changed(old, f"{old}{many(pattern, count)}")


def hosts(items: str) -> str:
    """The spec with a list of hosts."""
    return changed(HOSTS, f"hosts: [{items}]")


# What is hostile about it, the text, and the codes that it may be refused with; none where it must be accepted.
DOCUMENTS: dict[str, tuple[Callable[[], str | bytes], str]] = {
    "alias bomb": (lambda: f"a: &a x\n{bomb()}", "YML106"),
    "anchor that contains itself": (lambda: "a: &a [*a]\n", "YML106"),
    "anchor that contains itself later": (lambda: "a: &a x\nb: &a {c: *a}\n", "YML106"),
    "aliases of aliases": (
        lambda: "c0: &c0 x\n" + "".join(f"c{i}: &c{i} [*c{i - 1}]\n" for i in range(1, 5000)),
        "YML105",
    ),
    "nested brackets": (lambda: "[" * 10_000, "YML101 YML105"),
    "nested braces": (lambda: "{" * 10_000, "YML101 YML105"),
    "nested keys in braces": (lambda: "{a: " * 10_000, "YML105"),
    "nested lists": (lambda: "- " * 10_000, "YML105"),
    "nested questions": (lambda: "? " * 10_000, "YML105"),
    "nested by indentation": (lambda: "".join(f"{' ' * depth}a:\n" for depth in range(5000)), "YML105"),
    "brackets in a key": (lambda: "[" * 60 + "]" * 60 + ": 1\n", "YML108 SPC106"),
    "50 MB": (lambda: b" " * 50_000_000, "YML110"),
    "as large as allowed": (lambda: b" " * MAX_BYTES, "YML112"),
    "4 MiB of line breaks": (lambda: b"\n" * 4 * MIB, "YML112"),
    "4 MiB of one word": (lambda: b"x" * 4 * MIB, "SPC101"),
    "4 MiB of one string": (lambda: b'"' + b"x" * 4 * MIB, "YML101"),
    "4 MiB of one comment": (lambda: b"#" * 4 * MIB, "YML112"),
    "4 MiB of NUL": (lambda: bytes(4 * MIB), "YML102"),
    "4 MiB of bytes": (lambda: b"\xff" * 4 * MIB, "YML111"),
    "a million values and more": (lambda: "[" + "a," * 2_000_000 + "]", "YML110"),
    "the same key again and again": (lambda: SPEC + "version: 1\n" * MANY, "YML103"),
    "tags": (lambda: SPEC + many("k%: !x 1\n"), "YML107"),
    "NUL": (lambda: SPEC.replace("east", "e\0st"), "YML102"),
    "escape sequences": (lambda: SPEC.replace("east", "\x1b[2Jeast"), "YML102"),
    "not UTF-8": (lambda: SPEC.encode().replace(b"east", b"e\xe4st"), "YML111"),
    "UTF-16, little end first": (lambda: SPEC.encode("utf-16"), "YML111"),
    "UTF-16, big end first": (lambda: b"\xfe\xff" + SPEC.encode("utf-16-be"), "YML111"),
    "UTF-16 without a mark": (lambda: SPEC.encode("utf-16-le"), "YML102"),
    "UTF-32": (lambda: SPEC.encode("utf-32"), "YML111"),
    "a mark of UTF-8": (lambda: b"\xef\xbb\xbf" + SPEC.encode(), ""),
    "two marks of UTF-8": (lambda: b"\xef\xbb\xbf\xef\xbb\xbf" + SPEC.encode(), "YML102"),
    "line ends of Windows": (lambda: SPEC.replace("\n", "\r\n"), ""),
    "line ends of old": (lambda: SPEC.replace("\n", "\r"), ""),
    "nothing": (lambda: "", "YML112"),
    "blanks": (lambda: " \n\n ", "YML112"),
    "a comment": (lambda: "# a spec, some day\n", "YML112"),
    "null": (lambda: "~", "SPC101"),
    "a list": (lambda: "- a\n", "SPC101"),
    "two documents": (lambda: f"{SPEC}---\n{SPEC}", "YML104"),
    "100,000 keys": (lambda: SPEC + many("k%: 1\n"), "SPC110"),
    "100,000 keys on one line": (lambda: "{" + many("k%: 1, ") + "}", "SPC106 SPC110"),
    "100,000 owners": (lambda: listed("owners:\n", "  o%: 1\n"), "SPC102"),
    "100,000 labels": (lambda: listed("labels:\n", "  l%: {}\n"), ""),
    "100,000 values": (lambda: changed("service: {}", f"service: {{values: [{many('v%, ')}]}}"), "CAP105"),
    "100,000 accounts": (lambda: listed("accounts: [", "a%, "), ""),
    "100,000 labels to sum by": (lambda: listed("by: [", "cluster, "), "SLO110"),
    "100,000 signals": (lambda: listed("mandatory: [", "x%, "), "SIG101"),
    "100,000 includes": (lambda: f"{SPEC}include: [{many('x%.yaml, ')}]\n", "INC101"),
    "20,000 matchers": (lambda: listed("inference_requests_total{", 'l%="x",', 20_000), "PQL103"),
    "20,000 lawful matchers": (lambda: listed("inference_requests_total{", 'code=~"5..",', 20_000), ""),
    "5,000 SLOs of nobody among 5,000 owners": (strangers, "OWN101 SIG106 SPC104"),
    "a key of 1 MB": (lambda: f"{SPEC}{'x' * MIB}: 1\n", "YML101"),
    "a key of 1 MB in quotes": (lambda: f"{SPEC}? '{'x' * MIB}'\n: 1\n", "SPC110"),
    "a value of 1 MB": (lambda: changed("incident-world\n", "x" * MIB + "\n"), "SPC103"),
    "a link of 1 MB": (lambda: changed("https://grafana.example.com", f"https://{'x' * MIB}"), "SPC105"),
    "a duration of 1 MB": (lambda: changed("default: 15s", f"default: {'1' * MIB}"), "SPC104"),
    "an account of 1 MB": (lambda: changed("[vision]", f"[{'v' * MIB}]"), ""),
    "a selector of 1 MB": (lambda: changed(BAD, "x" * MIB), "SIG106"),
    "a word of 1 MB on the line of a mistake": (
        lambda: changed("    owner: serving\n", f"    owner: nobody # {'x' * MIB}\n"),
        "OWN101",
    ),
    "an unclosed selector on a line of 1 MB": (lambda: f"{{a: x{{{'=' * MIB}\n", "YML101"),
    "brackets of 100,000 levels in PromQL": (lambda: changed(BAD, "(" * MANY), "PQL101"),
    "an include of 1 MB": (lambda: f"{SPEC}include: ['{'*a' * (MIB // 2)}']\n", "INC101"),
    "a path of 1 MB": (lambda: changed("secrets/pagerduty-network", f"{'a/' * (MIB // 2)}x"), "SEC102 SEC103"),
    "a huge number": (lambda: changed("port: 8000", f"port: {'9' * MANY}"), "SPC102 SPC109"),
    "a number of 40 digits": (lambda: changed("port: 8000", f"port: {'9' * 40}"), "SPC109"),
    "a huge exponent": (lambda: changed("port: 8000", "port: 1e999999999"), "SPC102"),
    "a large exponent": (lambda: changed("port: 8000", "port: 1e999"), "SPC102"),
    "a huge amount": (lambda: changed("min_events: 50", "min_events: 1e999"), "SPC104"),
    "more hosts than there are": (lambda: changed(HOSTS, 'hosts: "n[0-999999999]"'), "CLU101"),
    "one host more than allowed": (lambda: changed(HOSTS, f'hosts: "gpu-node-[0-{MAX_HOSTS}]"'), "CLU101"),
    "a thousand ranges of all hosts": (lambda: hosts(many("'gpu-node-%[1-200000]', ", 1000)), "CLU101"),
    "the same range a thousand times": (lambda: hosts("'gpu-node-[1-200000]', " * 1000), "CLU101 CLU102"),
    "100,000 ranges in brackets": (lambda: changed(HOSTS, f'hosts: "gpu-node-[{many("%,")}0]"'), "CLU102"),
    "100,000 hosts, one by one": (lambda: hosts(many("gpu-node-%, ")), ""),
    "200,000 hosts": (lambda: changed(HOSTS, f'hosts: "gpu-node-[1-{MAX_HOSTS}]"'), ""),
    "200,000 adapters": (lambda: changed(HOSTS, f'{HOSTS}, fabric_devices: "m[1-{MAX_HOSTS}]"'), ""),
    "30,000 hosts among 30,000 values": (
        lambda: changed(NODE, f"node: {{values: [gpu-node-01, gpu-node-02, {many('gpu-node-%, ', 30_000)}]}}").replace(
            HOSTS, 'hosts: "gpu-node-[0-29999]"'
        ),
        "",
    ),
}


def bomb() -> str:
    """Eight levels of eight aliases each."""
    levels = [f"b{i}: &b{i} [{', '.join([f'*b{i - 1}' if i else '*a'] * 8)}]\n" for i in range(8)]
    return "".join(levels)


LARGE = [name for name, (write, _) in DOCUMENTS.items() if len(write()) > 2 * len(SPEC)]
SMALL = [name for name in DOCUMENTS if name not in LARGE]


@pytest.mark.parametrize("name", LARGE)
def test_a_large_document_in_bad_faith_is_refused_or_accepted_in_time(name: str) -> None:
    write, codes = DOCUMENTS[name]
    found_ = told(write())
    assert found_ <= set(codes.split())
    assert bool(found_) == bool(codes)


def test_small_documents_in_bad_faith_are_refused_or_accepted(tmp_path: Path) -> None:
    for name in SMALL:
        text = DOCUMENTS[name][0]()
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, found_ in told_of_each(tmp_path, SMALL).items():
        codes = DOCUMENTS[name][1]
        assert (name, found_ - set(codes.split())) == (name, set())
        assert (name, bool(found_)) == (name, bool(codes))


@pytest.mark.parametrize("name", ["200,000 hosts", "100,000 accounts"])
def test_what_is_accepted_is_built_in_time(name: str, tmp_path: Path) -> None:
    text = DOCUMENTS[name][0]()
    assert isinstance(text, str)
    assert endured(["build", "--no-verify", "--out", tmp_path, "-"], stdin=text.encode())[0] == 0


PATTERNS = {
    "(": "LBL105", "[": "LBL105", "a{1001}": "LBL105", "(a{1000}){1000}": "LBL105", "\\": "LBL105", "(?=a)": "LBL105",
    "(?!a)": "LBL105", r"\1": "LBL105", r"\p{Foo}": "LBL105", "*": "LBL105", "(?P<a": "LBL105", "[z-a]": "LBL105",
    "x" * 3000: "LBL105", "(" * 1500: "LBL105", "((?:[^a]{10}){10}){10}" * 40: "",
    "(a*)*": "", "(a|a)*$": "", "(a|aa)+$": "", "(.*.*.*)*=x": "", "(?i)gpu": "", "": "", "a?" * 900: "",
    "(x+x+)+y": "", "^(([a-z])+.)+[A-Z]([a-z])+$": "", "[0-9]{1,1000}": "",
}  # fmt: skip


def test_hostile_regular_expressions_are_refused_or_judged_in_time(tmp_path: Path) -> None:
    texts = {}
    for number, pattern in enumerate(PATTERNS):
        # A host that none of them matches, on which an engine that goes back would be lost.
        schema = changed('"gpu-node-[0-9]+"', json.dumps(pattern)).replace(HOSTS, f'hosts: "{"a" * 60}x[1-200]"')
        quoted_ = json.dumps(pattern).replace("'", "''")
        texts[f"label-{number}"] = schema
        texts[f"matcher-{number}"] = changed(BAD, f"'inference_requests_total{{service=~{quoted_}, code=~\"5..\"}}'")
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    codes = told_of_each(tmp_path, texts)
    for number, (pattern, code) in enumerate(PATTERNS.items()):
        assert (pattern, codes[f"label-{number}"]) == (pattern, {code or "LBL106"})
        allowed = [{"PQL101"}] if code else [set(), {"PQL104"}, {"SLO111"}]
        assert codes[f"matcher-{number}"] in allowed, pattern


# --- files ------------------------------------------------------------------------------------------------------------


def as_folder(path: Path) -> None:
    path.mkdir()


def as_fifo(path: Path) -> None:
    os.mkfifo(path)


def as_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)  # a longer one may not fit


def as_link_to_zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def as_link_to_nothing(path: Path) -> None:
    path.symlink_to("nothing")


def as_link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


NO_FILES = [as_folder, as_fifo, as_socket, as_link_to_zeros, as_link_to_nothing, as_link_to_itself]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_no_file_is_no_spec(here: Path) -> None:
    for make in NO_FILES:
        make(here / make.__name__)
    codes = told_of_each(here, [make.__name__ for make in NO_FILES])
    assert codes == {make.__name__: {"YML109"} for make in NO_FILES}


def test_what_is_no_file_is_no_part_of_a_spec(here: Path) -> None:
    for make in NO_FILES:
        make(here / make.__name__)
        (here / f"{make.__name__}.yaml").write_text(f"{SPEC}include: [{make.__name__}]\n", "utf-8")
    codes = told_of_each(here, [f"{make.__name__}.yaml" for make in NO_FILES])
    outside = {"as_link_to_zeros"}
    assert codes == {f"{make.__name__}.yaml": {"INC102" if make.__name__ in outside else "YML109"} for make in NO_FILES}


def test_a_device_is_no_spec(tmp_path: Path) -> None:
    devices = ["/dev/zero", "/dev/full", "/dev/null", "/dev/tty"]
    assert told_of_each(tmp_path, devices) == {device: {"YML109"} for device in devices}


def test_a_file_that_would_make_us_wait_is_an_empty_spec(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """/proc/kmsg is a regular file, and has nothing to say yet: where nobody waits, reading it gives None."""
    (here / "spec.yaml").write_text(SPEC, "utf-8")

    class Waiting(io.BytesIO):
        def read(self, _size: int | None = -1, /) -> bytes:
            return None  # type: ignore[return-value]

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdopen", lambda *_, **__: Waiting())
        assert run(["check", "spec.yaml"]) == 1
    assert "this spec is empty" in capsys.readouterr().out


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_a_file_that_cannot_be_read_is_told(
    error: OSError, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "spec.yaml").write_text(SPEC, "utf-8")

    def refuse(*arguments: Any, **more: Any) -> int:
        raise error

    monkeypatch.setattr(os, "open", refuse)
    assert run(["check", "spec.yaml"]) == 1
    assert f"'spec.yaml' cannot be read: {str(error.strerror).lower()}" in capsys.readouterr().out


NAMES = [b"a b.yaml", b"\xff.yaml", b"a\nb.yaml", b"\x1b[2J.yaml", b"a:1:1.yaml", b"'\".yaml"]
NAMES += ["ü.yaml".encode(), "\u202e.yaml".encode()]


@pytest.fixture
def named(here: Path) -> list[bytes]:
    """Specs with names in bad faith, each with parts that have the same names; the parts can be read."""
    (here / "parts").mkdir()
    for number, name in enumerate(NAMES):
        part = f"tenants: {{extra-{number}: {{accounts: extra-{number}}}}}\n"
        Path(os.fsdecode(b"parts/" + name)).write_text(part, "utf-8")
        Path(os.fsdecode(name)).write_text(SPEC + "include: [parts/*.yaml]\n", "utf-8")
    return NAMES


def test_the_names_of_files_do_no_harm_to_what_is_built(named: list[bytes], here: Path) -> None:
    assert endured(["build", "--no-verify", named[1]], here)[0] == 0
    manifest = (here / "out/incident-world/manifest.json").read_text("utf-8")
    assert json.loads(manifest)["factory"] == "incident-world"
    assert not CONTROLS.search(manifest)


@pytest.mark.parametrize("form", FORMATS)
def test_the_names_of_files_do_no_harm_to_what_is_told(form: str, named: list[bytes], here: Path) -> None:
    for name in named:
        Path(os.fsdecode(b"parts/" + name)).write_text("slos: {extra: {owner: nobody}}\n", "utf-8")
    status, out = endured(["check", "--format", form, *named], here)
    assert status == 1
    if form in ("json", "sarif"):
        json.loads(out)
    if form == "github":
        assert all(line.startswith("::error file=") for line in out.splitlines())


INCLUDES = {
    **dict.fromkeys(["../*.yaml", "/etc/passwd", "parts/../../x", "a\\b", "\0", "/"], "INC102"),
    **dict.fromkeys(["", ".", "~/*", "$HOME/*", "[", "**/*", "*/" * 300 + "*", "*a" * 400, "{a,b}.yaml"], "INC101"),
    "parts": "YML109",
}


def test_includes_do_not_leave_their_folder(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for number, pattern in enumerate(INCLUDES):
        (tmp_path / f"{number}.yaml").write_text(f"{SPEC}include: [{json.dumps(pattern)}]\n", "utf-8")
    codes = told_of_each(tmp_path, [f"{number}.yaml" for number in range(len(INCLUDES))])
    assert [(pattern, codes[f"{number}.yaml"]) for number, pattern in enumerate(INCLUDES)] == [
        (pattern, {code}) for pattern, code in INCLUDES.items()
    ]


def test_links_that_go_in_circles_are_not_followed(here: Path) -> None:
    for name in "abcdefgh":
        (here / name).symlink_to(".")
    (here / "spec.yaml").write_text(SPEC + f"include: ['{'*/' * 40}x.yaml']\n", "utf-8")
    assert told_of_each(here, ["spec.yaml"]) == {"spec.yaml": {"INC101"}}


def test_a_link_to_the_outside_is_not_read(here: Path) -> None:
    (here / "team").mkdir()
    (here / "secret.yaml").write_text("tenants: {extra: {accounts: extra}}\n", "utf-8")
    (here / "team" / "link.yaml").symlink_to("../secret.yaml")
    (here / "team" / "spec.yaml").write_text(SPEC + "include: [link.yaml]\n", "utf-8")
    assert told_of_each(here, ["team/spec.yaml"]) == {"team/spec.yaml": {"INC102"}}


def test_a_spec_that_includes_itself_is_read_once(here: Path) -> None:
    (here / "spec.yaml").write_text(SPEC + "include: [spec.yaml, './spec.yaml', '*.yaml']\n", "utf-8")
    assert told_of_each(here, ["spec.yaml"]) == {"spec.yaml": set()}


def test_so_many_parts_and_no_more(here: Path) -> None:
    (here / "slos").mkdir()
    for number in range(MAX_FILES + 1):
        (here / "slos" / f"{number}.yaml").touch()
    (here / "spec.yaml").write_text(SPEC + "include: ['slos/*.yaml']\n", "utf-8")
    assert told_of_each(here, ["spec.yaml"]) == {"spec.yaml": {"INC101"}}


@pytest.mark.parametrize("text", ["# " + "x" * (12 * MIB), "[" + "a," * 400_000 + "]"], ids=["bytes", "values"])
def test_the_parts_of_a_spec_have_a_limit_together(text: str, here: Path) -> None:
    (here / "slos").mkdir()
    for number in range(6 if text[0] == "#" else 3):
        (here / "slos" / f"{number}.yaml").write_text(text, "utf-8")
    (here / "spec.yaml").write_text(SPEC + "include: ['slos/*.yaml']\n", "utf-8")
    assert "YML110" in set().union(*told_of_each(here, ["spec.yaml"]).values())


# --- values -----------------------------------------------------------------------------------------------------------

TEXTS = (
    r"""
a b ¦ " ¦ ' ¦ \ ¦ \\ ¦ \" ¦ é ¦ 😀 ¦ á ¦ {{ ¦ }} ¦ {{ . }} ¦ {{ $labels.node }} ¦ {{ template "x" }}
{{ $value | urlquery }} ¦ {{/* ¦ $1 ¦ ${1} ¦ $$ ¦ ${HOME} ¦ $node ¦ [[node]] ¦ %s ¦ %00 ¦ a|b ¦ .* ¦ ( ¦ ) ¦ [a]
a: b ¦ - a ¦ # c ¦ a #c ¦ {a: b} ¦ &a ¦ *a ¦ !!str a ¦ | ¦ > ¦ @ ¦ ` ¦ --- ¦ ... ¦ true ¦ null ¦ ~ ¦ no ¦ 1.0e+3
0x1 ¦ 1_0 ¦ = ¦ << ¦ , ¦ : ¦ "} or vector(1) # ¦ ') or (' ¦ up ¦ "}) > 0 or up # ¦ x{a="b"} ¦ a,b ¦ </script>
../../x ¦ /etc/x ¦ .. ¦ . ¦ a/b ¦ a\b ¦ con ¦ -rf ¦ --out=x ¦ ;id ¦ $(id) ¦ \u0000 ¦ \x41 ¦ \n ¦ \Q ¦ \E
""".strip("\n")
    .replace("\n", " ¦ ")
    .split(" ¦ ")
)
TEXTS += [
    "",
    " ",
    "a\nb",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u001b[31m",
    "\u007f",
    "\u0085",
    "\u2028",
    "\u202e",
    "\ufeff",
    "\ufffd",
    "\uffff",
    "x" * 5000,
]

FIELDS = """
factory version include targets.prometheus layers.fabric owners.network.runbooks
owners.network.page.pagerduty.routing_key_file owners.network.ticket.slack.channel
owners.network.ticket.slack.api_url_file owners.network.hours owners.network.escalation.to
owners.network.ticket.email.to owners.network.ticket.email.smarthost owners.network.ticket.jira.issue_type
owners.network.ticket.jira.project maintenance.patches.when maintenance.patches.owners.0 maintenance.patches.mute
labels.cluster.values.0 labels.service.values.0 labels.service.pattern labels.tenant.from
clusters.east.region clusters.east.scheduler clusters.east.nodes.h100.hosts clusters.east.nodes.h100.gpu.model
clusters.east.nodes.h100.fabric clusters.east.nodes.h100.fabric_devices clusters.east.nodes.h100.fabric_speed
clusters.east.jobs.trainer.tenant clusters.east.jobs.trainer.hosts clusters.east.jobs.trainer.port
collection.intervals.default signals.mandatory.0 signals.define.train_steps.metric signals.define.train_steps.type
signals.define.train_steps.unit signals.define.train_steps.job signals.define.train_steps.labels.0
slos.chat-availability.owner slos.chat-availability.objective slos.chat-availability.by.1
slos.chat-availability.ratio.bad slos.chat-availability.ratio.total slos.chat-availability.traffic.expected
slos.chat-availability.traffic.min_events
tenants.vision.accounts.0 alerting.alertmanagers.0 alerting.fallback alerting.heartbeat.webhook.url
alerting.heartbeat.every grafana.url grafana.datasource
""".split()
FREE = ["labels.service.values.0", "tenants.vision.accounts.0", "signals.define.train_steps.unit"]
KEYS = """
owners.network maintenance.patches labels.service clusters.east clusters.east.nodes.h100 clusters.east.jobs.trainer
signals.define.train_steps slos.chat-availability tenants.vision grafana
""".split()
LABEL_VALUES, ACCOUNT = "labels.service.values.0", "tenants.vision.accounts.0"


NETWORK = {"hours": "Mon-Fri 08:00-18:00 UTC", "escalation": {"after": "30m", "to": "gpu-platform"}}
TICKET = {
    "email": {"to": "net@example.com", "from": "tocsin@example.com", "smarthost": "mail:587"},
    "jira": {
        "url": "https://jira.example.com/rest/api/2/",
        "project": "NET",
        "issue_type": "Task",
        "username": "tocsin",
        "token_file": "secrets/jira",
    },
}


def spec_with(path: str, text: str, *, as_key: bool = False) -> str:
    """The spec with a text at a path, or as the key that stands there."""
    spec = usual_spec()
    spec["labels"]["service"]["values"] = ["chat"]
    spec["targets"]["alertmanager"] = "0.33"
    spec["owners"]["network"] |= deepcopy(NETWORK)
    spec["owners"]["network"]["ticket"] |= deepcopy(TICKET)
    spec["maintenance"] = {"patches": {"when": "Sun 02:00-06:00 UTC", "owners": ["network"], "mute": "all"}}
    spec["clusters"]["east"]["jobs"]["trainer"].pop("tenant")  # accounts are only used where a job names no tenant
    node: Any = spec
    *above, last = (int(step) if step.isdigit() else step for step in path.split("."))
    for step in above:
        node = node[step]
    if as_key:
        node[text] = node.pop(last)
    else:
        node[last] = text
    return written(spec)


def usual_spec() -> dict[str, Any]:
    """The spec as data."""
    spec: dict[str, Any] = pickle.loads(_pickled())
    return spec


@cache
def _pickled() -> bytes:
    return pickle.dumps(yaml.load(SPEC, yaml.CSafeLoader))


def written(spec: dict[str, Any]) -> str:
    """The spec as YAML."""
    return yaml.dump(spec, Dumper=yaml.CSafeDumper, width=10_000)


def compiled(text: str) -> tuple[Artifact, ...] | None:
    """The files of a spec; None, with diagnostics that do no harm either, where there are none."""
    log = Log()
    sources: dict[str, Any] = {}
    result = compile_spec("-", log, sources, text.encode())
    assert (result is None) == log.failed
    if result is not None:
        return result.artifacts
    told = log.sorted()
    assert {diagnostic.code for diagnostic in told} <= set(catalogue())
    for form in ("text", "github"):
        shown = report(form, told, sources)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
        assert form == "text" or len(shown.splitlines()) == len(told)
    assert not re.search("[\u202a-\u202e\u2028\u2029\ufeff]", report("text", told, sources))
    assert len(json.loads(report("json", told, sources))["diagnostics"]) == len(told)
    return None


def parsed(artifact: Artifact) -> Any:
    """What a reader of the file finds in it."""
    if artifact.path.endswith((".yml", ".yaml")):
        return yaml.load(artifact.text, yaml.CSafeLoader)
    if artifact.path.endswith(".json"):
        return json.loads(artifact.text)
    if artifact.path.endswith(".tmpl"):
        return artifact.text.splitlines()
    return list(csv.reader(artifact.text.splitlines(), strict=True))


def shape(artifact: Artifact) -> Any:
    """A file without its texts: what is left is what nobody can change by writing one."""
    templates = TEMPLATES.get(artifact.path.split("/")[0], ())

    def bare(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: bare(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [bare(item, key) for item in value]
        if not isinstance(value, str):
            return type(value).__name__
        if key == "expr" and "$" not in value:  # Grafana puts its variables into those of dashboards
            return query(value)
        return re.findall(r"\{\{.*?\}\}|\{\{|\}\}", value, re.DOTALL) if key in templates else "text"

    return bare(parsed(artifact))


# The keys below which Prometheus and Alertmanager read templates of Go.
TEMPLATES = {
    "rules": ("summary", "description", "runbook_url", "dashboard_url"),
    "alertmanager": (
        *("title", "title_link", "text", "description", "client_url", "alerts", "runbook", "dashboard"),
        *("message", "Subject", "summary"),
    ),
}


def query(text: str) -> list[Any]:
    """A PromQL expression without its numbers, the values of its matchers, and the names of the spec's own series."""
    found: list[Any] = []
    catalogue = metrics()
    for node in promql.walk(promql.parse(text)):
        found.append((type(node).__name__, getattr(node, "op", ""), getattr(node, "function", "")))
        if isinstance(node, promql.Selector):
            known = node.metric if ":" in (node.metric or "") or node.metric in catalogue else "of the spec"
            found.append((known, [(matcher.label, matcher.op) for matcher in node.matchers]))
    return found


@cache
def usual(path: str) -> dict[str, tuple[str, Any]]:
    """Every file but the manifest, and its shape, with a harmless text at a path, or its own where it takes none."""
    for text in ("harmless", "gpu-node-01", "https://harmless.example.com/", "vision"):
        if artifacts := compiled(spec_with(path, text)):
            break
    else:
        artifacts = compiled(spec_with("factory", "incident-world"))
    assert artifacts
    return {artifact.path: (artifact.text, shape(artifact)) for artifact in artifacts[:-1]}


def assert_inert(text: str, expected: dict[str, tuple[str, Any]]) -> bool:
    """A spec is refused, or its files have the expected shapes; whether it was accepted."""
    artifacts = compiled(text)
    if artifacts is None:
        return False
    assert [artifact.path for artifact in artifacts] == [*expected, "manifest.json"]
    for artifact in artifacts[:-1]:
        as_usual, wanted = expected[artifact.path]
        if artifact.text != as_usual:
            assert shape(artifact) == wanted
    listed = {artifact.path: artifact.digest for artifact in artifacts[:-1]}
    manifest = json.loads(artifacts[-1].text)["files"]
    assert {path: entry["sha256"] for path, entry in manifest.items()} == listed
    return True


# One of so many texts. In the long run all of them, and for most fields a third.
EVERY = pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])


@EVERY
@pytest.mark.parametrize("path", FIELDS)
def test_a_hostile_value_is_refused_or_inert(path: str, every: int) -> None:
    step = every if path in FREE else 3 * every
    accepted = [
        text for text in TEXTS[FIELDS.index(path) % step :: step] if assert_inert(spec_with(path, text), usual(path))
    ]
    assert path not in FREE or len(accepted) > 60 / every  # these are texts like any other


@pytest.mark.parametrize("path", KEYS)
def test_a_hostile_key_is_refused(path: str) -> None:
    for text in TEXTS:
        if not re.fullmatch("up|con|no|true|null", text):  # names like any other, in quotes
            assert compiled(spec_with(path, text, as_key=True)) is None, text


def quoted(text: str) -> str:
    """A text as a string of PromQL."""
    return json.dumps(text, ensure_ascii=False)


def slo_on(literal: str, op: str = "=") -> dict[str, Any]:
    """The SLO of the spec, over the events of one service."""
    slo: dict[str, Any] = usual_spec()["slos"]["chat-availability"]
    service = f"service{op}{quoted(literal)}"
    total = f"inference_requests_total{{{service}}}"
    return {**slo, "ratio": {"bad": f'inference_requests_total{{{service},code=~"5.."}}', "total": total}}


@EVERY
@pytest.mark.parametrize("op", ["=", "!=", "=~", "!~"])
def test_a_hostile_matcher_is_refused_or_inert(op: str, every: int) -> None:
    accepted = 0
    for text in TEXTS[::every]:
        literal = re.sub(r"([^\w])", r"\\\1", text) if "~" in op else text
        spec = usual_spec()
        spec["slos"] = {"hostile": slo_on(literal, op)}
        artifacts = compiled(written(spec))
        if artifacts is None:
            continue
        accepted += 1
        (rules,) = (parsed(artifact) for artifact in artifacts if artifact.path == "rules/slo-hostile.yml")
        nodes = [node for rule in rules["groups"][0]["rules"] for node in promql.walk(promql.parse(rule["expr"]))]
        selectors = [n for n in nodes if isinstance(n, promql.Selector) and n.metric == "inference_requests_total"]
        assert selectors
        for selector in selectors:
            (found_,) = (matcher for matcher in selector.matchers if matcher.label == "service")
            assert (found_.op, found_.value) == (op, literal)
    assert accepted > 40 / every


@EVERY
def test_an_account_is_matched_by_itself_and_by_nothing_else(every: int) -> None:
    for text in filter(None, TEXTS[::every]):
        artifacts = compiled(spec_with(ACCOUNT, text))
        if artifacts is None:
            continue
        (config,) = (parsed(artifact) for artifact in artifacts if artifact.path.startswith("prometheus/"))
        (job,) = (job for job in config["scrape_configs"] if job["job_name"] == "trainer")
        (step,) = (step for step in job["metric_relabel_configs"] if step.get("replacement") == "vision")
        assert [other for other in TEXTS if re2.fullmatch(step["regex"], other)] == [text]


NO_TOOLS = [name for name in ("promtool", "amtool") if not found(name)]


@pytest.mark.skipif(bool(NO_TOOLS), reason=f"{' and '.join(NO_TOOLS)} not found. {INSTALL}")
def test_what_is_accepted_the_tools_accept(newest: dict[str, Tool], tmp_path: Path) -> None:
    """All hostile texts as values and accounts, and some as matchers, of one spec that promtool and amtool prove."""
    spec = yaml.load(spec_with("factory", "hostile"), yaml.CSafeLoader)
    texts = [text for text in TEXTS if text]
    spec["labels"]["service"]["values"], spec["tenants"]["vision"]["accounts"] = texts, [*texts]
    spec["slos"] = {f"s{index}": slo_on(text) for index, text in enumerate(texts[::6])}
    for name in refused(written(spec)):
        del spec["slos"][name]
    assert len(spec["slos"]) > 10
    (tmp_path / "spec.yaml").write_text(written(spec), "utf-8")
    assert run(["build", str(tmp_path / "spec.yaml"), "--out", str(tmp_path / "out")]) == 0


def refused(text: str) -> set[str]:
    """The SLOs of a spec that are told to be wrong."""
    log = Log()
    compile_spec("-", log, {}, text.encode())
    lines = text.splitlines()
    found_ = set()
    for diagnostic in log.sorted():
        above = (re.match(r"  (s\d+):", line) for line in reversed(lines[: diagnostic.span.line]))
        found_.add(next(name[1] for name in above if name))
    return found_

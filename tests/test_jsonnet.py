"""Jsonnet in bad faith: it reads one folder, and whatever else it tries is refused in bounded time and memory."""

from __future__ import annotations

import os
import resource
import time
from typing import TYPE_CHECKING

import pytest

from tocsin.jsonnet import Limits, RefusedError, evaluate

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Limits(seconds=2, memory=512 * 2**20, output=2**20)
NAME = "mixins/node"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that may be read, in one that may not."""
    (tmp_path / "secret.txt").write_text("5ecret", "utf-8")
    (tmp_path / "node-other").mkdir()
    (tmp_path / "node-other" / "x.libsonnet").write_text("'5ecret'", "utf-8")
    inside = tmp_path / "node"
    (inside / "lib").mkdir(parents=True)
    (inside / "vendor" / "github.com" / "x").mkdir(parents=True)
    (inside / "lib" / "a.libsonnet").write_text("{ a: 1, b: importstr '../text.txt' }", "utf-8")
    (inside / "text.txt").write_text("ü\n", "utf-8")
    (inside / "vendor" / "github.com" / "x" / "v.libsonnet").write_text("'vendored'", "utf-8")
    (inside / "vendor" / "short").symlink_to("github.com/x")
    (inside / "to-file").symlink_to(tmp_path / "secret.txt")
    (inside / "to-folder").symlink_to(tmp_path)
    (inside / "to-itself").symlink_to("to-itself")
    os.mkfifo(inside / "fifo")
    return inside


def value(program: str, folder: Path, limits: Limits = SMALL) -> object:
    return evaluate(program, str(folder), NAME, limits).value


def refused(program: str, folder: Path, limits: Limits = SMALL) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        evaluate(program, str(folder), NAME, limits)
    return caught.value


def test_what_lies_in_the_folder_is_read_and_named(folder: Path) -> None:
    found = evaluate("(import 'lib/a.libsonnet') + { c: std.length(importbin 'text.txt') }", str(folder), NAME)
    assert found.value == {"a": 1, "b": "ü\n", "c": 3}
    assert found.files == ("mixins/node/lib/a.libsonnet",)


@pytest.mark.parametrize("path", ["github.com/x/v.libsonnet", "short/v.libsonnet", "./vendor/short/v.libsonnet"])
def test_what_is_vendored_is_found_also_through_the_links_of_jsonnet_bundler(path: str, folder: Path) -> None:
    assert value(f"import '{path}'", folder) == "vendored"


@pytest.mark.parametrize("how", ["import", "importstr", "importbin"])
@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/proc/self/environ",
        "../secret.txt",
        "lib/../../secret.txt",
        "../node-other/x.libsonnet",
        "to-file",
        "to-folder/secret.txt",
        "to-folder/node-other/x.libsonnet",
        "vendor/../../secret.txt",
        "~/.profile",
        "file:///etc/passwd",
        "https://example.com/x.libsonnet",
        "lib",
        "fifo",
        "to-itself",
        "nothing",
        "",
    ],
)
def test_nothing_else_is_read(how: str, path: str, folder: Path) -> None:
    told = refused(f'{how} "{path}"', folder)
    assert told.kind == "import"
    assert "5ecret" not in told.message
    assert "root:" not in told.message


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("local f(x) = f(x + 1) tailstrict; f(1)", "limit"),
        ("local f(x) = 1 + f(x); f(1)", "failed"),
        ("local f(n) = if n == 0 then 0 else f(n - 1) + f(n - 1); f(200)", "limit"),
        ("std.length(std.repeat('x', 8000000000))", "limit"),
        ("local f(s, n) = if n == 0 then s else f(s + s, n - 1) tailstrict; f('xxxxxxxx', 60)", "limit"),
        ("[x for x in std.range(1, 1000000000)]", "limit"),
        ("local a = [a, a]; a", "failed"),
        ("[" * 100_000, "failed"),
        ("1" + "+1" * 300_000, "limit"),
        ("std.repeat('x', 2000000)", "limit"),
        ("std.native('open')('/etc/passwd')", "failed"),
        ("std.extVar('HOME')", "failed"),
        ("function(x) x", "failed"),
        ("{ a: function(x) x }", "failed"),
        ("error 'no'", "failed"),
        ("assert false : 'never'; 1", "failed"),
        ("1 +", "failed"),
        ("", "failed"),
        ("std.char(55296)", "failed"),
        ("{ a: '\\ud800' }", "failed"),
    ],
)
def test_what_has_no_value_is_refused_in_time(program: str, kind: str, folder: Path) -> None:
    begun = time.monotonic()
    assert refused(program, folder).kind == kind
    assert time.monotonic() - begun < SMALL.seconds * 4 + 5


def test_a_flood_of_traces_is_no_answer_and_no_memory_of_ours(folder: Path) -> None:
    program = "local x = std.repeat('x', 20000); [std.trace(x, n) for n in std.range(1, 500)]"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert value(program, folder, SMALL._replace(seconds=20)) == [*range(1, 501)]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 5 * 1024  # KiB, of the 10 MB that it says


@pytest.mark.parametrize(
    ("text", "line", "column", "end"),
    [
        ("{\n  a: error 'no',\n}", 2, 6, 16),
        ("{\n  a: 1\n  b: 2,\n}", 3, 3, 4),
        ("{\n  a:: 1,\n  b: $.c,\n}", 3, 6, 9),
        ("local f(x) = x.y;\n{ a: f({}) }", 1, 14, 17),
    ],
)
def test_a_mistake_is_told_at_its_innermost_place(text: str, line: int, column: int, end: int, folder: Path) -> None:
    (folder / "x.libsonnet").write_text(text, "utf-8")
    told = refused("import 'x.libsonnet'", folder)
    assert (told.name, told.line, told.column, told.end) == ("mixins/node/x.libsonnet", line, column, end)


def test_the_process_has_no_environment_and_no_way_to_write(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a bug of Jsonnet could reach: the worker's own limits, asked for by Python in its place."""
    from tocsin.jsonnet import sandbox

    spy = folder / "spy.py"
    spy.write_text(
        f"""
import json, os, resource, sys
sys.path.insert(0, {str(sandbox.__file__.rpartition("/")[0])!r})
import worker
request = json.load(sys.stdin)
worker.confine(request["seconds"], request["memory"])
found = [sorted(set(os.environ) - {{"LC_CTYPE"}}), resource.getrlimit(resource.RLIMIT_FSIZE)[1]]
try:
    with open({str(folder / "written")!r}, "w") as file:
        file.write("x" * 100000)
except OSError as error:
    found.append(type(error).__name__)
sys.stdout.write(json.dumps({{"value": json.dumps(found), "files": []}}))
""",
        "utf-8",
    )
    monkeypatch.setenv("TOKEN", "5ecret")
    monkeypatch.setattr(sandbox, "_WORKER", spy)
    environment, size, error = value("1", folder)  # type: ignore[misc]
    assert (environment, size, error) == ([], 0, "OSError")
    assert (folder / "written").read_text("utf-8") == ""

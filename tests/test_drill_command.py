"""The command `drill`: what it says before anything runs, its exit status, and that it leaves nothing running."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command import is_sentence, tocsin
from conftest import ROOT
from tocsin.cli import drilling, run
from tocsin.drill import FAULTS, Report
from tocsin.drill.judging import Verdict
from tocsin.fleet.deadline import until
from tocsin.toolerror import ToolError
from tocsin.verify.run import find
from toolbox import best

SPEC = ROOT / "specs" / "incident-world.yaml"
GOOD = Verdict("node-down", "", "NodeDown", "a", "ticket", (("a-ticket", 301.25),), 1, True, (), "told")
# Whoever runs the tests in the background lets them, and what they start, ignore Ctrl-C.
INTERRUPTIBLE = """
import signal
from tocsin.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
BAD = GOOD._replace(receivers=(), notifications=0, status="told to nobody", note="not told: a")


def test_it_lists_what_it_can_show() -> None:
    done = tocsin(["drill", "--list", SPEC])
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [fault.name for fault in FAULTS]
    (line,) = (line for line in lines if line.startswith("disk-read-only"))
    assert line.endswith("left out: the spec has no alert FilesystemReadOnly")
    chosen = tocsin(["drill", "--list", SPEC, "--fault", "xid-79", "--fault", "node-down"]).stdout.splitlines()
    assert [line.split()[0] for line in chosen] == ["fault", "xid-79", "node-down"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fault", "xid-97"], "tocsin: no fault is called xid-97; did you mean xid-79?\n"),
        (["--cluster", "west"], "tocsin: no cluster is called west; there are east\n"),
        (["--list", "--cluster", "west"], "tocsin: no cluster is called west; there are east\n"),
    ],
)
def test_a_name_of_nothing_is_a_wrong_call(arguments: list[str], said: str) -> None:
    done = tocsin(["drill", SPEC, *arguments])
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_without_the_programs_there_is_no_drill(tmp_path: Path) -> None:
    done = tocsin(["drill", SPEC], environment={"PATH": str(tmp_path), "PROMETHEUS": "/nowhere/prometheus"})
    assert (done.returncode, done.stdout) == (3, "")
    assert is_sentence(done.stderr)
    assert "PROMETHEUS=/nowhere/prometheus" in done.stderr
    assert "--no-verify" not in done.stderr


def test_an_alertmanager_is_found_by_debians_name(tmp_path: Path) -> None:
    program = tmp_path / "prometheus-alertmanager"
    program.write_text("#!/bin/sh\necho alertmanager, version 0.33.1\n", "utf-8")
    program.chmod(0o755)
    tool = find("alertmanager", {"PATH": str(tmp_path)})
    assert (tool.path, tool.version) == (str(program), "0.33.1")
    with pytest.raises(ToolError, match=r"or set ALERTMANAGER to its path$"):
        find("alertmanager", {"PATH": str(tmp_path / "nowhere")})


def test_a_bad_spec_is_told_as_ever(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("version: 1\nfactory: Lab!\n", "utf-8")
    done = tocsin(["drill", path])
    assert done.returncode == 1
    assert "error[" in done.stdout


@pytest.mark.parametrize(("verdict", "status"), [(GOOD, 0), (BAD, 1)])
def test_its_exit_status_says_whether_all_was_told(
    verdict: Verdict, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The drill itself is played: what it takes from the call, and what is made of its report."""
    asked: dict[str, object] = {}

    def played(*_: object, **options: object) -> Report:
        asked.update(options)
        return Report("incident-world", "east", 5, (verdict,), (), (), 400.0)

    for name in ("PROMETHEUS", "ALERTMANAGER"):
        monkeypatch.setenv(name, sys.executable)
    monkeypatch.setattr(drilling, "drill", played)
    assert run(["drill", str(SPEC), "--fast", "--any-hour", "--cluster", "east", "--format", "json"]) == status
    said = json.loads(capsys.readouterr().out)
    assert said["fine"] is (status == 0)
    assert (asked["fast"], asked["any_hour"], asked["cluster"]) == (5, True, "east")
    assert run(["drill", str(SPEC)]) == status
    assert asked["fast"] == 1
    assert "node-down  NodeDown" in capsys.readouterr().out


@pytest.mark.xdist_group("stages")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_running(number: int, tmp_path: Path) -> None:
    """Whoever ends a drill ends its servers."""
    programs = {name: best(name) for name in ("prometheus", "alertmanager")}
    if not all(programs.values()):
        pytest.skip("prometheus or alertmanager not found: run `make tools`")
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    environment |= {name.upper(): str(tool.path) for name, tool in programs.items() if tool}
    command = [sys.executable, "-c", INTERRUPTIBLE, "drill", "--fault", "xid-79", str(SPEC)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, start_new_session=True) as process:
        until("both servers", lambda: len(working_below(tmp_path)) == 2)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"")
    assert working_below(tmp_path) == []
    assert not list(tmp_path.glob("tocsin-*"))


def working_below(folder: Path) -> list[str]:
    """The processes whose working folder lies below one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if folder in (process / "cwd").readlink().parents:
                found.append(process.name)
    return found

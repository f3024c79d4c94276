"""The command as its users meet it: real processes, their exit status, and what stands on which stream."""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from command import tocsin
from conftest import ROOT
from tocsin import __version__
from tocsin.cli.arguments import SHELLS
from tocsin.codes import catalogue
from toolbox import Tool

COMMANDS = ("check", "build", "test", "preview", "drill", "lint-expr", "explain", "completion")
GOOD = ROOT / "tests" / "cases" / "ok" / "minimal.yaml"
TOCSIN = (sys.executable, "-m", "tocsin")
BAD = "version: 1\nfactory: Lab!\n"


@dataclass(frozen=True, slots=True)
class Run:
    """How a call ended and what it said."""

    status: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """The caller's environment without what decides about colours, streams and tools."""
    decides = ("NO_COLOR", "FORCE_COLOR", "TERM", "PROMTOOL", "AMTOOL", "PYTHONIOENCODING", "PYTHONUNBUFFERED")
    kept = {name: value for name, value in os.environ.items() if name not in decides}
    return {**kept, "COLUMNS": "120", **more}


def call(*arguments: str | Path, stdin: str | None = None, cwd: Path = ROOT, **more: str) -> Run:
    """Run tocsin away from any terminal. Whatever happens: no traceback, and nothing that steers a terminal."""
    done = subprocess.run(
        [*TOCSIN, *arguments],
        input=None if stdin is None else stdin.encode(),
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        cwd=cwd,
        env=environment(**more),
        check=False,
    )
    return checked(Run(done.returncode, done.stdout.decode(), done.stderr.decode()))


def named(tools: dict[str, Tool]) -> dict[str, str]:
    """The environment variables that name these tools."""
    return {name.upper(): str(tool.path) for name, tool in tools.items()}


def checked(run: Run) -> Run:
    """The run, which is of good manners."""
    assert "Traceback" not in run.err
    assert "Exception ignored" not in run.err
    assert "\x1b" not in run.out + run.err
    return run


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """A spec with mistakes."""
    path = tmp_path / "bad.yaml"
    path.write_text(BAD, "utf-8")
    return path


@cache
def help_of(command: str) -> str:
    """The help of a command."""
    return call(command, "--help").out


@cache
def completion(shell: str) -> str:
    """The completion script for a shell."""
    return call("completion", shell).out


# -- the help ----------------------------------------------------------------------------------------------------------


def test_the_help_teaches_commands_exit_statuses_and_examples() -> None:
    run = call("--help")
    assert (run.status, run.err) == (0, "")
    assert all(re.search(rf"^    {command}\s", run.out, re.MULTILINE) for command in COMMANDS)
    statuses = re.findall(r"^  ([0-9]+)  [a-z]", run.out.partition("exit status:")[2], re.MULTILINE)
    assert statuses == ["0", "1", "2", "3"]
    examples = re.findall(r"\btocsin (\w+) \S", run.out.partition("examples:")[2])
    assert {"check", "build", "explain"} <= set(examples) <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_what_it_does_and_what_its_options_mean(command: str) -> None:
    usage, description, *_ = help_of(command).split("\n\n")
    assert usage.startswith(f"usage: tocsin {command}")
    assert description[0].isupper()
    assert "." in description
    for option in re.findall(r"^  (-\S.*)$", help_of(command), re.MULTILINE):
        assert re.search(r"\S {2,}\S|\}$|DIR$", option), f"{option} is not explained"


def test_the_examples_of_the_help_work() -> None:
    assert "tocsin lint-expr 'rate(up[5m])'" in call("--help").out
    assert call("lint-expr", "rate(up[5m])").status == 1
    for words in (["check", "specs/ai-factory.yaml"], ["explain", "OWN101"]):
        assert f"tocsin {' '.join(words)}" in call("--help").out
        assert call(*words).status == 0


def test_the_version() -> None:
    assert call("--version") == Run(0, f"tocsin {__version__}\n", "")


def test_the_installed_command_is_the_module() -> None:
    script = Path(sys.executable).with_name("tocsin")
    run = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, f"tocsin {__version__}\n")


# -- exit statuses -----------------------------------------------------------------------------------------------------


def test_a_good_spec_is_silent() -> None:
    assert call("check", GOOD) == Run(0, "", "")


def test_a_bad_spec_is_told_with_its_place_and_exits_1(bad: Path) -> None:
    run = call("check", "bad.yaml", cwd=bad.parent)
    assert (run.status, run.err) == (1, "")
    assert "--> bad.yaml:2:10\n2 | factory: Lab!\n             ^^^^\n" in run.out
    assert re.search(r"^[0-9]+ errors\n\Z", run.out, re.MULTILINE)


@pytest.mark.parametrize("command", ["build", "test"])
def test_a_bad_spec_is_neither_built_nor_tested(command: str, bad: Path, newest: dict[str, Tool]) -> None:
    run = call(command, "bad.yaml", cwd=bad.parent, **named(newest))
    assert run.status == 1
    assert "--> bad.yaml:2:10" in run.out
    assert os.listdir(bad.parent) == ["bad.yaml"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["foo"], "invalid choice: 'foo'"),
        (["check"], "SPEC"),
        (["check", "nowhere.yaml"], "tocsin: nowhere.yaml: there is no such file"),
        (["build", "nowhere.yaml", "--no-verify"], "tocsin: nowhere.yaml: there is no such file"),
        (["build", "a.yaml", "b.yaml"], "unrecognized arguments: b.yaml"),
        (["check", "--format", "xml", "a.yaml"], "invalid choice: 'xml'"),
        (["check", "--strict", "a.yaml"], "unrecognized arguments: --strict"),
        (["explain", "XYZ999"], "no code is called XYZ999"),
        (["explain", "GpuLost"], "of an alert, name its spec as well: `--spec SPEC`"),
        (["explain", "GpuLost", "--spec", "nowhere.yaml"], "tocsin: nowhere.yaml: there is no such file"),
        (["explain", "GpuLost", "--spec", ""], "tocsin: : there is no such file"),
        (["explain", "\x1b[31mred"], "tocsin: no code is called ?[31mred;"),
        (["check", "\x1b[31mred.yaml"], "tocsin: ?[31mred.yaml: there is no such file"),
        (["lint-expr"], "EXPR"),
        (["lint-expr", " "], "tocsin: there is no expression"),
        (["lint-expr", "up", "--spec", "nowhere.yaml"], "tocsin: nowhere.yaml: there is no such file"),
        (["completion", "csh"], "invalid choice: 'csh'"),
    ],
)
def test_a_wrong_call_is_told_on_standard_error_and_exits_2(arguments: list[str], words: str, tmp_path: Path) -> None:
    run = call(*arguments, cwd=tmp_path)
    assert (run.status, run.out) == (2, "")
    assert words in run.err


@pytest.mark.parametrize("end", ["", "/", "//"])
def test_a_folder_is_called_by_its_name(end: str, tmp_path: Path) -> None:
    run = call("check", f"{tmp_path}/specs{end}", cwd=(tmp_path / "specs").mkdir() or tmp_path)
    assert run.status == 1
    assert f"--> {tmp_path}/specs:1:1\n" in run.out


def test_a_code_that_is_nearly_right_is_suggested() -> None:
    code = next(iter(catalogue()))
    run = call("explain", f"{code[:-1]}x")
    assert run.status == 2
    assert "did you mean" in run.err


@pytest.mark.parametrize("begun", ["SIG1", "sig", "NONSENSE"])
def test_a_code_that_nobody_can_guess_leads_to_the_list(begun: str) -> None:
    run = call("explain", begun)
    way = "`tocsin explain all` lists them; of an alert, name its spec as well: `--spec SPEC`"
    assert (run.status, run.err) == (2, f"tocsin: no code is called {begun}; {way}\n")


@pytest.mark.parametrize("command", ["build", "test"])
@pytest.mark.parametrize("tool", ["PROMTOOL", "AMTOOL"])
def test_a_tool_that_is_missing_exits_3_and_says_what_to_do(
    command: str, tool: str, newest: dict[str, Tool], tmp_path: Path
) -> None:
    run = call(command, GOOD, cwd=tmp_path, **{**named(newest), tool: "/nonexistent"})
    assert (run.status, run.out) == (3, "")
    assert f"{tool.lower()} was not found ({tool}=/nonexistent)" in run.err
    assert f"set {tool} to its path" in run.err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("out", ["file", "/proc"])
def test_a_folder_that_cannot_be_written_exits_3(out: str, tmp_path: Path) -> None:
    """/proc refuses everybody, whoever runs the tests."""
    if not Path("/proc").is_dir() and out == "/proc":
        pytest.skip("this system has no /proc")
    (tmp_path / "file").write_text("in the way", "utf-8")
    run = call("build", GOOD, "--no-verify", "--out", out, cwd=tmp_path)
    assert (run.status, run.out) == (3, "")
    assert re.fullmatch(rf"tocsin: {out}/lab\S*: [A-Z][a-z ]+\n", run.err)
    assert (tmp_path / "file").read_text("utf-8") == "in the way"


def test_a_fault_of_tocsin_itself_exits_3_and_asks_for_a_report() -> None:
    """The only traceback that anybody sees is one for the report."""
    program = (
        "import sys; from tocsin.cli import commands; commands.understand = None; "
        "from tocsin.__main__ import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, "check", GOOD], capture_output=True, text=True, env=environment(), check=False
    )
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr.startswith("Traceback")
    assert run.stderr.endswith("tocsin: this is a fault of tocsin itself: please report it with the spec\n")


# -- building and comparing --------------------------------------------------------------------------------------------


def test_a_build_is_proven_and_written(newest: dict[str, Tool], tmp_path: Path) -> None:
    run = call("build", GOOD, cwd=tmp_path, **named(newest))
    assert (run.status, run.err) == (0, "")
    assert re.match(r"lab: \d+ files, \d+ recording rules, \d+ alerts, \d+ tests; proven with promtool \d", run.out)
    files = [
        str(path.relative_to(tmp_path / "out/lab")) for path in (tmp_path / "out/lab").rglob("*") if path.is_file()
    ]
    listed = json.loads((tmp_path / "out/lab/manifest.json").read_text("utf-8"))["files"]
    assert sorted(files) == sorted({*listed, "manifest.json"})
    assert f"{Path('out/lab')}: added {len(files)}: " in run.out


def test_the_generated_tests_are_run(newest: dict[str, Tool], tmp_path: Path) -> None:
    run = call("test", GOOD, cwd=tmp_path, **named(newest))
    assert (run.status, run.err) == (0, "")
    assert re.fullmatch(r"lab: [1-9]\d* alert tests and [1-9]\d* route tests pass \(\d+\.\d s\)\n", run.out)
    assert os.listdir(tmp_path) == []


def unproven(folder: Path, *options: str) -> Run:
    """Build the good spec into `out` of the folder, without the tools."""
    return call("build", GOOD, "--no-verify", *options, cwd=folder)


def test_what_was_built_is_what_the_spec_says(tmp_path: Path) -> None:
    assert "not proven (--no-verify)" in unproven(tmp_path).out
    run = unproven(tmp_path, "--check")
    assert (run.status, run.err) == (0, "")
    assert run.out.endswith("out/lab is what the spec says\n")
    assert unproven(tmp_path).out.endswith("out/lab is what the spec says\n")


def test_a_change_by_hand_is_found_named_and_left_alone(tmp_path: Path) -> None:
    unproven(tmp_path)
    rules = next((tmp_path / "out/lab/rules").iterdir())
    text = rules.read_text("utf-8")
    rules.write_text(text + "# by hand\n", "utf-8")
    run = unproven(tmp_path, "--check")
    assert (run.status, run.err) == (1, "")
    assert f"out/lab: would change 1: rules/{rules.name}\n" in run.out
    assert rules.read_text("utf-8").endswith("# by hand\n")
    run = unproven(tmp_path)
    assert run.status == 0
    assert f"out/lab: changed 1: rules/{rules.name}\n" in run.out
    assert rules.read_text("utf-8") == text


def test_a_missing_and_a_superfluous_file_are_found(tmp_path: Path) -> None:
    unproven(tmp_path)
    manifest = tmp_path / "out/lab/manifest.json"
    listed = json.loads(manifest.read_text("utf-8"))
    listed["files"]["old.yml"] = None
    manifest.write_text(json.dumps(listed), "utf-8")
    (tmp_path / "out/lab/old.yml").write_text("", "utf-8")
    (tmp_path / "out/lab/alertmanager/alertmanager.yml").unlink()
    run = unproven(tmp_path, "--check")
    assert run.status == 1
    assert "would add 1: alertmanager/alertmanager.yml\n" in run.out
    assert "would remove 1: old.yml\n" in run.out
    assert (tmp_path / "out/lab/old.yml").exists()


def test_before_the_first_build_everything_would_be_added(tmp_path: Path) -> None:
    run = unproven(tmp_path, "--check")
    assert run.status == 1
    assert "would add" in run.out
    assert os.listdir(tmp_path) == []


def test_a_file_of_somebody_else_is_not_touched(tmp_path: Path) -> None:
    mine = tmp_path / "out/lab/alertmanager/alertmanager.yml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", "utf-8")
    for options in ((), ("--check",)):
        run = unproven(tmp_path, *options)
        assert (run.status, run.out) == (2, "")
        assert "tocsin did not write alertmanager/alertmanager.yml" in run.err
    assert mine.read_text("utf-8") == "mine"
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == 1


@pytest.mark.parametrize("absolute", [True, False])
def test_the_output_folder_is_relative_to_where_the_caller_stands_or_absolute(absolute: bool, tmp_path: Path) -> None:
    there = tmp_path / "a" / "b"
    here = tmp_path / "here"
    here.mkdir()
    run = unproven(here, "--out", str(there) if absolute else "../a/b")
    assert run.status == 0
    assert (there / "lab" / "manifest.json").is_file()
    assert os.listdir(here) == []


def test_the_same_spec_by_another_path_is_the_same_output(tmp_path: Path) -> None:
    unproven(tmp_path)
    shutil.copy(GOOD, tmp_path)
    assert call("build", GOOD.name, "--no-verify", "--check", cwd=tmp_path).status == 0


# -- what is read and what is told -------------------------------------------------------------------------------------


def test_a_spec_is_read_from_standard_input(tmp_path: Path) -> None:
    assert call("check", "-", stdin=GOOD.read_text("utf-8")) == Run(0, "", "")
    run = call("check", "-", stdin=BAD)
    assert run.status == 1
    assert "--> -:2:10\n2 | factory: Lab!\n" in run.out
    assert call("build", "-", "--no-verify", stdin=GOOD.read_text("utf-8"), cwd=tmp_path).status == 0
    assert (tmp_path / "out/lab/manifest.json").is_file()


def test_nothing_on_standard_input_is_an_empty_spec() -> None:
    run = call("check", "-", stdin="")
    assert run.status == 1
    assert "empty" in run.out


def test_several_specs_are_checked_in_one_call(bad: Path) -> None:
    other = bad.with_name("other.yaml")
    other.write_text("version: 2\n", "utf-8")
    run = call("check", GOOD, "bad.yaml", other, cwd=bad.parent)
    assert run.status == 1
    assert "--> bad.yaml:2:10" in run.out
    assert f"--> {other}:1:10\n1 | version: 2\n" in run.out
    assert str(GOOD) not in run.out
    assert len(re.findall(r"^\d+ errors?$", run.out, re.MULTILINE)) == 1
    assert call("check", GOOD, ROOT / "specs" / "incident-world.yaml") == Run(0, "", "")


def test_json_on_standard_output_is_nothing_but_json(bad: Path) -> None:
    run = call("check", "--format", "json", "bad.yaml", cwd=bad.parent)
    told = json.loads(run.out)
    assert (run.status, run.err) == (1, "")
    places = [(one["location"]["path"], one["location"]["line"]) for one in told["diagnostics"]]
    assert ("bad.yaml", 2) in places
    assert json.loads(call("check", "--format", "json", GOOD).out)["diagnostics"] == []


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_what_people_are_told_is_kept_out_of_what_programs_read(form: str, tmp_path: Path) -> None:
    run = unproven(tmp_path, "--format", form)
    assert run.status == 0
    json.loads(run.out)
    assert run.err.startswith("lab: ")
    assert "out/lab: added" in run.err
    run = unproven(tmp_path, "--format", "github")
    assert (run.status, run.out) == (0, "")


def test_a_code_is_explained_however_it_is_written() -> None:
    code = next(iter(catalogue().values()))
    run = call("explain", code.id.lower())
    assert run == Run(0, f"{code.id}: {code.title}\n\n{code.text}\n", "")


def test_all_codes_are_listed_in_a_line_each() -> None:
    run = call("explain", "all")
    assert run.out.splitlines() == [f"{code.id}  {code.title}" for code in catalogue().values()]


# -- terminals ---------------------------------------------------------------------------------------------------------


def on_terminal(arguments: Sequence[str | Path], cwd: Path, *, out: bool = True, **more: str) -> tuple[Run, str]:
    """Run with standard error on a terminal, and with standard output there too or in a pipe.

    Gives the run, with the pipe's text, and everything that the terminal was sent.
    """
    terminal, end = pty.openpty()
    with subprocess.Popen(
        [*TOCSIN, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=end if out else subprocess.PIPE,
        stderr=end,
        cwd=cwd,
        env=environment(**{"TERM": "xterm", **more}),
    ) as process:
        os.close(end)
        sent = b""
        while part := read(terminal):
            sent += part
        piped = process.stdout.read().decode() if process.stdout else ""
    os.close(terminal)
    text = sent.decode().replace("\r\n", "\n")
    assert "Traceback" not in text
    return Run(process.returncode, piped, ""), text


def read(terminal: int) -> bytes:
    """What comes next from a terminal; nothing once all its writers are gone."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def screen(sent: str) -> list[str]:
    """The lines that are left to see, colours aside."""
    lines, column = [""], 0
    for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|[\s\S]", sent):
        if part == "\n":
            lines.append("")
            column = 0
        elif part == "\r":
            column = 0
        elif part == "\x1b[K":
            lines[-1] = lines[-1][:column]
        elif not part.startswith("\x1b"):
            lines[-1] = lines[-1][:column].ljust(column) + part + lines[-1][column + 1 :]
            column += 1
    return lines


def test_a_terminal_gets_colours_and_the_same_words(bad: Path) -> None:
    run, sent = on_terminal(["check", "bad.yaml"], bad.parent)
    assert run.status == 1
    assert "\x1b[1;31merror[" in sent
    assert sent.count("\x1b[0m") >= sent.count("\x1b[1;31m")
    assert "\n".join(screen(sent)) == call("check", "bad.yaml", cwd=bad.parent).out


@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colour_gets_none(variable: dict[str, str], bad: Path) -> None:
    _, sent = on_terminal(["check", "bad.yaml"], bad.parent, **variable)
    assert sent == call("check", "bad.yaml", cwd=bad.parent).out


def test_an_empty_no_color_says_nothing(bad: Path) -> None:
    _, sent = on_terminal(["check", "bad.yaml"], bad.parent, NO_COLOR="")
    assert "\x1b[1;31m" in sent


def test_a_pipe_gets_no_colours_though_a_terminal_is_near(bad: Path) -> None:
    run, sent = on_terminal(["check", "bad.yaml"], bad.parent, out=False)
    assert run.out == call("check", "bad.yaml", cwd=bad.parent).out
    assert sent == ""


def test_progress_is_shown_on_the_terminal_and_taken_back(tmp_path: Path) -> None:
    run, sent = on_terminal(["build", GOOD, "--no-verify"], tmp_path, out=False)
    assert run.status == 0
    assert re.findall(r"[a-z]+ …", sent) == ["compiling …", "writing …"]
    assert screen(sent) == [""]
    assert run.out.startswith("lab: ")


def test_progress_leaves_no_trace_between_the_lines(tmp_path: Path) -> None:
    run, sent = on_terminal(["build", GOOD, "--no-verify"], tmp_path)
    assert run.status == 0
    first, second, *rest = screen(sent)
    assert first.startswith("lab: ")
    assert second.startswith("out/lab: added")
    assert rest == [""]


def test_a_dumb_terminal_gets_no_progress_that_it_could_not_take_back(tmp_path: Path) -> None:
    _, sent = on_terminal(["build", GOOD, "--no-verify"], tmp_path, out=False, TERM="dumb")
    assert sent == ""


# -- streams that are gone ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["explain", "all"], 0),
        (["--help"], 0),
        (["check", "--help"], 0),
        (["completion", "bash"], 0),
        (["check", "--format", "json", GOOD], 0),
        (["check", "-"], 1),  # that nobody listens makes no bad spec a good one
    ],
)
def test_a_reader_that_went_away_is_no_error(arguments: list[str], status: int) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [*TOCSIN, *arguments]
    spec = b"version: 1\nfactory: Lab!\n" + b"".join(b"unknown%d: 1\n" % number for number in range(500))
    done = subprocess.run(
        command, input=spec, stdout=writer, stderr=subprocess.PIPE, env=environment(), cwd=ROOT, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (status, b"")


def test_head_ends_it_silently() -> None:
    command = f"set -o pipefail; '{sys.executable}' -m tocsin explain all | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment(), check=False)
    first = next(iter(catalogue().values()))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{first.id}  {first.title}\n", "")


@pytest.mark.parametrize(
    ("redirection", "status"),
    [("- <&-", 1), ("bad.yaml >&-", 1), ("bad.yaml 2>&-", 1), ("bad.yaml >/dev/full", 3), ("- <&- >&- 2>&-", 1)],
)
def test_closed_and_full_streams(redirection: str, status: int, bad: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"'{sys.executable}' -m tocsin check {redirection}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=bad.parent,
        env=environment(),
        check=False,
    )
    run = checked(Run(done.returncode, done.stdout, done.stderr))
    assert run.status == status
    assert run.err == ("tocsin: the disk: No space left on device\n" if status == 3 else "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_characters_that_standard_output_lacks_are_escaped(encoding: str, bad: Path) -> None:
    bad.write_text("version: 1\nfactory: 日本\n", "utf-8")
    done = subprocess.run(
        [*TOCSIN, "check", "bad.yaml"],
        capture_output=True,
        cwd=bad.parent,
        env=environment(PYTHONIOENCODING=encoding),
        check=False,
    )
    shown = "日本" if encoding == "utf-8" else r"\u65e5\u672c"
    assert (done.returncode, done.stderr) == (1, b"")
    assert f"2 | factory: {shown}\n" in done.stdout.decode(encoding)


def test_a_file_name_that_is_not_utf_8(tmp_path: Path) -> None:
    name = b"\xff.yaml"
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text(BAD, "utf-8")
    for arguments in (["check"], ["check", "--format", "json"], ["build", "--no-verify"]):
        done = subprocess.run(
            [*TOCSIN, *arguments, name], capture_output=True, cwd=tmp_path, env=environment(), check=False
        )
        assert (done.returncode, done.stderr) == (1, b"")
        assert b"xff.yaml" in done.stdout or b"udcff.yaml" in done.stdout or b"?.yaml" in done.stdout


# -- interruptions -----------------------------------------------------------------------------------------------------


def interruptible() -> None:
    """A shell lets what it starts in the background ignore Ctrl-C, the tests as well and whatever they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_while_a_spec_is_read_ends_it_silently() -> None:
    with subprocess.Popen(
        [*TOCSIN, "check", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
        preexec_fn=interruptible,  # noqa: PLW1509 - no other thread runs
    ) as process:
        assert process.stdin
        process.stdin.write(b"#" * 1_000_000)  # more than a pipe holds: once it is written, somebody is reading
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")


def test_ctrl_c_while_the_tools_run_leaves_the_last_output_alone(tmp_path: Path) -> None:
    """A terminal sends the signal to tocsin and to the tools that it has started."""
    unproven(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    begun = tmp_path / "begun"
    tool = tmp_path / "tool"
    tool.write_text(
        f"#!/bin/sh\n[ \"$1\" = --version ] && exec echo 'tool, version 3.5.0 (branch: HEAD)'\n"
        f"[ -e {begun} ] && exit 0\necho > {begun}\nexec sleep 60\n"
    )
    tool.chmod(0o755)
    spec = tmp_path / "spec.yaml"
    spec.write_text(GOOD.read_text("utf-8").replace("count: 8", "count: 4"), "utf-8")
    with subprocess.Popen(
        [*TOCSIN, "build", spec],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PROMTOOL=str(tool), AMTOOL=str(tool)),
        cwd=tmp_path,
        start_new_session=True,
        preexec_fn=interruptible,  # noqa: PLW1509 - no other thread runs
    ) as process:
        while not begun.exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")
    assert {path: path.read_bytes() for path in before} == before


# -- expressions -------------------------------------------------------------------------------------------------------

POWER = "sum by (node) (\n  DCGM_FI_DEV_POWER_USAGE\n)"
TOLD = """\
error[PQL207]: `sum` adds the value of one board once for each job on it and each MIG instance
  --> expression:1:1
1 | sum by (node) (
    ^^^^^^^^^^^^^^^
  = hint: make it one first: sum by (node) (max by (cluster, node, gpu_uuid) (DCGM_FI_DEV_POWER_USAGE))

1 error
"""


def test_a_sound_expression_is_silent() -> None:
    assert call("lint-expr", "sum(max by (cluster, node, gpu_uuid) (DCGM_FI_DEV_POWER_USAGE)) > 5e5") == Run(0, "", "")


def test_an_expression_is_refused_with_its_place_and_the_right_form() -> None:
    assert call("lint-expr", POWER) == Run(1, TOLD, "")


def test_an_expression_is_read_from_standard_input() -> None:
    assert call("lint-expr", "-", stdin=POWER) == Run(1, TOLD, "")
    assert call("lint-expr", "-").status == 2
    assert tocsin(["lint-expr", "-"], stdin=b"\xff").stderr == "tocsin: standard input is not UTF-8\n"


def test_what_is_no_expression_is_told_at_its_place() -> None:
    run = call("lint-expr", "sum(rate(x[5m])")
    assert run.status == 1
    assert run.out.startswith("error[PQL105]: ")
    assert "--> expression:1:4\n1 | sum(rate(x[5m])\n       ^\n" in run.out


def test_a_spec_says_which_series_and_labels_there_are() -> None:
    for expr in ("train_steps_total > 3", 'up{cluster="west"} == 0', "rate(inference_requests_total[1m]) > 1"):
        assert call("lint-expr", expr, "--spec", "specs/ai-factory.yaml").status == 1
    for expr in ("train_steps_total > 3", 'up{cluster="west"} == 0', "rate(inference_requests_total[1m]) > 1"):
        assert call("lint-expr", expr).status == 0


def test_an_expression_is_not_held_against_a_broken_spec(bad: Path) -> None:
    run = call("lint-expr", "up == 0", "--spec", "bad.yaml", cwd=bad.parent)
    assert run.status == 1
    assert "--> bad.yaml:2:10" in run.out


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_programs_are_told_of_an_expression_too(form: str) -> None:
    run = call("lint-expr", "rate(up[5m])", "--format", form)
    assert (run.status, run.err) == (1, "")
    assert "PQL201" in run.out
    if form == "json":
        (told,) = json.loads(run.out)["diagnostics"]
        assert told["location"] == {"path": "expression", "line": 1, "column": 1, "end_line": 1, "end_column": 13}
    assert call("lint-expr", "up", "--format", form).status == 0


# -- completion --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_script_is_one_that_its_shell_reads(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    read_only = subprocess.run([shell, "-n"], input=completion(shell), capture_output=True, text=True, check=False)
    assert (read_only.returncode, read_only.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_completion_script_knows_every_command_and_every_option(shell: str) -> None:
    words = {word for command in COMMANDS for word in re.findall(r"--([a-z-]+)", help_of(command))}
    assert all(
        re.search(rf"\b{re.escape(word)}\b", completion(shell)) for word in (*COMMANDS, *words, *SHELLS, "sarif")
    )


def test_an_alert_is_explained_by_its_runbook_page() -> None:
    pages = ROOT / "out" / "ai-factory-east" / "docs" / "runbooks"
    spec = ("--spec", str(ROOT / "specs" / "ai-factory.yaml"))
    run = call("explain", "gpulost", *spec)
    assert run == Run(0, (pages / "GpuLost.md").read_text("utf-8"), "")
    run = call("explain", "all", *spec)
    assert run.out.splitlines() == sorted(page.stem for page in pages.iterdir())
    run = call("explain", "GpuLosst", *spec)
    assert run == Run(2, "", "tocsin: ai-factory-east has no alert called GpuLosst; did you mean GpuLost?\n")
    run = call("explain", "nothing of ours", *spec)
    assert run.err == "tocsin: ai-factory-east has no alert called nothing of ours; `all` lists them\n"


def test_an_alert_of_a_spec_with_mistakes_is_not_explained(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text("version: 1\n")
    run = call("explain", "GpuLost", "--spec", str(tmp_path / "spec.yaml"))
    assert run.status == 1
    assert "error[SPC106]" in run.out


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (
            ["tocsin", ""],
            [
                "check",
                "build",
                "test",
                "capacity",
                "preview",
                "drill",
                "lint-expr",
                "explain",
                "completion",
                "--help",
                "--version",
            ],
        ),
        (["tocsin", "c"], ["check", "capacity", "completion"]),
        (["tocsin", "--v"], ["--version"]),
        (["tocsin", "spec"], []),
        (["tocsin", "build", "--no"], ["--no-verify"]),
        (["tocsin", "build", "spec.yaml", "--ch"], ["--check"]),
        (["tocsin", "check", "--no"], []),
        (["tocsin", "check", "spec"], ["spec two.yaml", "spec.yaml"]),
        (["tocsin", "check", "spec.yaml", "spec "], ["spec two.yaml"]),
        (["tocsin", "check", "--format", ""], ["text", "json", "github", "sarif"]),
        (["tocsin", "build", "spec.yaml", "--format", "s"], ["sarif"]),
        (["tocsin", "build", "--out", "f"], ["folder"]),
        (["tocsin", "completion", "f"], ["fish"]),
        (["tocsin", "lint-expr", "--sp"], ["--spec"]),
        (["tocsin", "lint-expr", "up", "--spec", "spec"], ["spec two.yaml", "spec.yaml"]),
        (["tocsin", "explain", "GpuLost", "--spec", "spec"], ["spec two.yaml", "spec.yaml"]),
        (["tocsin", "drill", "--f"], ["--fault", "--fast", "--format"]),
        (["tocsin", "drill", "spec.yaml", "--format", ""], ["text", "json"]),
        (["tocsin", "explain", "s"], ["spec two.yaml", "spec.yaml"]),
    ],
)
def test_bash_completes(words: list[str], completed: list[str], tmp_path: Path) -> None:
    for name in ("spec.yaml", "spec two.yaml"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "tocsin.bash").write_text(completion("bash"), "utf-8")
    script = (
        'source tocsin.bash; complete -p tocsin >&2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tocsin; '
        'for word in "${COMPREPLY[@]}"; do echo "$word"; done'
    )
    run = subprocess.run(
        ["bash", "--norc", "-u", "-c", script, "bash", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "complete -F _tocsin tocsin\n")
    assert sorted(run.stdout.splitlines()) == sorted(completed)

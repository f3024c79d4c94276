"""Writing: every file whole, nothing foreign touched, and at whatever moment it ends, the next build is right."""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from command import is_sentence, tocsin
from conftest import ROOT
from tocsin.artifact import Artifact
from tocsin.cli import run
from tocsin.source import Span
from tocsin.write import JOURNAL, MANIFEST, STAGE, Changes, compare, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

HERE = Span("spec.yaml", 1, 1, 1, 2)
SPEC = ROOT / "specs" / "incident-world.yaml"

# Two outputs of one spec before and after a change: files that stay, change, come and go, and folders with them.
OLD = {
    "rules/a.yml": "a: 1\n",
    "rules/b.yml": "b: 1\n",
    "gone/deep/c.yml": "c: 1\n",
    "same.csv": "s\n",
    "d.json": "{}\n",
}
NEW = {
    "rules/a.yml": "a: 2\n",
    "rules/b.yml": "b: 1\n" * 9,
    "come/e.yml": "e: 1\n",
    "same.csv": "s\n",
    "d.json": "[]\n",
}

# The calls by which a write changes the disk.
STEPS = ("open", "link", "mkdir", "replace", "unlink", "rmdir")


def artifacts(texts: Mapping[str, str]) -> list[Artifact]:
    """An output as the emitters hand it over, its manifest last."""
    manifest = json.dumps({"factory": "f", "files": {path: {"text": text} for path, text in texts.items()}})
    return [Artifact(path, text, ((1, HERE),)) for path, text in [*sorted(texts.items()), (MANIFEST, manifest)]]


def files(texts: Mapping[str, str]) -> dict[str, str]:
    """What a folder holds after an output was written to it."""
    return {artifact.path: artifact.text for artifact in artifacts(texts)}


def tree(folder: Path) -> dict[str, str]:
    """Everything below a folder: files with their text, links with where they lead, empty folders."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_text("utf-8")
        elif not path.is_dir() or not any(path.iterdir()):
            found[name] = "/"
    return found


def outputs(folder: Path) -> dict[str, str]:
    """The files below a folder that a reader of outputs sees: neither the journal nor the stage, nor empty folders."""
    found = tree(folder)
    return {path: found[path] for path in found if not path.startswith((STAGE, JOURNAL)) and found[path] != "/"}


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Which file is where, and when it was written last."""
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds the old output."""
    path = tmp_path / "out" / "f"
    write(artifacts(OLD), path)
    assert tree(path) == files(OLD)
    return path


# --- what a write does ------------------------------------------------------------------------------------------------


def test_a_write_brings_a_folder_to_the_artifacts(folder: Path) -> None:
    changes = write(artifacts(NEW), folder)
    assert changes == Changes(
        ("come/e.yml",), ("d.json", "rules/a.yml", "rules/b.yml", MANIFEST), ("gone/deep/c.yml",), ()
    )
    assert tree(folder) == files(NEW)


def test_a_comparison_tells_the_same_and_changes_nothing(folder: Path) -> None:
    before = stamps(folder)
    told = compare(artifacts(NEW), folder)
    assert (tree(folder), stamps(folder)) == (files(OLD), before)
    assert told == write(artifacts(NEW), folder)
    assert not compare(artifacts(NEW), folder)


def test_what_has_not_changed_is_not_written_again(folder: Path) -> None:
    before = stamps(folder)
    assert not write(artifacts(OLD), folder)
    assert stamps(folder) == before
    write(artifacts(NEW), folder)
    assert stamps(folder)[str(folder / "same.csv")] == before[str(folder / "same.csv")]


def test_an_edited_file_of_ours_is_mended(folder: Path) -> None:
    (folder / "rules/a.yml").write_text("edited")
    (folder / "rules/b.yml").unlink()
    changes = write(artifacts(OLD), folder)
    assert (changes.changed, changes.added) == (("rules/a.yml",), ("rules/b.yml",))
    assert tree(folder) == files(OLD)


def test_folders_go_with_the_last_file_of_ours_and_stay_for_a_file_of_others(folder: Path) -> None:
    (folder / "gone/note.txt").write_text("mine")
    write(artifacts(NEW), folder)
    assert tree(folder) == {**files(NEW), "gone/note.txt": "mine"}


# --- what is not ours -------------------------------------------------------------------------------------------------


def as_file(path: Path, outside: Path) -> None:
    path.write_text("mine")


def as_folder(path: Path, outside: Path) -> None:
    path.mkdir()


def as_full_folder(path: Path, outside: Path) -> None:
    path.mkdir()
    (path / "note.txt").write_text("mine")


def as_link(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "victim")


def as_dangling_link(path: Path, outside: Path) -> None:
    path.symlink_to(outside / "nothing")


def as_linked_folder(path: Path, outside: Path) -> None:
    path.symlink_to(outside)


def as_fifo(path: Path, outside: Path) -> None:
    os.mkfifo(path)


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder beside the output, which must be the same at the end."""
    path = tmp_path / "outside"
    path.mkdir()
    (path / "victim").write_text("precious")
    (path / "empty").mkdir()
    yield path
    assert tree(path) == {"victim": "precious", "empty": "/"}


IN_THE_WAY = [as_file, as_folder, as_full_folder, as_link, as_dangling_link, as_linked_folder, as_fifo]


@pytest.mark.parametrize("put", IN_THE_WAY)
@pytest.mark.parametrize("name", ["come/e.yml", "come"])
def test_what_is_not_ours_is_told_and_nothing_is_written(
    folder: Path, outside: Path, name: str, put: Callable[[Path, Path], None]
) -> None:
    if name != "come":
        (folder / name).parent.mkdir()
    put(folder / name, outside)
    before, when = tree(folder), stamps(folder)
    changes = write(artifacts(NEW), folder)
    if name == "come" and put in (as_folder, as_full_folder):  # a folder of others is a place like any other
        assert not changes.foreign
        assert tree(folder).items() >= files(NEW).items()
        assert not (folder / name / "note.txt").exists() or (folder / name / "note.txt").read_text() == "mine"
        return
    assert changes.foreign == ("come/e.yml",)
    assert (tree(folder), stamps(folder)) == (before, when)


@pytest.mark.parametrize("put", [p for p in IN_THE_WAY if p is not as_file])
@pytest.mark.parametrize("name", ["rules/a.yml", "gone/deep/c.yml", MANIFEST])
def test_what_stands_where_a_file_of_ours_was_is_not_ours(
    folder: Path, outside: Path, name: str, put: Callable[[Path, Path], None]
) -> None:
    (folder / name).unlink()
    put(folder / name, outside)
    there = tree(folder / name) if (folder / name).is_dir() else (folder / name).lstat()
    changes = write(artifacts(NEW), folder)
    assert (tree(folder / name) if (folder / name).is_dir() else (folder / name).lstat()) == there
    assert (name in changes.foreign) == (name in files(NEW))
    assert name not in changes.removed


def test_a_file_of_others_that_is_what_we_would_write_is_no_obstacle(folder: Path) -> None:
    (folder / "come").mkdir()
    (folder / "come/e.yml").write_text(NEW["come/e.yml"])
    assert not write(artifacts(NEW), folder).foreign
    assert tree(folder) == files(NEW)


def test_the_folder_itself_is_no_link(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "f").symlink_to(outside)
    with pytest.raises(OSError, match="symbolic link"):
        write(artifacts(NEW), tmp_path / "f")


LIES: dict[str, str] = {
    "up": '{"files": {"../../outside/victim": 1, "../../outside/empty/x": 1}}',
    "up-later": '{"files": {"rules/../../../outside/victim": 1}}',
    "absolute": '{"files": {"/OUTSIDE/victim": 1, "//OUTSIDE/victim": 1}}',
    "link": '{"files": {"link/victim": 1, "link/empty/x": 1}}',
    "folder": '{"files": {"rules": 1, "gone/deep": 1}}',
    "nul": r'{"files": {"a\u0000b": 1}}',
    "surrogate": r'{"files": {"a\ud800": 1}}',
    "control": r'{"files": {"a\u001b[2J": 1, "a\nb": 1}}',
    "long": json.dumps({"files": {"x" * 5000: 1, "x/" * 3000: 1}}),
    "nameless": '{"files": {"": 1, ".": 1, "./": 1, "/": 1, "a//b": 1, "./d.json": 1}}',
    "stage": f'{{"files": {{"{STAGE}/x": 1, "{JOURNAL}": 1, "{MANIFEST}": 1}}}}',
    "nested": '{"files": ' * 100_000,
    "no-json": "<<<<<<< HEAD",
    "no-text": "\udcff",
    "list": "[]",
    "empty": "{}",
    "number": '{"files": 5}',
    "numbers": '{"files": [5, ["x"], null, "d.json"]}',
    "text": '{"files": "d.json"}',
    "huge-number": '{"files": ' + "9" * 10_000 + "}",
}


@pytest.mark.parametrize("name", [MANIFEST, JOURNAL])
@pytest.mark.parametrize("lie", LIES)
def test_a_manifest_that_lies_reaches_nothing_outside_and_breaks_no_build(
    folder: Path, outside: Path, name: str, lie: str
) -> None:
    (folder / "link").symlink_to(outside)
    (folder / "gone/deep/c.yml").unlink()
    (folder / "mine.txt").write_text("mine")
    text = LIES[lie].replace("OUTSIDE", str(outside).lstrip("/"))
    (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    kept = {path: text for path, text in files(OLD).items() if path not in ("gone/deep/c.yml", MANIFEST)}
    changes = write(artifacts(kept), folder)
    assert not changes.foreign
    assert tree(folder).items() >= {**kept, "mine.txt": "mine", "link": f"-> {outside}"}.items()
    assert not (folder / JOURNAL).exists()
    assert not compare(artifacts(kept), folder)


@pytest.mark.parametrize("put", [as_folder, as_link, as_dangling_link, as_linked_folder, as_fifo])
def test_a_manifest_is_only_believed_where_it_is_a_file(
    folder: Path, outside: Path, put: Callable[[Path, Path], None]
) -> None:
    (folder / MANIFEST).unlink()
    put(folder / MANIFEST, outside)
    assert MANIFEST in write(artifacts(OLD), folder).foreign


# --- what fails -------------------------------------------------------------------------------------------------------


class KilledError(BaseException):
    """The process is dead: nothing after this happens."""


def never(_step: int) -> None:
    """No step fails."""


def at(bad: int, failure: BaseException) -> Callable[[int], BaseException | None]:
    """One step fails, those after it work."""
    return lambda step: failure if step == bad else None


def since(first: int, failure: BaseException) -> Callable[[int], BaseException | None]:
    """A step and all that follow fail."""
    return lambda step: failure if step >= first else None


class Steps:
    """Counts the calls that change the disk and lets some of them fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made = 0
        self.fails: Callable[[int], BaseException | None] = never
        for name in STEPS:
            monkeypatch.setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.made += 1
            if failure := self.fails(self.made):
                raise failure
            return call(*args, **kwargs)

        return counted


@pytest.fixture
def steps(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Steps:
    """The steps of writes to the folder."""
    return Steps(monkeypatch)


def copies(folder: Path) -> Iterator[Path]:
    """The same old output in a fresh folder again and again."""
    number = 0
    while True:
        number += 1
        yield Path(shutil.copytree(folder, folder.with_name(f"f{number}")))


def steps_of_a_write(folder: Path, steps: Steps) -> int:
    """How many steps it takes from the old output to the new one."""
    target = next(copies(folder))
    steps.made = 0
    write(artifacts(NEW), target)
    made = steps.made
    shutil.rmtree(target)
    return made


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_whatever_step_fails_the_folder_is_as_it_was_or_done(folder: Path, steps: Steps, code: int) -> None:
    total = steps_of_a_write(folder, steps)
    assert total > 25
    outcomes = []
    for bad, target in zip(range(1, total + 1), copies(folder), strict=False):
        steps.made, steps.fails = 0, at(bad, OSError(code, os.strerror(code)))
        with suppress(OSError):
            write(artifacts(NEW), target)
        steps.fails = never
        left = outputs(target)
        assert left in (files(OLD), files(NEW)), f"step {bad}"
        outcomes.append(left == files(NEW))
        if left == files(OLD):
            assert tree(target) == files(OLD), f"step {bad}"
        write(artifacts(NEW), target)
        assert tree(target) == files(NEW)
        shutil.rmtree(target)
    assert True in outcomes
    assert False in outcomes


@pytest.mark.parametrize("then", [OLD, NEW])
def test_whenever_it_is_killed_each_file_is_whole_and_the_next_build_mends(
    folder: Path, steps: Steps, then: dict[str, str]
) -> None:
    old, new = files(OLD), files(NEW)
    mixed = 0
    for bad, target in zip(range(1, steps_of_a_write(folder, steps) + 1), copies(folder), strict=False):
        steps.made, steps.fails = 0, since(bad, KilledError())
        with pytest.raises(KilledError):
            write(artifacts(NEW), target)
        steps.fails = never
        left = outputs(target)
        for path, text in left.items():
            assert text in (old.get(path), new.get(path)), f"step {bad}, {path}"
        for path in old.keys() & new.keys():
            assert path in left, f"step {bad}: {path} is neither the old nor the new one"
        mixed += left not in (old, new)
        write(artifacts(then), target)
        assert tree(target) == files(then), f"step {bad}"
        shutil.rmtree(target)
    assert mixed  # otherwise this test has not seen a half-done write


WRITER = """\
import json, os, signal, sys
sys.path[:0] = json.loads(sys.argv[4])
from pathlib import Path
from test_write import NEW, OLD, STEPS, artifacts
from tocsin.write import write

folder, rounds, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
made = 0

def counted(call):
    def counting(*args, **kwargs):
        global made
        made += 1
        if made == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)
    return counting

for name in STEPS:
    setattr(os, name, counted(getattr(os, name)))
print("begins", flush=True)
for number in range(rounds):
    write(artifacts(OLD if number % 2 else NEW), folder)
"""


def writer(folder: Path, rounds: int = 1, killed_at: int = 0) -> subprocess.Popen[str]:
    """A process that writes the new and the old output in turn, killed by itself at a step where one is given."""
    command = [sys.executable, "-c", WRITER, str(folder), str(rounds), str(killed_at), json.dumps(sys.path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def end_of(process: subprocess.Popen[str]) -> int:
    """Wait for a process, its output read to the end."""
    process.communicate()
    return process.returncode


def test_a_process_that_kills_itself_leaves_whole_files(folder: Path, steps: Steps) -> None:
    total = steps_of_a_write(folder, steps)
    steps.fails = never
    old, new = files(OLD), files(NEW)
    for bad, target in zip(range(1, total, 7), copies(folder), strict=False):
        assert end_of(writer(target, killed_at=bad)) == -signal.SIGKILL
        left = outputs(target)
        assert all(text in (old.get(path), new.get(path)) for path, text in left.items())
        assert old.keys() & new.keys() <= left.keys()
        write(artifacts(NEW), target)
        assert tree(target) == new


def test_a_process_that_is_killed_at_any_moment_leaves_whole_files(folder: Path) -> None:
    old, new, moments = files(OLD), files(NEW), random.Random(0)
    for _ in range(8):
        process = writer(folder, rounds=1_000_000)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(moments.random() / 20)
        process.kill()
        end_of(process)
        left = outputs(folder)
        assert all(text in (old.get(path), new.get(path)) for path, text in left.items())
        assert old.keys() & new.keys() <= left.keys()
    write(artifacts(NEW), folder)
    assert tree(folder) == new


def test_builds_at_the_same_time_do_not_disturb_each_other(folder: Path) -> None:
    old, new = files(OLD), files(NEW)
    processes = [writer(folder, rounds=24) for _ in range(3)]
    while any(process.poll() is None for process in processes):
        for path in old.keys() & new.keys():
            assert (folder / path).read_text() in (old[path], new[path])
    assert [end_of(process) for process in processes] == [0, 0, 0]
    assert tree(folder) == old


# --- through the command ----------------------------------------------------------------------------------------------


def built(out: Path) -> Path:
    """The incident world, built."""
    assert run(["build", str(SPEC), "--no-verify", "--out", str(out)]) == 0
    return out / "incident-world"


def test_a_check_tells_of_drift_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = built(tmp_path / "out")
    check = ["build", str(SPEC), "--no-verify", "--check", "--out", str(tmp_path / "out")]
    assert run(check) == 0
    (folder / "rules/silicon.yml").write_text("edited")
    (folder / "rules/fabric.yml").unlink()
    before = (tree(folder), stamps(folder))
    capsys.readouterr()
    assert run(check) == 1
    assert "would add 1: rules/fabric.yml" in (told := capsys.readouterr().out)
    assert "would change 1: rules/silicon.yml" in told
    assert (tree(folder), stamps(folder)) == before
    assert run([*check[:-1], str(tmp_path / "nothing")]) == 1
    assert not (tmp_path / "nothing").exists()


def test_a_build_that_fails_changes_nothing(tmp_path: Path) -> None:
    folder = built(tmp_path / "out")
    before = (tree(folder), stamps(folder))
    spec = tmp_path / "incident-world.yaml"
    spec.write_text(SPEC.read_text("utf-8").replace("objective: 99.5%", "objective: 100%"), "utf-8")
    assert run(["build", str(spec), "--no-verify", "--out", str(tmp_path / "out")]) == 1
    assert (tree(folder), stamps(folder)) == before


def test_a_foreign_file_is_named_and_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out/incident-world"
    (folder / "rules").mkdir(parents=True)
    (folder / "rules/silicon.yml").write_text("mine")
    assert run(["build", str(SPEC), "--no-verify", "--out", str(tmp_path / "out")]) == 2
    assert "rules/silicon.yml" in capsys.readouterr().err
    assert tree(folder) == {"rules/silicon.yml": "mine"}


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_disk_that_refuses_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: int
) -> None:
    folder = built(tmp_path / "out")
    (folder / "rules/silicon.yml").write_text("edited")
    before = tree(folder)
    Steps(monkeypatch).fails = since(2, OSError(code, os.strerror(code), "there"))
    capsys.readouterr()
    assert run(["build", str(SPEC), "--no-verify", "--out", str(tmp_path / "out")]) == 3
    assert capsys.readouterr().err == f"tocsin: there: {os.strerror(code)}\n"
    monkeypatch.undo()
    assert tree(folder) == before


def test_a_disk_that_is_full_leaves_the_old_output(tmp_path: Path) -> None:
    folder = built(tmp_path / "out")
    spec = tmp_path / "incident-world.yaml"
    spec.write_text(SPEC.read_text("utf-8").replace("default: 15s", "default: 10s"), "utf-8")
    before = (tree(folder), stamps(folder))
    arguments: list[str | Path] = ["build", spec, "--no-verify", "--out", tmp_path / "out"]
    done = tocsin(arguments, limits={resource.RLIMIT_FSIZE: 4000})
    assert done.returncode == 3
    assert is_sentence(done.stderr)
    assert (tree(folder), stamps(folder)) == before
    assert tocsin(arguments).returncode == 0
    assert tree(folder) != before[0]


@pytest.mark.parametrize("name", ["file", "file/below", "/proc/nothing"])
def test_a_place_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("mine")
    done = tocsin(["build", SPEC, "--no-verify", "--out", name], folder=tmp_path)
    assert done.returncode == 3
    assert is_sentence(done.stderr)
    assert tree(tmp_path) == {"file": "mine"}

"""Artifacts to disk: each file whole or not at all, and nothing that tocsin did not write is touched.

The manifest says which files are ours. Everything is written into a staging folder first and moved to its place when
it is complete, so a full disk is found before anything has changed; what fails later is taken back. A build that was
killed leaves whole files, old or new, and a journal that lists them: the next build knows them and finishes the work.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tocsin.artifact import Artifact

    Undo = list[Callable[[], object]]

MANIFEST = "manifest.json"
JOURNAL = ".manifest.next.json"
STAGE = ".tocsin.next"
MAX_MANIFEST = 256 * 2**20  # bytes

_FILE, _FOLDER, _NOTHING, _OTHER = "file", "folder", "nothing", "other"


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths that differ from the artifacts: to be `added`, `changed` or `removed`; `foreign` ones are not ours."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    foreign: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them."""
        return self.added + self.changed + self.removed + self.foreign

    def __bool__(self) -> bool:
        return bool(self.paths)


def compare(artifacts: Sequence[Artifact], folder: Path) -> Changes:
    """What a write would do. Reads only. OSError where even that is not possible."""
    return _compare(_contents(artifacts), folder)


def _contents(artifacts: Sequence[Artifact]) -> dict[str, bytes]:
    wanted = {artifact.path: artifact.text.encode() for artifact in artifacts}
    if len(wanted) < len(artifacts):
        raise ValueError("two artifacts have the same path")
    return wanted


def _compare(wanted: dict[str, bytes], folder: Path) -> Changes:
    ours = _ours(folder)
    added: list[str] = []
    changed: list[str] = []
    foreign: list[str] = []
    for path, content in wanted.items():
        found = _found(folder, path)
        if found == _NOTHING:
            added.append(path)
        elif found != _FILE:
            foreign.append(path)
        elif not _is(folder / path, content):
            (changed if path in ours or path == MANIFEST else foreign).append(path)
    removed = sorted(path for path in ours - wanted.keys() if _is_file(folder, path))
    return Changes(tuple(added), tuple(changed), tuple(removed), tuple(foreign))


def write(artifacts: Sequence[Artifact], folder: Path) -> Changes:
    """Bring a folder to the artifacts; nothing happens where `foreign` files are in the way.

    OSError, and the folder as it was, where the disk does not allow it.
    """
    wanted = _contents(artifacts)
    if folder.is_symlink():
        raise NotADirectoryError(errno.ENOTDIR, "it is a symbolic link, and tocsin follows none", str(folder))
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _alone(folder):
            _clear(folder)
            changes = _compare(wanted, folder)
            if not changes.foreign:
                _bring(folder, changes, wanted)
        return changes
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One build at a time writes a folder; a second one waits until the first has ended, in whatever way."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


# --- what is there ----------------------------------------------------------------------------------------------------


def _ours(folder: Path) -> set[str]:
    """Every path that a manifest or journal of ours lists; a listed path that leaves the folder is not believed."""
    return {path for name in (MANIFEST, JOURNAL) for path in _listed(folder / name) if _is_inside(path)}


def _listed(file: Path) -> Iterable[object]:
    try:
        status = file.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_MANIFEST:
            return ()
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):  # none, or not written by us
        return ()
    files = content.get("files") if isinstance(content, dict) else None
    return files if isinstance(files, dict) else ()


def _is_inside(path: object) -> TypeGuard[str]:
    if not isinstance(path, str) or not path.isprintable():
        return False
    parts = path.split("/")
    return not {"", ".", "..", STAGE} & set(parts) and path not in (MANIFEST, JOURNAL)


def _found(folder: Path, path: str) -> str:
    """What is at a path: a file, a folder, nothing, or something else, such as a link, there or on the way there."""
    kind, place = _FOLDER, str(folder)
    for part in path.split("/"):
        if kind != _FOLDER:
            return _OTHER
        place = f"{place}/{part}"
        try:
            mode = os.lstat(place).st_mode
        except FileNotFoundError:
            return _NOTHING
        kind = _FOLDER if stat.S_ISDIR(mode) else _FILE if stat.S_ISREG(mode) else _OTHER
    return kind


def _is_file(folder: Path, path: str) -> bool:
    try:
        return _found(folder, path) == _FILE
    except OSError:  # a name that no file can have, or none that we may look at
        return False


def _is_empty_folder(folder: Path, path: str) -> bool:
    try:
        return _found(folder, path) == _FOLDER and not os.listdir(folder / path)
    except OSError:
        return False


def _is(file: Path, content: bytes) -> bool:
    return file.stat().st_size == len(content) and file.read_bytes() == content


# --- what is done -----------------------------------------------------------------------------------------------------


def _bring(folder: Path, changes: Changes, contents: dict[str, bytes]) -> None:
    """Stage, then move, then tidy up. OSError where the first two fail, after all that was moved was moved back."""
    ours = _ours(folder)
    touched = sorted({*changes.added, *changes.changed}, key=lambda path: (path == MANIFEST, path))
    undo: Undo = []
    try:
        if changes:
            journal = json.dumps({"files": dict.fromkeys(sorted(ours | contents.keys()))}).encode()
            fresh = _staged(folder / STAGE, {JOURNAL: journal, **{path: contents[path] for path in touched}})
            _put(folder, JOURNAL, fresh.pop(JOURNAL), undo)
            _take_away(folder, changes.removed, undo)
            _make_folders(folder, fresh, undo)
            for path, file in fresh.items():
                _put(folder, path, file, undo)
    except BaseException:
        for step in reversed(undo):  # the journal's is the last: it stays where one before it fails
            step()
        raise
    finally:
        _clear(folder)
    for path in ours - contents.keys():
        _drop_empty_folders(folder, path)
    (folder / JOURNAL).unlink(missing_ok=True)


def _staged(stage: Path, contents: dict[str, bytes]) -> dict[str, str]:
    """Every content in a file of its own; where it is, by path."""
    stage.mkdir()
    files = {path: f"{stage}/{number}.new" for number, path in enumerate(contents)}
    for path, file in files.items():
        _save(file, contents[path])
    return files


def _save(file: str, content: bytes) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    # Without fsync: it takes longer than all the rest. What a power cut tears, the next build finds by its bytes.
    try:
        while content:
            content = content[os.write(descriptor, content) :]
    finally:
        os.close(descriptor)


def _take_away(folder: Path, paths: Iterable[str], undo: Undo) -> None:
    for number, path in enumerate(paths):
        kept = folder / STAGE / f"{number}.removed"
        undo.append(partial(_move_back, kept, folder / path))
        os.replace(folder / path, kept)


def _make_folders(folder: Path, paths: Iterable[str], undo: Undo) -> None:
    """Every folder that one of the paths lies in, outer ones first."""
    folders = {path.rpartition("/")[0] for path in paths}
    for parent in sorted(
        {parent for path in folders for parent in (PurePosixPath(path), *PurePosixPath(path).parents)}
    ):
        if not (folder / parent).is_dir():
            undo.append(partial(_rmdir, folder / parent))
            (folder / parent).mkdir()


def _put(folder: Path, path: str, fresh: str, undo: Undo) -> None:
    """Move a finished file to its place: a reader sees the old one or the new one."""
    target, kept = f"{folder}/{path}", f"{fresh}.old"
    if os.path.exists(target):
        with suppress(OSError):  # a file system without hard links: the old file cannot be kept
            os.link(target, kept, follow_symlinks=False)
        undo.append(partial(_move_back, kept, target))
    else:
        undo.append(partial(_unlink, target))
    os.replace(fresh, target)


def _move_back(kept: str | Path, target: str | Path) -> None:
    with suppress(FileNotFoundError):  # it was never moved away
        os.replace(kept, target)


def _unlink(target: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(target)


def _rmdir(folder: Path) -> None:
    with suppress(FileNotFoundError):
        folder.rmdir()


def _clear(folder: Path) -> None:
    """Remove what a build has staged, this one or one that was killed."""
    stage = folder / STAGE
    if stage.is_symlink() or stage.is_file():
        stage.unlink()
    elif stage.exists():
        shutil.rmtree(stage)


def _drop_empty_folders(folder: Path, path: str) -> None:
    """Remove the folders that a file of ours has left empty."""
    for parent in PurePosixPath(path).parents:
        if parent.parts and _is_empty_folder(folder, str(parent)):
            (folder / parent).rmdir()

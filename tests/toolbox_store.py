"""The cache of external programs in the checkout: `<tool>/<version>/<tool>`, filled from the machine's package archive.

A program appears in the cache whole and proven to start, or not at all. What each suite had is written down, so that a
full cache is known to be full without asking anybody.
"""

import contextlib
import fcntl
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from toolbox_apt import Archive, Suite, SuiteError

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Where a program comes from: packages that may hold it (the first one a suite has), and the names of its file.

    `aims` are the `major.minor` versions the tests want; without aims any one version will do.
    """

    packages: tuple[str, ...]
    files: tuple[str, ...]
    aims: tuple[Version, ...] = ()


@dataclass(frozen=True, slots=True)
class Visit:
    """What a suite had: versions by tool, split by whether they start on this machine; or why it could not be read."""

    usable: Mapping[str, str] = field(default_factory=dict)
    unusable: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""


_PROMETHEUS = ((2, 42), (2, 53), (3, 5))
_ALERTMANAGER = ((0, 25), (0, 28), (0, 33))
RECIPES: Mapping[str, Recipe] = {
    "promtool": Recipe(("promtool", "prometheus"), ("promtool",), _PROMETHEUS),
    "amtool": Recipe(("prometheus-alertmanager",), ("amtool",), _ALERTMANAGER),
    "prometheus": Recipe(("prometheus",), ("prometheus",), _PROMETHEUS),
    "alertmanager": Recipe(("prometheus-alertmanager",), ("alertmanager", "prometheus-alertmanager"), _ALERTMANAGER),
    "prometheus-node-exporter": Recipe(("prometheus-node-exporter",), ("prometheus-node-exporter", "node_exporter")),
}


def fetch(
    archive: Archive, cache: Path, *, refresh: bool = False, progress: Callable[[str], object] = lambda _: None
) -> dict[str, Visit]:
    """Put into the cache what the archive's suites have and it lacks; what became of each suite, by its name.

    A suite visited before is asked again only if one of its programs is gone from the cache, or with `refresh`.
    Raises OSError if the cache cannot be written.
    """
    visits = _recall(archive, cache)
    if not refresh and len(visits) == len(archive.suites):
        return visits
    with _locked(cache):
        known = {} if refresh else _recall(archive, cache)  # another run may have filled the cache while we waited
        for name in archive.suites:
            if name not in known:
                known[name] = _visit(archive, name, cache, progress)
                save_json(_notes(cache), {key: asdict(visit) for key, visit in known.items() if not visit.failure})
    return {name: known[name] for name in archive.suites}


def ask_version(program: Path) -> Version | None:
    """What the program says its version is; None if it does not start here or says nothing of the kind."""
    try:
        answer = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    match = re.search(r"version (\d+(?:\.\d+)+)", answer.stdout + answer.stderr)
    return tuple(map(int, match[1].split("."))) if match else None


def load_json(path: Path) -> dict[str, Any]:
    """The object in a file that only this program writes; empty if there is none or it is damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def save_json(path: Path, value: object) -> None:
    """Write the file whole or not at all, whoever else writes it at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".note-") as folder:
        whole = Path(folder, path.name)
        whole.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        whole.replace(path)


def _notes(cache: Path) -> Path:
    return cache / "suites.json"


def _recall(archive: Archive, cache: Path) -> dict[str, Visit]:
    """The earlier visits whose programs are all still there, in the archive's order."""
    notes = load_json(_notes(cache))
    visits: dict[str, Visit] = {}
    for name in archive.suites:
        with contextlib.suppress(KeyError, TypeError):
            visit = Visit(**notes[name])
            if all((cache / tool / version / tool).is_file() for tool, version in visit.usable.items()):
                visits[name] = visit
    return visits


@contextlib.contextmanager
def _locked(cache: Path) -> Iterator[None]:
    """Hold the cache alone; what an interrupted run left behind is swept away first."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for stale in cache.glob(".work-*"):
            shutil.rmtree(stale, ignore_errors=True)  # a child of the interrupted run may still write into it
        yield


def _visit(archive: Archive, name: str, cache: Path, progress: Callable[[str], object]) -> Visit:
    with tempfile.TemporaryDirectory(dir=cache, prefix=".work-") as folder:
        try:
            suite = Suite(archive, name, Path(folder))
            progress(f"{name}: reading its package list")
            suite.refresh()
            return _take(suite, cache, progress)
        except SuiteError as error:
            return Visit(failure=str(error))


def _take(suite: Suite, cache: Path, progress: Callable[[str], object]) -> Visit:
    """Move the programs that the cache lacks from the suite into it, those that start on this machine."""
    offered = suite.versions(sorted({package for recipe in RECIPES.values() for package in recipe.packages}))
    usable: dict[str, str] = {}
    unusable: dict[str, str] = {}
    for tool, recipe in RECIPES.items():
        package = next((name for name in recipe.packages if name in offered), None)
        if package is None or (not recipe.aims and any(cache.glob(f"{tool}/*/{tool}"))):
            continue
        version = _upstream(offered[package])
        if not (cache / tool / version / tool).is_file():
            progress(f"{suite.name}: {tool} {version}")
            folder = suite.unpack(package, offered[package]) / "usr/bin"
            program = next((folder / file for file in recipe.files if (folder / file).is_file()), None)
            if program is None or ask_version(program) is None:
                unusable[tool] = version
                continue
            _keep(program, suite.folder / "whole" / tool, cache / tool / version)
        usable[tool] = version
    return Visit(usable, unusable)


def _keep(program: Path, staged: Path, target: Path) -> None:
    """Let the program appear in the folder `target`, under the folder's parent's name, in one step."""
    staged.mkdir(parents=True)
    program.rename(staged / target.parent.name)
    target.parent.mkdir(exist_ok=True)
    staged.rename(target)


def _upstream(version: str) -> str:
    """The version without what a distribution adds to it: 1:2.53.3+ds1-2 -> 2.53.3"""
    match = re.match(r"(?:\d+:)?([\d.]*\d)", version)
    return match[1] if match else version

"""External programs: found, started, awaited. The only module that starts a process."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tocsin.toolerror import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

OURS = "if the spec's line looks right, this is a fault of tocsin: please report it with the spec"
_JUDGES = ("promtool", "amtool")
_ALSO = {"alertmanager": ("prometheus-alertmanager",)}  # what Debian calls it
TIMEOUT = 600  # seconds for one call; the tests of a thousand SLOs need a fraction of it


@dataclass(frozen=True, slots=True)
class Tool:
    """A program and the version that it says it has."""

    name: str
    path: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def number(self) -> tuple[int, ...]:
        """The version as numbers, without what a distribution appends to it."""
        return tuple(map(int, re.findall(r"\d+", self.version.partition("+")[0])))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program said: its exit status and everything it printed."""

    status: int
    output: str


def find(name: str, environment: Mapping[str, str]) -> Tool:
    """The program that NAME in the environment names, else the one on PATH; ToolError where there is none."""
    named = environment.get(name.upper())
    called = (named,) if named else (name, *_ALSO.get(name, ()))
    path = next(filter(None, (shutil.which(one, path=environment.get("PATH")) for one in called)), None)
    if path is None:
        otherwise = f"{'' if name in _JUDGES else 'or '}set {name.upper()} to its path"
        otherwise += ", or build with --no-verify" if name in _JUDGES else ""
        where = f"{name.upper()}={named}" if named else "PATH"
        raise ToolError(
            f"{name} was not found ({where}): install it (Debian and Ubuntu: apt install prometheus "
            f"prometheus-alertmanager; macOS: brew install prometheus alertmanager), {otherwise}"
        )
    said = call([path, "--version"], None).output.split()
    version = said[said.index("version") + 1] if "version" in said[:-1] else "?"
    return Tool(name, os.path.abspath(path), version)  # it will run in another folder


def call(command: Sequence[str], folder: Path | None) -> Answer:
    """Run a command to its end; ToolError where it cannot be started or does not end."""
    # Messages are read, so they must not depend on the caller's language. A fifth of promtool's time went into
    # collecting garbage: each test of rules leaves a whole storage behind.
    environment = {"GOGC": "400", **os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolError(f"{command[0]} cannot be used: {error}") from None
    return Answer(done.returncode, done.stdout.decode("utf-8", "replace"))


def together(tasks: Sequence[Callable[[], None]]) -> None:
    """Run tasks side by side, as many as there are processors; the first ToolError is raised."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        futures = [pool.submit(task) for task in tasks]
        try:
            for future in futures:
                future.result()
        except BaseException:  # Ctrl-C as well: what has not begun does not begin any more
            pool.shutdown(wait=False, cancel_futures=True)
            raise

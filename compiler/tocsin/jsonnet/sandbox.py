"""The outside of the sandbox: the process is started, awaited, and its answer read."""

from __future__ import annotations

import json
import re
import signal
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tocsin.toolerror import ToolError

_WORKER = Path(__file__).with_name("worker.py")
_PROGRAM = "<tocsin>"
_WALL = 4  # times the processor's seconds: a loaded machine is no endless program
_TRACE = re.compile(
    r"^(?:STATIC ERROR: |\t)(?P<file>[^\t\n]+?):"
    r"(?:(?P<line>\d+):(?P<column>\d+)(?:-(?P<end>\d+))?|\((?P<line2>\d+):(?P<column2>\d+)\)-\(\d+:\d+\))(?![\d-])",
    re.MULTILINE,
)
_OF_MEMORY = {-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS, 99}  # the last is what the worker says itself


class Limits(NamedTuple):
    """What an evaluation may take: seconds of a processor, bytes of address space, bytes of JSON, frames of calls.

    480 rules with formatted expressions take six seconds; 500 frames are Jsonnet's own default.
    """

    seconds: int = 60
    memory: int = 2**30
    output: int = 64 * 2**20
    stack: int = 500


USUAL = Limits()


class Evaluated(NamedTuple):
    """The value of a program, and the names of the Jsonnet and JSON files that it was made of."""

    value: Any
    files: tuple[str, ...]


class RefusedError(Exception):
    """Why a program has no value; `kind` is failed, import or limit, `name` the file, empty where no place is known.

    Line and columns count from 1 in characters, as far as Jsonnet tells them; the end is exclusive.
    """

    def __init__(self, kind: str, message: str, name: str = "", line: int = 1, column: int = 1, end: int = 2) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message
        self.name, self.line, self.column, self.end = name, line, column, end


def evaluate(program: str, folder: str, name: str, limits: Limits = USUAL) -> Evaluated:
    """The value of a program that may import what lies in a folder, called `name` in messages.

    RefusedError where it has none; ToolError where Jsonnet itself is missing.
    """
    request = {"program": program, "folder": str(Path(folder).resolve()), "name": name, **limits._asdict()}
    answer = _answer(request, limits)
    if answer.get("large"):
        raise RefusedError("limit", f"it comes to more than {limits.output // 2**20} MiB of JSON")
    if "error" in answer:
        raise _refusal(answer["error"], answer["refused"])
    return Evaluated(json.loads(answer["value"]), tuple(answer["files"]))


def _answer(request: dict[str, Any], limits: Limits) -> dict[str, Any]:
    import subprocess  # a spec without Jsonnet does without

    try:
        done = subprocess.run(
            [sys.executable, "-I", str(_WORKER)],
            input=json.dumps(request).encode(),
            capture_output=True,
            cwd="/",
            env={},
            timeout=limits.seconds * _WALL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _slow(limits) from None
    except OSError as error:
        raise ToolError(f"Jsonnet cannot be evaluated: {error}") from None
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise _slow(limits)
    if done.returncode in _OF_MEMORY:
        raise RefusedError("limit", f"it needs more than {limits.memory // 2**20} MiB of memory, or nests without end")
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
        raise ToolError(f"Jsonnet cannot be evaluated: {last or done.returncode} (pip install jsonnet)")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _slow(limits: Limits) -> RefusedError:
    return RefusedError("limit", f"it has no value after {limits.seconds} seconds")


def _refusal(error: str, refused: list[str]) -> RefusedError:
    """What Jsonnet said, at the innermost place that is in a file of the folder."""
    first = error.partition("\n")[0]
    message = re.sub(r"^(?:STATIC|RUNTIME) ERROR: ", "", first)
    message = re.sub(r"^[^ ]+?:(?:\d+:\d+(?:-\d+)?|\(\d+:\d+\)-\(\d+:\d+\)): ", "", message).rstrip(".")
    kind = "import" if refused else "failed"
    for found in _TRACE.finditer(error):
        if found["file"] not in (_PROGRAM, "<std>", "std.jsonnet"):
            line, column = int(found["line"] or found["line2"]), int(found["column"] or found["column2"])
            end = int(found["end"] or 0)
            return RefusedError(
                kind, refused[0] if refused else message, found["file"], line, column, max(end, column + 1)
            )
    return RefusedError(kind, refused[0] if refused else message)

"""The inside of the sandbox: a program that is started by its path, and imports nothing of tocsin.

It reads a request from standard input and writes an answer to standard output, both JSON. The request: `program`,
`folder`, the `name` of that folder in messages, `seconds`, `memory` and `output` in bytes, `stack` in frames. The
answer: `value` or `error`, and `files`, the names of all that was imported.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import stat
import sys
from typing import Any

PROGRAM = "<tocsin>"  # the name of the program in messages of Jsonnet
OUT_OF_MEMORY = 99  # exit status
VENDOR = "vendor"  # where jsonnet-bundler puts what a mixin depends on
MAX_FILE = 16 * 2**20  # bytes of one import
_SOURCES = (".libsonnet", ".jsonnet", ".json")


class Folder:
    """The one folder that can be read; `name` stands for it in messages."""

    def __init__(self, path: str, name: str) -> None:
        self.path, self.name = os.path.realpath(path), name
        self.files: dict[str, None] = {}

    def read(self, base: str, wanted: str) -> tuple[str, bytes]:
        """What an import gets: relative to the file that imports it, or below the vendored libraries."""
        if os.path.isabs(wanted) or "\0" in wanted:
            raise PermissionError(f"'{wanted}' leaves the folder")
        here = os.path.relpath(base, self.name or ".") if base else "."
        for place in (os.path.normpath(os.path.join(here, wanted)), os.path.normpath(os.path.join(VENDOR, wanted))):
            content = self._content(place, wanted)
            if content is not None:
                name = os.path.normpath(os.path.join(self.name, place))
                if name.endswith(_SOURCES):
                    self.files[name] = None
                return name, content
        raise FileNotFoundError(f"there is no '{wanted}'")

    def _content(self, place: str, wanted: str) -> bytes | None:
        path = os.path.realpath(os.path.join(self.path, place))
        if os.path.commonpath([self.path, path]) != self.path:
            raise PermissionError(f"'{wanted}' leaves the folder")
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            return None
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(MAX_FILE + 1)
        if len(content) > MAX_FILE:
            raise PermissionError(f"'{wanted}' is larger than {MAX_FILE // 2**20} MiB")
        return content


def confine(seconds: int, memory: int) -> None:
    """From here on: so much time and memory, no file is written, no process started, no core left behind.

    A system that knows no such limit goes without it: macOS has none for memory.
    """
    for what, limit in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 16),
    ):
        _, most = resource.getrlimit(what)
        allowed = limit if most == resource.RLIM_INFINITY else min(limit, most)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (allowed, allowed))


def evaluated(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    import _jsonnet

    folder = Folder(request["folder"], request["name"])
    refused: list[str] = []

    def read(base: str, wanted: str) -> tuple[str, bytes]:
        try:
            return folder.read(base, wanted)
        except OSError as error:
            refused.append(str(error))
            raise

    confine(request["seconds"], request["memory"])
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what std.trace says is nobody's, however much it is
    try:
        value = _jsonnet.evaluate_snippet(
            PROGRAM, request["program"], max_stack=request["stack"], max_trace=40, import_callback=read
        )
    except UnicodeError:
        return {"error": "a text has half a character", "refused": []}
    except RuntimeError as error:
        return {"error": str(error), "refused": refused[-1:]}
    if len(value) > request["output"]:
        return {"large": True}
    return {"value": value, "files": [*folder.files]}


if __name__ == "__main__":
    try:
        sys.stdout.write(json.dumps(evaluated(json.load(sys.stdin))))
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)

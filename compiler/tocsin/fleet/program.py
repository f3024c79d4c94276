"""A server that somebody else wrote, started on loopback, its log kept in a file, and ended for certain."""

from __future__ import annotations

import contextlib
import errno
import secrets
import socket
import subprocess
import time
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """A process and where its log is."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def tail(self, lines: int = 40) -> str:
        """The end of its log, under its name."""
        text = self.log.read_text("utf-8", "replace").splitlines()[-lines:]
        status = self.process.poll()
        state = "runs" if status is None else f"ended with status {status}"
        return "\n".join((f"--- {self.name} {state}; the last of {self.log}:", *text))


@contextlib.contextmanager
def running(name: str, command: Sequence[str], folder: Path) -> Iterator[Program]:
    """The program, running in a folder of its own; at the end it is asked to stop, and killed if it does not."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = _started(command, folder, output)
    try:
        yield Program(name, process, log)
    finally:
        _end(process)


def _started(command: Sequence[str], folder: Path, output: IO[bytes]) -> subprocess.Popen[bytes]:
    """A program that was written just now may be open for a moment more, in a child that another thread has forked."""
    for attempt in range(100):
        try:
            return subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
        except OSError as error:
            if error.errno != errno.ETXTBSY or attempt == 99:
                raise
            time.sleep(0.05)
    raise AssertionError("the last attempt returns or raises")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except BaseException as error:  # a second Ctrl-C as well: nothing is left running
        process.kill()
        process.wait()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise


def free_address(host: str = "127.0.0.1") -> str:
    """An address on which nobody listens now, of a port that no system gives away by itself.

    A port that it does give may be somebody else's before the program that it is meant for has started.
    """
    while True:
        port = _FIRST + secrets.randbelow(_PORTS)
        with contextlib.suppress(OSError), socket.create_server((host, port)):
            return f"{host}:{port}"


# Below those that Linux gives (ip_local_port_range) and those that are for everybody (RFC 6335).
_FIRST, _PORTS = 20_000, 12_768

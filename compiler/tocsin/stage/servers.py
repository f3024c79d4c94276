"""The real servers of a stage: started on loopback, awaited, and ended for certain."""

from __future__ import annotations

import contextlib
import http.client
import json
import time
from typing import TYPE_CHECKING, Any

from tocsin.fleet.alertmanager import startable
from tocsin.fleet.program import running
from tocsin.stage.pace import LOOKBACK, RESEND
from tocsin.toolerror import ToolError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from tocsin.fleet.program import Program

_SECONDS = 60  # in which a server has to be ready
_GRACE = 0.2  # seconds after which one whose address was taken has ended


def prometheus(stack: ExitStack, program: Path, folder: Path, configuration: Path, fast: int, address: str) -> Program:
    """A Prometheus that is ready; ToolError where it does not come to be. One second stands for `fast`."""
    command = (
        str(program),
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={address}",
        *(
            (f"--query.lookback-delta={LOOKBACK // fast}s", f"--rules.alert.resend-delay={RESEND // fast}s")
            * (fast > 1)
        ),
    )
    return _ready(stack.enter_context(running("prometheus", command, folder)), address)


def alertmanager(
    stack: ExitStack, program: Path, folder: Path, configuration: Path, address: str, peers: Sequence[str]
) -> Program:
    """An Alertmanager that is ready; `peers` are all members of its cluster, itself first, none where it is alone."""
    folder.mkdir(parents=True)
    command = (
        str(startable(program, folder)),
        f"--config.file={configuration}",
        f"--storage.path={folder}/data",
        f"--web.listen-address={address}",
        f"--cluster.listen-address={peers[0] if peers else ''}",
        *(f"--cluster.peer={peer}" for peer in peers[1:]),
    )
    return _ready(stack.enter_context(running("alertmanager", command, folder)), address)


def asked(address: str, path: str) -> Any:
    """`data` of an answer of a Prometheus' API; ToolError where it says no."""
    status, body = get(address, path)
    if status != http.HTTPStatus.OK:
        raise ToolError(f"{address}{path}: {status} {body}")
    return json.loads(body)["data"]


def get(address: str, path: str) -> tuple[int, str]:
    """Status and body of an answer; OSError where there is none."""
    with contextlib.closing(http.client.HTTPConnection(address, timeout=30)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")


def _ready(program: Program, address: str) -> Program:
    end = time.monotonic() + _SECONDS
    while not _is_ready(address):
        if program.process.poll() is not None or time.monotonic() > end:
            raise ToolError(f"{program.name} does not start with what was generated for it\n{program.tail(10)}")
        time.sleep(0.05)
    time.sleep(_GRACE)
    if program.process.poll() is not None:  # somebody else has answered at its address
        raise ToolError(f"{program.name} does not start with what was generated for it\n{program.tail(10)}")
    return program


def _is_ready(address: str) -> bool:
    try:
        return get(address, "/-/ready")[0] == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False

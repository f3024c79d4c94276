"""A name server for a program that reads /etc/resolv.conf and asks port 53: both are this module's own in a namespace.

    python -m fleet.nameserver RECORDS.json COMMAND...

runs a command in new namespaces of users, mounts and networks, in which the records are all that there is to resolve:
`{"_dcgm._tcp.example.com": [["SRV", "gpu-1.example.com", 9400]], "gpu.example.com": [["A", "10.0.0.1", 0]]}`.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

Records = dict[str, list[tuple[str, str, int]]]

TYPES = {"A": 1, "SRV": 33}
_BIND_UP, _UP = 0x8914, 0x41  # SIOCSIFFLAGS; IFF_UP and IFF_RUNNING
_ALONE = ("unshare", "--map-root-user", "--mount", "--net")


def can_be_alone() -> bool:
    """Whether this system lets us have namespaces of our own."""
    try:
        return subprocess.run([*_ALONE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def alone(records: Path, command: list[str]) -> list[str]:
    """The command that runs a command with these records."""
    return [*_ALONE, sys.executable, "-m", "fleet.nameserver", str(records), *command]


def answer(question: bytes, records: Records) -> bytes:
    """The answer to one question: its records of the type asked for, or that there is no such name."""
    end = question.index(b"\0", 12) + 1
    name = ".".join(part.decode() for part in _parts(question[12:end]))
    type_ = struct.unpack("!H", question[end : end + 2])[0]
    known = records.get(name)
    found = [_record(*record) for record in known or () if TYPES[record[0]] == type_]
    flags = 0x8180 if known is not None else 0x8183
    header = question[:2] + struct.pack("!HHHHH", flags, 1, len(found), 0, 0)
    return header + question[12 : end + 4] + b"".join(found)


def _parts(name: bytes) -> list[bytes]:
    found = []
    while name[0]:
        found.append(name[1 : 1 + name[0]])
        name = name[1 + name[0] :]
    return found


def _record(type_: str, target: str, port: int) -> bytes:
    if type_ == "A":
        data = socket.inet_aton(target)
    else:
        labels = b"".join(bytes([len(part)]) + part.encode() for part in target.split("."))
        data = struct.pack("!HHH", 0, 0, port) + labels + b"\0"
    return b"\xc0\x0c" + struct.pack("!HHIH", TYPES[type_], 1, 30, len(data)) + data


def _serve(server: socket.socket, records: Records) -> None:
    while True:
        question, sender = server.recvfrom(4096)
        server.sendto(answer(question, records), sender)


def main(records: str, *command: str) -> int:
    """Bring the namespaces up, and run the command in them."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _BIND_UP, struct.pack("16sH14s", b"lo", _UP, b""))
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as resolver:
        resolver.write("nameserver 127.0.0.1\n")
        resolver.flush()
        os.chmod(resolver.name, 0o644)
        subprocess.run(["mount", "--bind", resolver.name, "/etc/resolv.conf"], check=True)
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind(("127.0.0.1", 53))
        threading.Thread(
            target=_serve, args=(server, json.loads(Path(records).read_text("utf-8"))), daemon=True
        ).start()
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

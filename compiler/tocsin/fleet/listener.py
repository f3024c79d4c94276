"""A small HTTP server in a thread of its own: what exporters and receivers of webhooks have in common."""

from __future__ import annotations

import contextlib
import socketserver
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any

Address = tuple[str, int]
Answer = Callable[[str, bytes], str | None]  # of path and body to the answer's text, or None: hang up without one
METRICS = "text/plain; version=0.0.4; charset=utf-8"


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up, or dies, is none of our trouble; everything else is told."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Listener:
    """Listens from the moment it is made, until `stop`. Port 0 takes any that is free; OSError where none is.

    A client that `stays` may ask again on its connection, also after `stop`: it is to end before that.
    """

    def __init__(self, address: Address, answer: Answer, kind: str = METRICS, *, stays: bool = False) -> None:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1" if stays else "HTTP/1.0"

            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                said = answer(self.path, self.rfile.read(length))
                if said is None:
                    self.close_connection = True
                    return
                body = said.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # a client that gave up waiting is none of our trouble
                    self.wfile.write(body)

            do_POST = do_GET  # noqa: N815 - the base class's name

            def log_message(self, *_: object) -> None:
                pass

        self._server = _Server(address, Handler)
        host, port = self._server.server_address[:2]
        self.address: Address = (str(host), int(port))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Listen no longer."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def same_port(hosts: Sequence[str], answers: Iterable[Answer], port: int) -> list[Listener]:
    """One listener a host, all on one port; port 0 finds one that is free on all. OSError where there is none."""
    answers = list(answers)
    for attempt in range(20):
        listeners: list[Listener] = []
        wanted = port
        try:
            for host, answer in zip(hosts, answers, strict=True):
                listeners.append(Listener((host, wanted), answer))
                wanted = listeners[0].address[1]
        except OSError as error:
            for listener in listeners:
                listener.stop()
            if port or not listeners or attempt == 19:
                raise OSError(error.errno, f"cannot listen on {host}:{wanted}: {error.strerror}") from error
        else:
            return listeners
    raise AssertionError("the last attempt returns or raises")

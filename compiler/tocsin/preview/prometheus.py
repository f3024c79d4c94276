"""What a Prometheus answers, over its HTTP API: https://prometheus.io/docs/prometheus/latest/querying/api/."""

from __future__ import annotations

import http.client
import json
import math
import threading
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from tocsin.toolerror import ToolError

if TYPE_CHECKING:
    from types import TracebackType

    from tocsin.preview.times import Period

SILENT, STRANGE = "PRV101", "PRV102"
_TIMEOUT = 60  # seconds; Prometheus itself gives a query up after two minutes
_LARGEST = 64 * 2**20  # bytes of an answer; a panel of ten lines has a thousandth of that


class Series(NamedTuple):
    """Labels and samples, each a moment and a value; of an instant query there is one."""

    labels: dict[str, str]
    samples: list[tuple[float, float]]


class RefusedError(Exception):
    """Prometheus does not answer this question; the message is its own."""


class Prometheus:
    """A Prometheus, or what speaks its API, by the address that people type: `http://127.0.0.1:9090`.

    Every method raises ToolError with the code PRV101 where it does not answer, with PRV102 where what answers is no
    Prometheus, and RefusedError where it refuses the question. May be asked from several
    threads; each keeps a connection until the end of the `with`.
    """

    def __init__(self, url: str) -> None:
        """Nothing is asked yet. ValueError where it is no address of http or https."""
        parts = urlsplit(url)
        if (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or parts.query
            or parts.fragment
            or parts.port == 0
        ):
            raise ValueError(url)
        self.shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
        self._parts = parts
        self._path = parts.path.rstrip("/")
        self._mine = threading.local()
        self._all: list[http.client.HTTPConnection] = []

    def __enter__(self) -> Prometheus:
        """Nothing to do: connections are opened as they are needed."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Close all connections."""
        while self._all:
            self._all.pop().close()

    def instant(self, expr: str, moment: float) -> list[Series]:
        """What an expression yields at a moment, in Prometheus' order."""
        found = self._ask("/api/v1/query", {"query": expr, "time": moment})
        if found.get("resultType") == "scalar":
            return [Series({}, [_sample(found["result"])])]
        return [Series(one["metric"], [_sample(one["value"])]) for one in found["result"] if "value" in one]

    def range(self, expr: str, period: Period) -> list[Series]:
        """What an expression yields over a time."""
        asked = {"query": expr, "start": period.start, "end": period.end, "step": period.step}
        found = self._ask("/api/v1/query_range", asked)["result"]
        return [Series(one["metric"], [_sample(pair) for pair in one["values"]]) for one in found if "values" in one]

    def values(self, label: str, selector: str, period: Period) -> list[str]:
        """The values that a label has in the series of a selector, in order."""
        asked = {"match[]": selector, "start": period.start, "end": period.end}
        return sorted(map(str, self._ask(f"/api/v1/label/{quote(label, safe='')}/values", asked, method="GET")))

    def _ask(self, path: str, asked: dict[str, Any], method: str = "POST") -> Any:
        form = urlencode(asked)
        target, body = (self._path + path, form) if method == "POST" else (f"{self._path}{path}?{form}", None)
        try:
            status, text = self._exchange(method, target, body)
        except (OSError, http.client.HTTPException) as error:
            raise ToolError(f"{SILENT}: {self.shown} does not answer: {_reason(error)}") from error
        try:
            said = json.loads(text)
            if said["status"] == "success":
                return said["data"]
            message = str(said["error"])
        except (ValueError, KeyError, TypeError):
            raise ToolError(
                f"{STRANGE}: {self.shown}{path} is no Prometheus: it answers with status {status}"
            ) from None
        raise RefusedError(message)

    def _exchange(self, method: str, target: str, body: str | None) -> tuple[int, bytes]:
        """Status and body, over a connection that each thread keeps; one that was closed meanwhile is opened again."""
        connection, is_new = self._connection()
        try:
            connection.request(method, target, body, {"Content-Type": "application/x-www-form-urlencoded"})
            answer = connection.getresponse()
            text = answer.read(_LARGEST + 1)
        except (OSError, http.client.HTTPException):
            connection.close()
            if is_new:
                raise
            self._mine.connection = None
            return self._exchange(method, target, body)
        if len(text) > _LARGEST:
            connection.close()
            raise OSError(f"an answer of more than {_LARGEST >> 20} MiB")
        return answer.status, text

    def _connection(self) -> tuple[http.client.HTTPConnection, bool]:
        """The connection of this thread, and whether it is a new one."""
        if kept := getattr(self._mine, "connection", None):
            return kept, False
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        made = kind(self._parts.hostname or "", self._parts.port, timeout=_TIMEOUT)
        self._mine.connection = made
        self._all.append(made)
        return made, True


def _sample(pair: list[Any]) -> tuple[float, float]:
    return float(pair[0]), float(pair[1])


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def finite(value: float | None) -> float | None:
    """A value as the page has it: six digits are what a screen shows, and JSON knows neither NaN nor infinity."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}")

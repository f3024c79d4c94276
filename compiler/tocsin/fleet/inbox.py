"""The owners' end of the line: a receiver of Alertmanager's webhooks that writes down who was told what."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tocsin.fleet.listener import Listener

if TYPE_CHECKING:
    from types import TracebackType


@dataclass(frozen=True, slots=True)
class Message:
    """One alert of one notification: `to` is the receiver's path without its slash, such as `network-page`.

    The alerts of one notification have the same `number`; `came` is when, on the clock that only goes forward.
    """

    to: str
    status: str
    labels: dict[str, str] = field(hash=False)
    annotations: dict[str, str] = field(hash=False)
    number: int = field(default=0, compare=False)
    came: float = field(default_factory=time.monotonic, compare=False)


class Inbox:
    """Listens from the moment it is made until it is closed; use it in a `with`."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._numbers = count(1)
        self._listener = Listener(("127.0.0.1", 0), self._receive)
        self.address = "{}:{}".format(*self._listener.address)

    def __enter__(self) -> Inbox:
        """Nothing to do: it listens already."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Stop listening."""
        self._listener.stop()

    def messages(self, alert: str = "") -> list[Message]:
        """All that came so far, or what came of one alert."""
        return [message for message in list(self._messages) if alert in ("", message.labels["alertname"])]

    def _receive(self, path: str, body: bytes) -> str:
        to, number = unquote(path.removeprefix("/")), next(self._numbers)
        for alert in json.loads(body)["alerts"]:
            self._messages.append(Message(to, alert["status"], alert["labels"], alert["annotations"], number))
        return ""

"""One output file as a value: its path, its text, and which part of the spec each stretch of lines came from."""

from bisect import bisect_right
from hashlib import sha256
from typing import NamedTuple

from tocsin.source import Span


class Artifact(NamedTuple):
    """`path` is relative to the factory's output folder; `origins` are (first line, place), sorted by line."""

    path: str
    text: str
    origins: tuple[tuple[int, Span], ...]

    def origin(self, line: int) -> Span:
        """The place in the spec that a line of the text came from; lines count from 1."""
        return self.origins[max(bisect_right(self.origins, line, key=lambda pair: pair[0]) - 1, 0)][1]

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes that are written."""
        return sha256(self.text.encode()).hexdigest()

"""What a type checker tells: a sentence about some characters of an expression, and how to write it instead."""

from typing import NamedTuple


class Finding(NamedTuple):
    """One mistake in the characters [start, end) of an expression; `code` is explained by `tocsin explain`."""

    code: str
    message: str
    start: int
    end: int
    hint: str = ""

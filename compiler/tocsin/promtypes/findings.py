"""What a type checker tells: a sentence about some characters of an expression, and how to write it instead."""

from typing import NamedTuple


class Finding(NamedTuple):
    """One mistake in the characters [start, end) of an expression; `code` is explained by `tocsin explain`.

    What is `shown_all_the_same` may be just what somebody wants to see on a page, and is none there for sure.
    """

    code: str
    message: str
    start: int
    end: int
    hint: str = ""
    shown_all_the_same: bool = False

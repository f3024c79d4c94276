"""Every diagnostic code once: its title and its explanation, from `codes.toml`. A number is never used again."""

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Code(NamedTuple):
    """One code: `id` (three letters of its area, a number), `title` (a line), `text` (what, why, how to fix)."""

    id: str
    title: str
    text: str


@cache
def catalogue() -> dict[str, Code]:
    """All codes by id, in the order of the file. Read on first use: a clean run never needs them."""
    table = tomllib.loads(Path(__file__).with_name("codes.toml").read_text("utf-8"))
    return {key: Code(key, entry["title"], entry["text"].strip()) for key, entry in table.items()}

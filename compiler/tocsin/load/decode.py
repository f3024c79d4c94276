"""Nodes in, spec out. What cannot be read is told and left out, so that the rest is still checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from tocsin.document import Document, Places, around
from tocsin.spec import SHARED, Spec

if TYPE_CHECKING:
    from tocsin.document import Path
    from tocsin.load.reading import Reading
    from tocsin.source import Node


def decode(root: Node, reading: Reading) -> Document | None:
    """The spec of a tree without its unreadable parts; None where even that cannot be read."""
    data, places = root.data(), Places(root)
    broken: set[Path] = set() if reading.whole else {(section,) for section in SHARED}
    try:
        return Document(Spec.model_validate(data), places, frozenset(broken), around(broken), {}, {})
    except ValidationError:
        from tocsin.load.mending import (
            mended,  # only now it is worth looking for the slips that problems may follow from
        )

        return mended(root, data, places, broken, reading)

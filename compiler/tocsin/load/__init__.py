"""Files in, `Document` out: the spec as written, every part of it with its place in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.load.decode import decode
from tocsin.load.files import read_root
from tocsin.load.include import merge_includes
from tocsin.load.reading import Reading
from tocsin.spec import SHARED

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.source import Source


def load(path: str, log: Log, sources: dict[str, Source], stdin: bytes | None = None) -> Document | None:
    """Read a root spec and its includes. None where so little is readable that nothing more can be said.

    `path` is a file, or `-` for the bytes of `stdin`, whose includes then lie below the working directory.
    `sources` gains every text that was read, by the name that spans use, for whoever shows them.
    """
    source = read_root(path, log, stdin)
    if source is None:
        return None
    reading = Reading(sources, log)
    root = reading.tree(source)
    if root is None:
        if reading.whole:
            hint = "begin with `version: 1`; specs/ai-factory.yaml is an example"
            log.error("YML112", "this spec is empty", source.span(0, 0), hint)
        return None
    if root.kind != "mapping":
        log.error("SPC101", "a spec is a mapping of sections", root.span, "begin with `version: 1`")
        return None
    if root.entries and all(section in SHARED for section in root.entries):
        first, _ = next(iter(root.entries.values()))
        sections = ", ".join(f"`{section}`" for section in root.entries)
        what = f"this looks like an included part: it holds nothing but {sections}"
        log.error("SPC113", what, first.span, "check the root spec that includes it, which begins with `version: 1`")
        return None
    merge_includes(root, path, reading)
    document = decode(root, reading)
    if document is None or not (document.spec.mixins or document.spec.dashboards):
        return document
    from tocsin.load.beside import read_beside  # a spec without mixins and dashboards of its own does without

    return read_beside(document, path, reading)

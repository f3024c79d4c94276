"""`include`: the parts that other teams own, merged into the root's tree with their own places."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from tocsin.diagnostics import Related
from tocsin.load.files import printable, read
from tocsin.source import Node
from tocsin.spec import SHARED, Spec
from tocsin.spec.scalars import kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.load.reading import Reading
    from tocsin.source import Source

MAX_FILES = 10_000  # of one pattern
MAX_PATTERN = 1000  # characters
MAX_CHARACTERS = 64 * 2**20  # of all files together
_MAY_HOLD = f"{', '.join(SHARED)} (of signals only `define`)"


def merge_includes(root: Node, path: str, reading: Reading) -> None:
    """Add every section of every included file to the root node; `reading` gains the files, or that one is missing."""
    node = root.get("include")
    if node is None:
        return
    patterns = [item for item in node.items if isinstance(item.data(), str)]
    if node.kind != "sequence" or len(patterns) < len(node.items):
        reading.whole = False  # what is wrong with the list is told with the rest of the spec's shape
    folder = "." if path == "-" else os.path.dirname(path) or "."
    left = MAX_CHARACTERS
    for item in patterns:
        for name in _matches(item, folder, reading):
            if printable(name) in reading.sources:
                continue
            source = read(os.path.join(folder, name), printable(name), reading.log, item.span)
            left -= len(source.text) if source else 0
            if left < 0:
                what = f"with '{printable(name)}' this spec is larger than {MAX_CHARACTERS // 2**20} MiB"
                reading.lost("YML110", what, item.span, "what is generated for so much would fit no Prometheus")
                return
            if source:
                _merge_file(root, source, reading)
            else:
                reading.whole = False


def _matches(item: Node, folder: str, reading: Reading) -> list[str]:
    """The files of a pattern, relative to the folder of the root spec, in order."""
    pattern, shown = item.text, item.text if len(item.text) <= 60 else f"{item.text[:57]}..."
    if os.path.isabs(pattern) or ".." in pattern.split("/") or "\\" in pattern or "\0" in pattern:
        hint = "name a file below the folder of the root spec, with `/` between folders"
        reading.lost("INC102", f"the include '{shown}' leaves the folder of the spec", item.span, hint)
        return []
    if "**" in pattern:
        hint = "a `*` stands for one name: list the folders, as in [slos/*.yaml, slos/*/*.yaml]"
        reading.lost("INC101", f"the include '{shown}' has a `**`, which is not understood", item.span, hint)
        return []
    home = os.path.realpath(folder)
    parts = [part for part in pattern.split("/") if part not in ("", ".")] if len(pattern) <= MAX_PATTERN else []
    names = sorted(_found(folder, parts))
    if not names or len(names) > MAX_FILES:
        what = f"the include '{shown}' matches {'no file' if not names else f'more than {MAX_FILES} files'}"
        reading.lost("INC101", what, item.span, "paths are relative to the folder of the root spec")
        return []
    inside = []
    for name in names:
        if os.path.commonpath([home, os.path.realpath(os.path.join(folder, name))]) == home:
            inside.append(name)
        else:
            hint = "it is a link to the outside: copy the file"
            reading.lost("INC102", f"the include '{printable(name)}' leaves the folder of the spec", item.span, hint)
    return inside


def _found(folder: str, parts: list[str]) -> Iterable[str]:
    """The files that match a pattern. No `*` goes through a link to a folder: it could go in circles for ever.

    Hidden files match only where the pattern begins with a dot, as in a shell.
    """
    names = [""] if parts else []
    for depth, part in enumerate(parts, 1):
        is_last = depth == len(parts)
        names = [
            os.path.join(name, entry)
            for name in names
            for entry in _entries(os.path.join(folder, name), part, links=is_last)
        ]
    return names


def _entries(folder: str, part: str, *, links: bool) -> Iterable[str]:
    if not any(char in part for char in "*?["):
        return [part] if os.path.lexists(os.path.join(folder, part)) else []
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if links or not entry.is_symlink()]
    except OSError:  # not a folder, or not ours to read
        return []
    return [name for name in found if fnmatchcase(name, part) and name.startswith(".") == part.startswith(".")]


def _merge_file(root: Node, source: Source, reading: Reading) -> None:
    part = reading.tree(source)
    if part is None:
        return
    if part.kind != "mapping":
        reading.lost("SPC101", "an included file is a mapping of sections", part.span, f"it may hold {_MAY_HOLD}")
        return
    for section, (key, value) in part.entries.items():
        if section in SHARED:
            _merge_section(root, section, key, value, reading)
        elif section in Spec.model_fields:
            hint = f"move it there; an included file may hold {_MAY_HOLD}"
            reading.log.error("INC103", f"`{section}` belongs in the root spec", key.span, hint)
        else:
            root.entries.setdefault(section, (key, value))  # an unknown section is told like one of the root's


def _merge_section(into: Node, section: str, key: Node, value: Node, reading: Reading, above: str = "") -> None:
    if value.kind != "mapping":
        what = f"expected a mapping for `{above}{section}`, found {kind(value.data())}"
        reading.lost("SPC102", what, value.span, "each entry begins with its name, as in `name: {…}`")
        return
    # An own node: the included file's must not grow when the next file adds to the section.
    empty = Node("mapping", value.source, value.start, value.end)
    _, present = into.entries.setdefault(section, (key, empty))
    for name, (name_key, entry) in value.entries.items():
        first = present.entries.get(name)
        if (section, name) == ("signals", "mandatory"):
            hint = "move it there: what a factory cannot do without is decided in one place"
            reading.log.error("INC103", "`signals.mandatory` belongs in the root spec", name_key.span, hint)
        elif (section, name) == ("signals", "define"):
            _merge_section(present, name, name_key, entry, reading, "signals.")
        elif first is None:
            present.entries[name] = (name_key, entry)
        else:
            hint = "keep one of the two, or rename it"
            there = [Related(first[0].span, "first written here")]
            what = f"'{name}' is defined twice in `{above}{section}`"
            reading.log.error("INC104", what, name_key.span, hint, there)

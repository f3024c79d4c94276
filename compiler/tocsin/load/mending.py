"""A spec that cannot be read whole: what is wrong is told and left out, until the rest can be read."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from tocsin.document import Document, around
from tocsin.load.messages import meant, tell, tell_nameless, tell_sunken
from tocsin.load.shape import nameless, optional, sunken
from tocsin.spec import Spec

if TYPE_CHECKING:
    from tocsin.document import Path, Places
    from tocsin.load.reading import Reading
    from tocsin.source import Node

MAX_PROBLEMS = 10_000  # of one round: ten times what is told at all
MAX_ROUNDS = 8  # a broken entry may uncover one more problem of its parent, and so on up to the root


# What stands in for a required part that is missing or unreadable, so that the rest is still checked.
STAND_INS: dict[str, Any] = {
    "version": 1,
    "factory": "unnamed",
    "targets": {"prometheus": "3.5", "alertmanager": "0.33", "grafana": "12", "dcgm_exporter": "4.8.2"},
    "owners": {},
    "layers": {},
    "labels": {},
    "clusters": {},
    "signals": {"mandatory": ["xid"]},
    "alerting": {
        "alertmanagers": ["localhost:9093"],
        "fallback": "unnamed",
        "heartbeat": {"webhook": {"url": "http://localhost"}},
    },
    "grafana": {"url": "http://localhost", "datasource": "http://localhost"},
}


def mended(root: Node, data: Any, places: Places, broken: set[Path], reading: Reading) -> Document | None:
    """The spec of a tree without its unreadable parts; None where even that cannot be read."""
    told: set[tuple[Path, str]] = set()
    for section, key in nameless(root):
        tell_nameless(section, key, places, reading.log)
        broken.add(section)
        _leave_out(data, section)
    for entry in sunken(root):
        tell_sunken(entry, places, reading.log)
        broken |= {entry, (*entry[:-2], entry[-1])}
        _leave_out(data, entry)
    for _ in range(MAX_ROUNDS):
        try:
            return Document(Spec.model_validate(data), places, frozenset(broken), around(broken), {}, {})
        except ValidationError as error:
            problems = error.errors(include_url=False)[:MAX_PROBLEMS]
        broken |= {path for problem in problems for path in meant(problem)}
        lost = broken | around(broken)
        for problem in problems:
            path = tuple(problem["loc"])
            if (path, problem["type"]) not in told and not _follows(problem["type"], path, lost, places, reading):
                told.add((path, problem["type"]))
                tell(problem, places, reading.log)
        cuts = {_cut(tuple(problem["loc"]), problem["type"]) for problem in problems}
        for cut in cuts:
            _leave_out(data, cut)
        broken |= cuts
    return None


def _follows(kind: str, path: Path, lost: set[Path], places: Places, reading: Reading) -> bool:
    """Whether a problem only follows from another one that is told."""
    if kind == "too_short":
        return path in lost
    return kind == "missing" and (path in lost or places.node(*path[:-1]) in reading.gaps)


def _cut(path: Path, kind: str) -> Path:
    """What to leave out for a problem: a bad key itself, else the smallest part that can be left out or replaced."""
    if path[-1] == "[key]":
        return path[:-1]
    if kind == "extra_forbidden":
        return path
    replaced = 0
    stand_in: Any = STAND_INS
    while replaced < len(path) and isinstance(stand_in, dict) and path[replaced] in stand_in:
        stand_in = stand_in[path[replaced]]
        replaced += 1
    return max(path[:replaced], optional(path), key=len)


def _leave_out(data: Any, path: Path) -> None:
    stand_in: Any = STAND_INS
    for step in path[:-1]:
        if not isinstance(data, dict) or step not in data:
            return  # gone already with its parent
        data, stand_in = data[step], stand_in.get(step) if isinstance(stand_in, dict) else None
    if isinstance(stand_in, dict) and path[-1] in stand_in:
        data[path[-1]] = deepcopy(stand_in[path[-1]])
    else:
        data.pop(path[-1], None)

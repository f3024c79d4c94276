"""Dashboards that a team or a mixin brings: in a form that Grafana takes, with a uid, a folder and an owner of ours."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tocsin import naming
from tocsin.dashboard import problems, upgraded
from tocsin.diagnostics import Related
from tocsin.factory.rules import OwnDashboard
from tocsin.resolve.owners import known_owner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.diagnostics import Log
    from tocsin.document import Document, Made
    from tocsin.factory.owners import Owner
    from tocsin.source import Span

TEAMS = "Teams"  # the folder of a dashboard that names none
_UID = re.compile(r"(?<=/d/)[A-Za-z0-9_-]+")


def resolve_dashboards(document: Document, owners: dict[str, Owner], log: Log) -> tuple[OwnDashboard, ...]:
    """Those of teams and those of mixins, by their names."""
    found = sorted([*_of_teams(document, owners, log), *_of_mixins(document, log)], key=lambda one: one.name)
    for before, one in pairwise(found):
        if before.name == one.name:
            what = f"two dashboards would be called '{one.name}'"
            log.error(
                "MIX107", what, one.origin, "rename one of the two files", [Related(before.origin, "the other one")]
            )
    return tuple(_linked(document.spec.factory, found))


def _of_teams(document: Document, owners: dict[str, Owner], log: Log) -> Iterator[OwnDashboard]:
    for name, written in document.dashboards.items():
        entry, path = document.spec.dashboards[name], ("dashboards", name)
        known = known_owner(document, owners, entry.owner, (*path, "owner"), log)
        if not _is_sound(written.model, written.made, document.places.value(*path, "path"), "", log) or not known:
            continue
        folder = entry.folder or TEAMS
        yield OwnDashboard(
            f"own-{name}", entry.owner, folder, entry.path, "", upgraded(written.model), document.places.key(*path)
        )


def _of_mixins(document: Document, log: Log) -> Iterator[OwnDashboard]:
    for name, written in document.mixins.items():
        entry, path = document.spec.mixins[name], ("mixins", name)
        shown = {file: model for file, model in written.dashboards.items() if file not in entry.without}
        if shown and not entry.owner:
            what = "the dashboards of the mixin have no owner"
            log.error(
                "MIX103", what, document.places.key(*path), "name one: `owner: infra`, or leave them out by `without`"
            )
            continue
        for file, model in shown.items():
            said = f"the dashboard '{file}' of the mixin '{name}': "
            if not _is_sound(model, written.made, document.places.value(*path, "path"), said, log):
                continue
            yield OwnDashboard(
                f"mixin-{name}-{_slug(file)}",
                entry.owner or "",
                entry.folder,
                file,
                name,
                upgraded(model),
                document.places.key(*path),
            )


def _slug(file: str) -> str:
    return re.sub("[^a-z0-9]+", "-", file.removesuffix(".json").lower()).strip("-")


def _is_sound(model: dict[str, Any], made: Made, named: Span, said: str, log: Log) -> bool:
    """Whether a dashboard can be shown; what is wrong is told at its place, or where the file is named."""
    found = list(problems(model))
    for problem in found:
        place = made.place(problem.text, 0, len(problem.text)) if problem.text else None
        there = [Related(named, "the file is named here")] if place else []
        log.error("DSH102", f"{said}{problem.message}", place or named, problem.hint, there)
    return not found


def _linked(factory: str, found: list[OwnDashboard]) -> Iterator[OwnDashboard]:
    """With links among dashboards of one mixin, or of teams, that lead to their new uids."""
    uids: dict[str, dict[str, str]] = {}
    for one in found:
        old = one.model.get("uid")
        if isinstance(old, str) and old:
            uids.setdefault(one.mixin, {})[old] = naming.dashboard_uid(factory, one.name)
    for one in found:
        yield one._replace(model=_moved(one.model, uids.get(one.mixin, {})))


def _moved(value: Any, uids: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _moved(item, uids) for key, item in value.items()}
    if isinstance(value, list):
        return [_moved(item, uids) for item in value]
    if isinstance(value, str) and "/d/" in value:
        return _UID.sub(lambda found: uids.get(found[0], found[0]), value)
    return value

"""Dashboards that a team or a mixin brings, under our rules: uid, title, folder and tags, and nobody edits them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin import naming
from tocsin.plan.dashboards import Page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.factory import Factory
    from tocsin.factory.rules import OwnDashboard
    from tocsin.plan.dashboards import Dashboard


def pages(factory: Factory, ours: Iterable[Dashboard]) -> tuple[Page, ...]:
    """One a dashboard; folders that differ in case or strokes only are one folder, as their files are."""
    folders = {naming.folder_slug(dashboard.folder): dashboard.folder for dashboard in ours}
    return tuple(
        Page(one.name, folders.setdefault(naming.folder_slug(one.folder), one.folder), _model(factory, one), one.origin)
        for one in factory.dashboards
    )


def _model(factory: Factory, one: OwnDashboard) -> dict[str, Any]:
    theirs = [tag for tag in one.model.get("tags", ()) if isinstance(tag, str)]
    tags = dict.fromkeys(("tocsin", factory.name, f"owner:{one.owner}", *theirs))
    return {
        "uid": naming.dashboard_uid(factory.name, one.name),
        "title": f"{factory.name}: {one.model['title']}",
        **{key: value for key, value in one.model.items() if key not in ("uid", "title", "tags", "editable")},
        "tags": [*tags],
        "editable": False,
    }

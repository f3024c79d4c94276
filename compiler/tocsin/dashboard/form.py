"""The parts of a dashboard, as far as a generator wrote them: panels, their queries, and where these are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Model = dict[str, Any]

SCHEMA = 39  # loaded from files by Grafana 10 to 13
NEWEST = 42  # the last of the classic form
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
# The fields that Grafana's schema asks of every link.
LINK: dict[str, Any] = {
    "title": "",
    "type": "link",
    "icon": "external link",
    "tooltip": "",
    "tags": [],
    "asDropdown": False,
    "targetBlank": False,
    "includeVars": False,
    "keepTime": False,
}


def dicts(value: Any) -> list[Model]:
    """The objects of a list; nothing where a generator wrote anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def panels(model: Model) -> Iterator[Model]:
    """Every panel, those of rows included."""
    for holder in (model, *dicts(model.get("rows"))):
        yield from _within(model, holder)


def _within(model: Model, holder: Model) -> Iterator[Model]:
    for panel in dicts(holder.get("panels")):
        yield written_out(model, panel)
        yield from _within(model, panel)


def written_out(model: Model, panel: Model) -> Model:
    """A panel; one of a library as far as an export for sharing carries it along, in its own place."""
    library = panel.get("libraryPanel")
    elements = model.get("__elements")
    if not isinstance(library, dict) or not isinstance(elements, dict) or not isinstance(library.get("uid"), str):
        return panel
    element = elements.get(library["uid"])
    found = element.get("model") if isinstance(element, dict) else None
    if not isinstance(found, dict):
        return panel
    own = {key: panel[key] for key in ("id", "gridPos", "title") if panel.get(key) is not None}
    return {**{key: value for key, value in found.items() if key not in ("libraryPanel", "panels")}, **own}


def targets(panel: Model) -> list[Model]:
    """The queries of a panel."""
    return dicts(panel.get("targets"))


def queries(model: Model) -> Iterator[str]:
    """The text of every query of the dashboard, of its variables and annotations too."""
    for part in (*listed(model, "templating"), *listed(model, "annotations")):
        yield from (
            text for text in (part.get("query"), part.get("expr"), part.get("definition")) if isinstance(text, str)
        )
        if isinstance(part.get("query"), dict):
            yield from (text for text in part["query"].values() if isinstance(text, str))
    for panel in panels(model):
        yield from (target["expr"] for target in targets(panel) if isinstance(target.get("expr"), str))


def titled(panel: Model) -> str:
    """How a panel is called in a message."""
    library = panel.get("libraryPanel")
    name = library.get("name") if isinstance(library, dict) else ""
    return str(panel.get("title") or name or panel.get("id") or "without a title")


def listed(model: Model, key: str) -> list[Model]:
    """The variables or annotations of a dashboard."""
    found = model.get(key)
    return dicts(found.get("list")) if isinstance(found, dict) else []

"""The parts of a dashboard, as far as a generator wrote them: panels, their queries, and where these are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    Model = dict[str, Any]

SCHEMA = 39  # loaded from files by Grafana 10 to 13
NEWEST = 42  # the last of the classic form
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
BORROWED = "-- Dashboard --"  # the data source that is another panel of the page
BUILT_IN = ("-- Grafana --", BORROWED, "-- Mixed --", "grafana")
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
        for panel in dicts(holder.get("panels")):
            yield panel
            yield from dicts(panel.get("panels"))


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
    return str(panel.get("title") or panel.get("id") or "without a title")


def foreign(holder: Model) -> str:
    """The type of the data source of a panel or query that is not Prometheus; empty where it may be."""
    source = holder.get("datasource")
    if not isinstance(source, dict) or source.get("uid") in BUILT_IN:
        return ""
    kind = str(source.get("type", "prometheus"))
    return "" if kind in ("prometheus", "datasource", "grafana") or kind.startswith("$") else kind


def borrows(panel: Model, target: Model) -> bool:
    """Whether a query of a panel is none of its own, but shows what another panel asked for."""
    sources = (target.get("datasource"), panel.get("datasource"))
    return any((one.get("uid") if isinstance(one, dict) else one) == BORROWED for one in sources)


def listed(model: Model, key: str) -> list[Model]:
    """The variables or annotations of a dashboard."""
    found = model.get(key)
    return dicts(found.get("list")) if isinstance(found, dict) else []

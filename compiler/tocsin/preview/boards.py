"""Dashboards as they lie in the files that were emitted: what is drawn is what Grafana would load."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tocsin.preview.variables import Variable, asked

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tocsin.artifact import Artifact

_FOLDER = "grafana/dashboards/"


@dataclass(frozen=True, slots=True)
class Board:
    """A dashboard. `panels` are as in its file; `links` are titles and addresses outside of the page.

    `marks` is what is marked on its graphs: a query, and how what begins then is called. Both are empty without it.
    """

    uid: str
    title: str
    folder: str
    description: str
    variables: tuple[Variable, ...]
    panels: tuple[dict[str, Any], ...]
    links: tuple[tuple[str, str], ...]
    marks: tuple[str, str]


def boards(artifacts: Iterable[Artifact], folders: Mapping[str, str]) -> list[Board]:
    """The dashboards of these folders, by their uids, among some files; by folder and title."""
    models = (json.loads(one.text) for one in artifacts if one.path.startswith(_FOLDER))
    found = [_board(model, folders) for model in models if model["uid"] in folders]
    return sorted(found, key=lambda board: (board.folder, board.title))


def _board(said: dict[str, Any], folders: Mapping[str, str]) -> Board:
    return Board(
        uid=said["uid"],
        title=said["title"],
        folder=folders[said["uid"]],
        description=said.get("description", ""),
        variables=tuple(_variable(one) for one in said["templating"]["list"] if one["type"] == "query"),
        panels=tuple(said["panels"]),
        links=tuple((link["title"], link["url"]) for link in said.get("links", ()) if link["type"] == "link"),
        marks=next(((one["expr"], one["titleFormat"]) for one in _marks(said)), ("", "")),
    )


def _marks(said: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in said.get("annotations", {}).get("list", ()) if one.get("expr") and one.get("enable", True)]


def _variable(said: dict[str, Any]) -> Variable:
    label, selector = asked(said["query"])
    return Variable(said["name"], said.get("label") or said["name"], said.get("allValue") or ".*", label, selector)

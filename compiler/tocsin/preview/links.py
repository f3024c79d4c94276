"""Data links: from a series or a row to another dashboard of the page, with what it is about as variables there.

https://grafana.com/docs/grafana/latest/panels-visualizations/configure-data-links/
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_PLACE = re.compile(r"/d/([\w-]+)\?(.*)")
_VALUE = re.compile(r'\$\{__(?:field\.labels|data\.fields)\.(?:\["([^"]+)"\]|(\w+))\}')


class Link(NamedTuple):
    """Where a link leads: a dashboard, and values of its variables by name; those it does not name are all."""

    title: str
    uid: str
    values: tuple[tuple[str, str], ...]


def links(panel: Mapping[str, Any], fields: Mapping[str, str]) -> Iterator[Link]:
    """The links of a panel for one series or row, whose labels or cells are `fields`.

    A link that lacks one of its fields would open a page about everything, and is left out.
    """
    for said in panel.get("fieldConfig", {}).get("defaults", {}).get("links", ()):
        place = _PLACE.fullmatch(said["url"])
        if not place:
            continue
        values = tuple(_values(place[2].split("&"), fields))
        if all(value for _, value in values):
            yield Link(said["title"], place[1], values)


def _values(parts: Iterable[str], fields: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for part in parts:
        name, equals, template = part.partition("=")
        if equals and name.startswith("var-"):
            filled = _VALUE.sub(lambda found: fields.get(found[1] or found[2], ""), template)
            yield name.removeprefix("var-"), filled

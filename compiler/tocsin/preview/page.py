"""The page as one file: styles, scripts and data in it, and nothing that could leave it or be asked of a network.

The data is JSON in a block that no browser runs, and holds no `<`: so no text of it can end the block. The policy at
the head of the page allows the scripts and styles that stand here by their hashes, and nothing else: even a mistake of
ours could not make a label run.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tocsin.templates import template

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.preview.boards import Board
    from tocsin.preview.choices import Gathered
    from tocsin.preview.times import Period

_SCRIPTS = (
    "uplot/uPlot.iife.min.js",
    "units.js",
    "address.js",
    "elements.js",
    "charts.js",
    "cells.js",
    "plain.js",
    "page.js",
)
_LICENCE = "uplot/LICENSE"  # which wants to stand wherever the library does
_OFFERED = 200  # values of a variable that a list holds; more is no list to look through
_STYLES = ("uplot/uPlot.min.css", "page.css")
_INERT = {"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_HTML = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>tocsin preview</title>
<style>{style}</style>
</head>
<body>
<noscript>The dashboards are drawn by a script of this page.</noscript>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def page(found: Gathered, period: Period, about: Mapping[str, str]) -> str:
    """The page of all that was gathered."""
    script, style = f"/*{_joined((_LICENCE,))}*/{_joined(_SCRIPTS)}", _joined(_STYLES)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return _HTML.format(policy=policy, style=style, script=script, data=inert(_data(found, period, about)))


def inert(text: str) -> str:
    """JSON that may stand in a script block: what it means is the same, and no part of it is markup."""
    for character, escape in _INERT.items():
        text = text.replace(character, escape)
    return text


def _joined(names: tuple[str, ...]) -> str:
    """Files of the template folder one after another."""
    return "\n" + "\n".join(template(f"preview/{name}").rstrip() for name in names) + "\n"


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _data(found: Gathered, period: Period, about: Mapping[str, str]) -> str:
    frame = {
        "about": dict(about),
        "period": {"start": period.start, "end": period.end, "step": period.step, "count": period.moments},
        "boards": [_board(board, found) for board in found.boards],
    }
    return f'{_dumped(frame)[:-1]},"parts":[{",".join(found.parts)}]}}'


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _board(board: Board, found: Gathered) -> dict[str, Any]:
    values = found.values[board.uid]
    return {
        "uid": board.uid,
        "title": board.title,
        "folder": board.folder,
        "description": board.description,
        "links": board.links,
        "variables": [
            {
                "title": variable.title,
                "name": variable.name,
                "values": known[:_OFFERED],
                "more": max(len(known) - _OFFERED, 0),
            }
            for variable, known in zip(board.variables, values, strict=True)
        ],
        "panels": [static(panel) for panel in board.panels],
        "choices": list(found.choices[board.uid].items()),
    }


def static(said: Mapping[str, Any]) -> dict[str, Any]:
    """What of a panel is the same for every choice, as the page's scripts read it."""
    defaults = said["fieldConfig"]["defaults"]
    style = defaults.get("custom", {}).get("thresholdsStyle", {}).get("mode", "off")
    return {
        "kind": said["type"],
        "title": said["title"],
        "description": said.get("description", ""),
        "place": said["gridPos"],
        "unit": defaults.get("unit", "none"),
        "min": defaults.get("min"),
        "max": defaults.get("max"),
        "steps": defaults.get("thresholds", {}).get("steps", []),
        "meanings": {
            value: {"text": meant["text"], "color": meant.get("color", "")}
            for mapping in defaults.get("mappings", ())
            if mapping["type"] == "value"
            for value, meant in mapping["options"].items()
        },
        "lines": style != "off",
        "band": _band(said),
    }


def _band(said: Mapping[str, Any]) -> list[str]:
    """The names of the upper and the lower line between which a graph is filled; none where there is no band."""
    lower = said["fieldConfig"]["defaults"].get("custom", {}).get("fillBelowTo")
    named = [
        override["matcher"]["options"]["names"]
        for override in said["fieldConfig"].get("overrides", ())
        if override["matcher"]["id"] == "byNames"
    ]
    return [name for names in named if lower in names for name in sorted(names, key=lambda one: one == lower)]

"""What a dashboard needs of its Grafana that nobody checks here: it is told, and not refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tocsin.dashboard.form import listed, panels, targets, titled
from tocsin.dashboard.kinds import CORE, SUCCESSORS
from tocsin.dashboard.problems import Problem
from tocsin.dashboard.sources import answers, is_strange, named_sources, other

if TYPE_CHECKING:
    from collections.abc import Iterator

    Model = dict[str, Any]

_SHOWN = 3  # panels that a message names


def needs(model: Model) -> Iterator[Problem]:
    """Each kind of thing once, with the first of those that need it."""
    named = named_sources(model)
    found: dict[tuple[str, str], list[str]] = {}
    for panel in panels(model):
        kind, name = panel.get("type") or "", f"the panel '{titled(panel)}'"
        if panel.get("libraryPanel"):
            found.setdefault(("library", ""), []).append(name)
        elif kind in SUCCESSORS:
            found.setdefault(("old", kind), []).append(name)
        elif kind not in CORE:
            found.setdefault(("plugin", kind), []).append(name)
        sources = [other(panel.get("datasource"), named)] if not targets(panel) else []
        sources += [answers(panel, target, named) for target in targets(panel)]
        for source in dict.fromkeys(filter(is_strange, sources)):
            found.setdefault(("source", source), []).append(name)
    for key, noun in (("templating", "variable"), ("annotations", "annotation")):
        for part in listed(model, key):
            source = other(part.get("datasource"), named)
            if is_strange(source):
                found.setdefault(("source", source), []).append(f"the {noun} '{part.get('name')}'")
    for (need, kind), names in found.items():
        yield _told(need, kind, list(dict.fromkeys(names)))


def _told(need: str, kind: str, names: list[str]) -> Problem:
    who = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    asks, is_ = ("ask", "are") if len(names) > 1 else ("asks", "is")
    if need == "library":
        hint = "see that Grafana has the library, or export the dashboard with its library panels"
        return Problem(f"{who} {is_} of Grafana's library, which is not checked here", hint)
    if need == "old":
        hint = f"save it once in Grafana, which makes it a {SUCCESSORS[kind]}, and look what has become of it"
        return Problem(f"{who} {is_} of the type `{kind}`, which Grafana puts into another form by itself", hint, kind)
    if need == "plugin":
        hint = "see that Grafana has the plugin: what is asked is checked, how it is shown is not"
        return Problem(f"{who} {is_} of the type `{kind}`, which is no panel of Grafana's own", hint, kind)
    hint = "see that Grafana has it: only what asks Prometheus is checked here"
    what = f"{who} {asks} a data source of {kind if kind == 'another type' else f'the type {kind}'}"
    return Problem(what, hint, kind)

"""What is asked by name: the codes of messages, and the alerts of a spec."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.cli.wrongcall import WrongCallError
from tocsin.diagnostics import near

if TYPE_CHECKING:
    from collections.abc import Collection

    from tocsin.pipeline import Compiled

_PAGE = re.compile(r"docs/runbooks/(.*)\.md")


def code(name: str) -> str:
    """The text about a code, or the list of all of them. Raises `WrongCallError`."""
    from tocsin.codes import catalogue

    codes = catalogue()
    if name.lower() == "all":
        return "".join(f"{one.id}  {one.title}\n" for one in codes.values())
    found = codes.get(name.upper())
    if found is None:
        begun = any(one.startswith(name.upper()) for one in codes)  # then it is no slip for one of them
        offered = "" if begun else _offer(name.upper(), codes)
        way = offered or "`tocsin explain all` lists them; of an alert, name its spec as well: `--spec SPEC`"
        raise WrongCallError(f"no code is called {name}; {way}")
    return f"{found.id}: {found.title}\n\n{found.text}\n"


def alert(name: str, compiled: Compiled) -> str:
    """The runbook page of an alert, or the list of all of them. Raises `WrongCallError`."""
    named = ((_PAGE.fullmatch(artifact.path), artifact.text) for artifact in compiled.artifacts)
    pages = {found[1]: text for found, text in named if found}
    if name.lower() == "all":
        return "".join(f"{one}\n" for one in pages)
    found = next((text for one, text in pages.items() if one.lower() == name.lower()), None)
    if found is None:
        way = _offer(name, pages) or "`all` lists them"
        raise WrongCallError(f"{compiled.plan.factory} has no alert called {name}; {way}")
    return found


def _offer(name: str, known: Collection[str]) -> str:
    close = near(name, known)
    return f"did you mean {close}?" if close else ""

"""The manifest: every file, its hash, and where in the spec each stretch of its lines came from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tocsin.artifact import Artifact

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.plan import Plan

PATH = "manifest.json"


def manifest(plan: Plan, artifacts: Iterable[Artifact]) -> Artifact:
    """Lists all artifacts but itself. `from` maps a first line to the file and the part of the spec that it came from.

    The part is named, not numbered: a comment in the spec moves every line below it, and changes no output.
    """
    # One line a file: a change shows as the line that it is, and two of them merge.
    lines = (f" {json.dumps(artifact.path)}: {_entry(artifact)}" for artifact in artifacts)
    listed = ",\n".join(lines)
    text = f'{{"factory": {json.dumps(plan.factory)}, "files": {{\n{listed}\n}}}}\n'
    return Artifact(PATH, text, ((1, plan.notifications.root.origin),))


def _entry(artifact: Artifact) -> str:
    origins = {line: f"{place.path}: {place.route}" for line, place in artifact.origins}
    listed = ", ".join([f'"{line}": {json.dumps(origin)}' for line, origin in origins.items()])
    return f'{{"sha256": "{artifact.digest}", "from": {{{listed}}}}}'

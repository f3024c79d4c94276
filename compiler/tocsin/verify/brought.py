"""What mixins bring, beside what is generated: names that both have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log

_RULE = re.compile(r"^  - (alert|record): (\S+)$", re.MULTILINE)
_OF_MIXIN = "rules/mixin-"


def judge_brought(files: Mapping[str, Artifact], log: Log) -> None:
    """A rule of a mixin has the name of one that tocsin makes: its page, its silences and its routes would be one."""
    if not any(path.startswith(_OF_MIXIN) for path in files):
        return
    ours = {
        found[2]
        for path, artifact in files.items()
        if path.startswith("rules/") and not path.startswith(_OF_MIXIN)
        for found in _RULE.finditer(artifact.text)
    }
    for path, artifact in files.items():
        if path.startswith(_OF_MIXIN):
            for found in _RULE.finditer(artifact.text):
                if found[2] in ours:
                    line = artifact.text.count("\n", 0, found.start()) + 1
                    hint = f"leave it out, `without: [{found[2]}]`, or rename it in the mixin"
                    what = f"the mixin has {found[2]}, which is the name of a generated {found[1]}"
                    log.error("MIX110", what, artifact.origin(line), hint)

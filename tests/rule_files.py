"""The rule files of a plan with every blank filled: as they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tocsin.plan import Plan
    from tocsin.plan.rules import RuleFile


def rule_files(plan: Plan) -> list[RuleFile]:
    """All of them, in their order."""
    return [file._replace(groups=_filled(file, file.groups), blanks=()) for file in plan.rules]


def _filled(file: RuleFile, part: Any) -> Any:
    match part:
        case str():
            return file.filled(part)
        case dict():
            return {key: _filled(file, value) for key, value in part.items()}
        case tuple() if hasattr(part, "_fields"):
            return type(part)(*(_filled(file, value) for value in part))
        case tuple():
            return tuple(_filled(file, value) for value in part)
    return part

"""For programs: one object with a list, stable keys, positions counted from 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.diagnostics import Diagnostic
    from tocsin.source import Source, Span


def as_json(diagnostics: Sequence[Diagnostic], _sources: Mapping[str, Source]) -> str:
    """The diagnostics as JSON."""
    return (
        json.dumps({"version": 1, "diagnostics": [_entry(d) for d in diagnostics]}, indent=2, ensure_ascii=True) + "\n"
    )


def _entry(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "location": _location(diagnostic.span),
        "related": [{"note": r.note, "location": _location(r.span)} for r in diagnostic.related],
    }


def _location(span: Span) -> dict[str, Any]:
    return {name: value for name, value in span._asdict().items() if name != "route"}

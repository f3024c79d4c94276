"""For code scanning: SARIF 2.1.0 (OASIS), rules from the catalogue of codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tocsin import __version__, codes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.diagnostics import Diagnostic
    from tocsin.source import Source, Span


def as_sarif(diagnostics: Sequence[Diagnostic], _sources: Mapping[str, Source]) -> str:
    """One run with one result a diagnostic."""
    catalogue = codes.catalogue()
    used = sorted({d.code for d in diagnostics})
    rules = [
        {
            "id": code,
            "shortDescription": {"text": catalogue[code].title},
            "fullDescription": {"text": catalogue[code].text.partition("\n\n")[0]},
            "help": {"text": catalogue[code].text},
        }
        for code in used
    ]
    driver = {"name": "tocsin", "version": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d, used.index(d.code)) for d in diagnostics],
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _result(diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    text = diagnostic.message + (f" ({diagnostic.hint})" if diagnostic.hint else "")
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity.value,
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(diagnostic.span)}],
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": index, "message": {"text": r.note}, "physicalLocation": _location(r.span)}
            for index, r in enumerate(diagnostic.related)
        ]
    return result


def _location(span: Span) -> dict[str, Any]:
    region = dict(zip(("startLine", "startColumn", "endLine", "endColumn"), span[1:5], strict=True))
    return {"artifactLocation": {"uri": quote(span.path)}, "region": region}

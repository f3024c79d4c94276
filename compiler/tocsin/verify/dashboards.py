"""Grafana's own structure of a dashboard, as JSON Schema: every dashboard is judged before Grafana sees it."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tocsin.dashboard.kinds import CORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log


# What is of any form in Grafana's own source: what an override matches and sets, and the query of a variable.
_ANYTHING = re.compile(r".*/overrides/\d+/(?:matcher/options|properties/\d+/value)|templating/list/\d+/query")
# What Grafana 10 to 13 writes themselves, and the schema does not have.
_WRITTEN = frozenset(
    """
    baseFilters defaultKeys disabledValue enabledValue filters allowCustomValue originalTitle showIn unitScale
    """.split()
)
PAGE = "dashboard"  # the schema of the whole one
BROUGHT = ("own-", "mixin-")  # what the files of dashboards begin with that a team or a mixin brings


def judge_dashboards(files: Mapping[str, Artifact], log: Log) -> None:
    """The dashboard against the schema, and what a schema cannot say: unique ids, a uid that Grafana takes.

    Grafana holds no file against its schema: what it does not know it leaves out, and what is of an old form it makes
    new. So of a dashboard that was brought a difference is a doubt; what we write ourselves has none.
    """
    for path, artifact in files.items():
        if path.startswith("grafana/dashboards/"):
            is_brought = path.rpartition("/")[2].startswith(BROUGHT)
            found = problems(json.loads(artifact.text), brought=is_brought)
            for problem in _once(found) if is_brought else found:
                if is_brought:
                    hint = "correct it in the file that the spec names here, or look whether the page shows it"
                    log.warning("DSH105", f"not as Grafana's schema has it: {problem}", artifact.origin(1), hint)
                else:
                    hint = "please report this with the spec"
                    log.error("VFY106", f"Grafana would refuse {path}: {problem}", artifact.origin(1), hint)


def _once(found: Iterable[str]) -> Iterator[str]:
    """What is wrong in several places of a dashboard is told at the first of them."""
    several: dict[str, list[str]] = {}
    for problem in found:
        where, _, what = problem.partition(": ")
        several.setdefault(what, []).append(where)
    for what, places in several.items():
        more = f", and in {len(places) - 1} more places" if len(places) > 1 else ""
        yield f"{places[0]}: {what}{more}"


def problems(dashboard: dict[str, Any], *, brought: bool = False) -> Iterator[str]:
    """Everything that is wrong with a dashboard, in words.

    One that a team brought may have panels whose options nobody judges, and lack options and settings of fields: the
    schema asks for those because they have a default, which the panel fills in. What an override matches and sets may
    be of any type, as in Grafana's own source, of which the schema has made an object.
    """
    for error in sorted(_errors(PAGE, "", dashboard), key=lambda e: list(map(str, e.path))):
        if brought and (_ANYTHING.fullmatch("/".join(map(str, error.path))) or _is_of_others(error)):
            continue
        if brought and error.validator == "additionalProperties" and _unknown(error) <= _WRITTEN:
            continue
        yield f"{'/'.join(map(str, error.path))}: {error.message[:200]}"
    panels = [panel for panel in dashboard.get("panels", []) if isinstance(panel, dict)]
    yield from _of_panels(panels, brought=brought)
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", str(dashboard.get("uid", ""))):
        yield "the uid is not of 1 to 40 letters, digits, `-` and `_`"


def _unknown(error: Any) -> set[str]:
    """The fields that the schema does not have, of an object that may have no others."""
    return {*error.instance} - {*error.schema.get("properties", ())}


def _is_of_others(error: Any) -> bool:
    """Whether it is about a panel of a form that is not in the schema: of the library, of a plugin, or of old."""
    where, part = list(error.path), error.instance
    is_panel = len(where) in (2, 4) and where[-2] == "panels" and isinstance(part, dict)
    return is_panel and part.get("type") not in CORE


def _of_panels(panels: list[dict[str, Any]], *, brought: bool) -> Iterator[str]:
    for panel in panels:
        for part, value in (("Options", panel.get("options")), ("FieldConfig", _custom(panel))):
            kind = str(panel.get("type", ""))
            if value is not None and kind in CORE and part in _schema(kind).get("definitions", {}):
                for error in _errors(kind, part, value):
                    if brought and error.validator == "required":
                        continue
                    where = "/".join(map(str, error.path))
                    yield f"panel '{panel.get('title')}' {part} {where}: {error.message[:200]}"
    ids = [panel.get("id") for panel in panels]
    if len(set(ids)) < len(ids) or not all(isinstance(id_, int) and id_ > 0 for id_ in ids):
        yield "panel ids are not unique numbers above 0"
    for panel in panels:
        if not brought and not _schema(str(panel.get("type", ""))):
            yield f"panel '{panel.get('title')}': the type '{panel.get('type')}' was never verified"


def _errors(name: str, part: str, value: Any) -> Iterator[Any]:
    """What the schema says; of something that may be one of two, what is wrong with the one that it means to be."""
    for error in _validator(name, part).iter_errors(value):
        if error.validator == "oneOf" and isinstance(error.instance, dict) and "type" in error.instance:
            branch = int(error.instance["type"] == "row")
            for inner in (one for one in error.context if one.schema_path[0] == branch):
                inner.parent = None
                inner.path.extendleft(reversed(error.path))
                yield inner
        else:
            yield error


def _custom(panel: dict[str, Any]) -> Any:
    return panel.get("fieldConfig", {}).get("defaults", {}).get("custom")


@cache
def _schema(name: str) -> dict[str, Any]:
    """That of the dashboard or of a panel of Grafana's; of another panel, which is named as it likes, an empty one."""
    if name not in (PAGE, *CORE):
        return {}
    path = Path(__file__).with_name("grafana") / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


@cache
def _validator(name: str, part: str = "") -> Any:
    from jsonschema import Draft7Validator  # 75 ms that only a build pays

    schema = _schema(name)
    return Draft7Validator({**schema, "$ref": f"#/definitions/{part}"} if part else schema)

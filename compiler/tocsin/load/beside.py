"""The files that the spec names beside its own YAML: mixins in Jsonnet, dashboards in Jsonnet or JSON.

A file stands below the folder of the root spec, and Jsonnet reads only what stands below the file's own folder. Nothing
else is executed: grafanalib is Python, so its dashboards come as the JSON that it wrote
(`generate-dashboard -o team.json team.dashboard.py`), committed beside the Python that wrote it.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin import jsontext
from tocsin.diagnostics import Related
from tocsin.document import Made, WrittenDashboard, WrittenMixin
from tocsin.jsonnet import RefusedError, evaluate
from tocsin.load.files import printable, read
from tocsin.load.groups import dashboards_of, groups_of
from tocsin.secrecy import names_secret
from tocsin.source import Source, Span
from tocsin.templates import template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.load.reading import Reading

_JSONNET = (".libsonnet", ".jsonnet")
_PYTHON = (
    "nothing of a spec is executed: let grafanalib write it, `generate-dashboard -o team.json team.dashboard.py`, "
    "commit the JSON and name that"
)


class Named(NamedTuple):
    """A file that the spec names: its path on the disk, its name in messages, and where it is named."""

    path: str
    name: str
    place: Span


def read_beside(document: Document, path: str, reading: Reading) -> Document:
    """The document with what its mixins and dashboards came to; what cannot be read is told and left out."""
    folder = "." if path == "-" else os.path.dirname(path) or "."
    mixins, dashboards = {}, {}
    for name in sorted(document.spec.mixins):
        mixin = _mixin(document, name, folder, reading)
        if mixin is not None:
            mixins[name] = mixin
    for name in sorted(document.spec.dashboards):
        dashboard = _dashboard(document, name, folder, reading)
        if dashboard is not None:
            dashboards[name] = dashboard
    return document._replace(mixins=mixins, dashboards=dashboards)


def _mixin(document: Document, name: str, folder: str, reading: Reading) -> WrittenMixin | None:
    file = _named(document, ("mixins", name, "path"), folder, _JSONNET, reading.log)
    if file is None:
        return None
    config = json.dumps(_plain(document.spec.mixins[name].config))
    head = f"local mixin = import {json.dumps(os.path.basename(file.path))};\nlocal config = {config};\n"
    found = _evaluated(head + template("jsonnet/mixin.jsonnet"), file, folder, reading)
    if found is None:
        return None
    value, made = found
    if value["kind"] != "object" or all(value[part] is None for part in ("alerts", "rules", "dashboards")):
        what = f"'{file.name}' comes to {_kind(value['kind'])} without prometheusAlerts, prometheusRules and dashboards"
        hint = "name the file that puts the mixin together, which is usually mixin.libsonnet"
        reading.log.error("MIX101", what, file.place, hint)
        return None
    _check_config(document, name, value["known"], reading.log)
    tell = _Teller(made, file.place, reading.log)
    groups = (
        *groups_of(value["rules"], "prometheusRules", tell),
        *groups_of(value["alerts"], "prometheusAlerts", tell),
    )
    return WrittenMixin(groups, dashboards_of(value["dashboards"], tell), made)


class _Teller(NamedTuple):
    """Tells what is wrong with a mixin, at a name in it that is known, or where the spec names its file."""

    made: Made
    place: Span
    log: Log

    def __call__(self, message: str, hint: str, name: str = "") -> None:
        place = self.made.named(name)
        related = [Related(self.place, "the mixin is named here")] if place else []
        self.log.error("MIX101", message, place or self.place, hint, related)


def _check_config(document: Document, name: str, known: list[str], log: Log) -> None:
    """A setting that the mixin does not know has no effect."""
    from tocsin.diagnostics import near

    for key in document.spec.mixins[name].config:
        if names_secret(key):
            what = f"`{key}` would hold a secret; secrets are only ever named by their file"
            place = document.places.value("mixins", name, "config", key)
            log.error("SEC101", what, place, "leave it out: no rule and no dashboard needs one")
        elif key not in known:
            close = near(key, known)
            hint = f"did you mean `{close}`?" if close else f"its _config has {', '.join(sorted(known)[:12]) or 'none'}"
            log.error(
                "MIX102", f"the mixin has no setting `{key}`", document.places.key("mixins", name, "config", key), hint
            )


def _dashboard(document: Document, name: str, folder: str, reading: Reading) -> WrittenDashboard | None:
    from tocsin.dashboard import unwrapped  # a spec without dashboards of its own does without

    file = _named(document, ("dashboards", name, "path"), folder, (*_JSONNET, ".json"), reading.log)
    if file is None:
        return None
    if file.name.endswith(".json"):
        found = _json(file, reading)
    else:
        found = _evaluated(f"import {json.dumps(os.path.basename(file.path))}", file, folder, reading)
    if found is None:
        return None
    value, made = found
    if not isinstance(value, dict):
        what = f"'{file.name}' is no dashboard: it is not an object"
        reading.log.error("DSH101", what, file.place, "a dashboard has a title and panels")
        return None
    return WrittenDashboard(unwrapped(value), made)


def _json(file: Named, reading: Reading) -> tuple[Any, Made] | None:
    source = read(file.path, file.name, reading.log, file.place)
    if source is None:
        return None
    reading.sources[source.path] = source
    try:
        return jsontext.read(source), Made((source,))
    except jsontext.JsonError as error:
        place = source.span(error.offset, error.offset + 1)
        there = [Related(file.place, "the file is named here")]
        reading.log.error(
            "DSH101", f"this is not JSON: {error.message}", place, "let its generator write it anew", there
        )
        return None


def _evaluated(program: str, file: Named, folder: str, reading: Reading) -> tuple[Any, Made] | None:
    """The value of a program that imports a file, and the texts that were read for it."""
    try:
        found = evaluate(program, os.path.dirname(file.path) or ".", os.path.dirname(file.name))
    except RefusedError as refusal:
        _tell(refusal, file, folder, reading)
        return None
    return found.value, Made(tuple(_texts(found.files, folder, reading)))


def _texts(names: tuple[str, ...], folder: str, reading: Reading) -> Iterator[Source]:
    for name in names:
        source = read(os.path.join(folder, name), printable(name), reading.log)
        if source is not None:
            yield reading.sources.setdefault(source.path, source)


def _tell(refusal: RefusedError, file: Named, folder: str, reading: Reading) -> None:
    code = {"import": "JSN103", "limit": "JSN104"}.get(refusal.kind, "JSN102")
    hint = {
        "JSN102": "evaluate it with `jsonnet` to see the whole trace",
        "JSN103": "a file reads only what lies in its own folder: put what it needs there, or below its `vendor`",
        "JSN104": "look for a function that calls itself without end, or leave its dashboards out",
    }[code]
    there = [Related(file.place, "the file is named here")]
    for source in _texts((refusal.name,) if refusal.name else (), folder, reading):
        if refusal.line <= len(source.line_starts):
            place = Span(source.path, refusal.line, refusal.column, refusal.line, refusal.end)
            reading.log.error(code, f"Jsonnet: {refusal.message}", place, hint, there)
            return
    what = f"Jsonnet cannot evaluate '{file.name}': {refusal.message}"
    reading.log.error(code, what, file.place, hint)


def _named(document: Document, path: Path, folder: str, endings: tuple[str, ...], log: Log) -> Named | None:
    """The file that a path of the spec names; None, and a diagnostic, where it is none of these endings below it."""
    text: str = getattr(document.spec, str(path[0]))[path[1]].path
    place, shown = document.places.value(*path), text if len(text) <= 60 else f"{text[:57]}..."
    if os.path.isabs(text) or ".." in text.split("/") or "\\" in text or "\0" in text or _leaves(folder, text):
        hint = "name a file below the folder of the root spec, with `/` between folders"
        log.error("JSN101", f"'{shown}' leaves the folder of the spec", place, hint)
    elif not text.endswith(endings):
        hint = _PYTHON if text.endswith(".py") else f"its name ends in {' or '.join(endings)}"
        log.error("JSN101", f"'{shown}' is not a file that is read here", place, hint)
    elif not os.path.isfile(os.path.join(folder, text)):
        log.error("JSN101", f"there is no file '{shown}'", place, "paths are relative to the folder of the root spec")
    else:
        name = os.path.normpath(text)
        return Named(os.path.join(folder, name), printable(name), place)
    return None


def _leaves(folder: str, text: str) -> bool:
    home = os.path.realpath(folder)
    return os.path.commonpath([home, os.path.realpath(os.path.join(folder, text))]) != home


def _plain(value: Any) -> Any:
    """A value of the spec as JSON has it."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, bool | int | str | None) else float(value)


def _kind(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"

"""What mixins and teams bring, beside what is generated: names that both have, and series that nothing records."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tocsin.verify.dashboards import BROUGHT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log

_RULE = re.compile(r"^  - (alert|record): (\S+)$", re.MULTILINE)
_OF_MIXIN = "rules/mixin-"
_RECORDED = re.compile(r"(?<![\w:$\[])[a-z]\w*:\w+(?::\w+)*(?![\w:])")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`|\[[^\]]*\]')


def judge_brought(files: Mapping[str, Artifact], log: Log) -> None:
    """Both; nothing is looked at where nothing is brought."""
    if any(path.startswith(_OF_MIXIN) for path in files):
        _judge_names(files, log)
    pages = {path: files[path] for path in files if path.rpartition("/")[2].startswith(BROUGHT)}
    pages = {path: page for path, page in pages.items() if path.startswith("grafana/dashboards/")}
    if pages:
        _judge_series(pages, files, log)


def _judge_names(files: Mapping[str, Artifact], log: Log) -> None:
    """A rule of a mixin has the name of one that tocsin makes: its page, its silences and its routes would be one."""
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


def _judge_series(pages: Mapping[str, Artifact], files: Mapping[str, Artifact], log: Log) -> None:
    """A series whose name is that of a recorded one is recorded by some rule, or the panel stays empty for ever."""
    recorded = {
        found[2]
        for path, artifact in files.items()
        if path.startswith("rules/")
        for found in _RULE.finditer(artifact.text)
        if found[1] == "record"
    }
    for page in pages.values():
        model = json.loads(page.text)
        for title, query in _queries(model):
            for name in sorted(set(_RECORDED.findall(_STRING.sub('""', query))) - recorded):
                what = (
                    f"the panel '{title}' of '{model['title']}' asks for {name}, which nothing records in this factory"
                )
                hint = "collect the signal that it follows from, record it under `records`, or leave the panel out"
                log.error("DSH106", what, page.origin(1), hint)


def _queries(model: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for panel in model["panels"]:
        for one in (panel, *panel.get("panels", ())):
            for target in one.get("targets", ()):
                yield str(one.get("title", "")), str(target.get("expr", ""))

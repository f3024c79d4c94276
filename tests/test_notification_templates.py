"""The messages: rendered by every amtool, alike; and what cannot be rendered is found before it is written."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec
from tocsin.verify.amtool import judge_notifications
from tocsin.verify.run import Tool as Judge

if TYPE_CHECKING:
    from pathlib import Path

    from toolbox import Tool


def judged(result: Compiled, amtool: Tool, folder: Path, old: str = "", new: str = "") -> list[str]:
    """The codes of what amtool says of the notifications, with one text in place of another."""
    files = {one.path: one._replace(text=one.text.replace(old, new) if old else one.text) for one in result.artifacts}
    for path, artifact in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(artifact.text, "utf-8")
    log = Log()
    judge_notifications(Judge("amtool", str(amtool.path), ""), files, folder, log)
    return [told.code for told in log.sorted()]


def test_a_text_that_cannot_be_rendered_is_told(amtool: Tool, tmp_path: Path) -> None:
    oldest = compile_spec(str(ROOT / "tests" / "cases" / "golden" / "oldest-targets" / "spec.yaml"), Log(), {})
    assert oldest is not None
    assert judged(oldest, amtool, tmp_path) == []
    wrong = "tocsin.title", "tocsin.titel"
    assert judged(oldest, amtool, tmp_path, *(f'{{{{ template "{name}" . }}}}' for name in wrong)) == [
        "VFY123"
    ]  # once, wherever it stands


DATA = {
    "receiver": "hardware-page",
    "status": "firing",
    "alerts": [
        {
            "status": "resolved",
            "labels": {"alertname": "Old", "severity": "page", "node": "n1"},
            "annotations": {},
            "startsAt": "2026-07-06T01:02:03Z",
        },
        {
            "status": "firing",
            "labels": {"alertname": "GpuLost", "cluster": "<!channel>", "node": "{{ .x }} & $1", "owner": "hardware"},
            "annotations": {
                "summary": "A GPU of <@here> {{ is }} gone",
                "description": "3 of 4 report.",
                "runbook_url": "https://runbooks.example.com/GpuLost",
                "dashboard_url": "https://grafana.example.com/d/x?a=1&b=2",
            },
            "startsAt": "2026-07-06T03:04:05+02:00",
        },
    ],
}
PLAIN = """\
2 alerts, 1 firing

Over: Old
Where: node n1
Since: 2026-07-06 01:02 UTC

A GPU of <@here> {{ is }} gone
3 of 4 report.
Where: cluster <!channel>, node {{ .x }} & $1
Since: 2026-07-06 01:04 UTC
Runbook: https://runbooks.example.com/GpuLost
Dashboard: https://grafana.example.com/d/x?a=1&b=2
"""
RENDERED = {
    "title": "[firing] A GPU of <@here> {{ is }} gone (1 of 2)",
    "text": PLAIN,
    "runbook": "https://runbooks.example.com/GpuLost",
    "dashboard": "https://grafana.example.com/d/x?a=1&b=2",
    "slack.title": "[firing] A GPU of &lt;@here&gt; {{ is }} gone (1 of 2)",
    "slack.text": PLAIN.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
}


@pytest.mark.parametrize("name", RENDERED)
def test_a_message_says_what_where_how_many_and_where_to_go(amtool: Tool, tmp_path: Path, name: str) -> None:
    """Rendered by amtool, the same by every version. What looks like a template or like Slack's markup is text."""
    assert rendered(amtool, tmp_path, name, DATA) == RENDERED[name]


def test_an_escalation_says_so(amtool: Tool, tmp_path: Path) -> None:
    data = {**DATA, "receiver": "boss-escalation"}
    assert rendered(amtool, tmp_path, "title", data) == f"[escalated] {RENDERED['title']}"


def rendered(amtool: Tool, folder: Path, name: str, data: dict[str, object]) -> str:
    (folder / "data.json").write_text(json.dumps(data), "utf-8")
    command = [
        str(amtool.path),
        "template",
        "render",
        f"--template.glob={ROOT}/templates/alertmanager/*.tmpl",
        f'--template.text={{{{ template "tocsin.{name}" . }}}}',
        f"--template.data={folder}/data.json",
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout

"""Incidents of GPU fleets: who is called, when, and who is not.

They are played on the rules of specs/incident-world.yaml, and those of what a site has around its boards on the rules
of tests/incidents/site/spec.yaml.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from incident_play import SHORT, Fired, Incident, play, read, wrong
from incident_timeline import notation, timeline
from incident_world import apply, healthy
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec
from toolbox import INSTALL, found

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from toolbox import Tool

SITE = ROOT / "tests" / "incidents" / "site"
SPECS = {"world": ROOT / "specs" / "incident-world.yaml", "site": SITE / "spec.yaml"}
INCIDENTS = read(ROOT / "tests" / "incidents")
PROGRAMMES = {"world": INCIDENTS, "site": read(SITE)}
TOOLS = found("promtool")


def _compiled(spec: Path) -> Compiled:
    result = compile_spec(str(spec), Log(), {})
    assert result is not None
    return result


@pytest.fixture(scope="session")
def compiled() -> Compiled:
    return _compiled(SPECS["world"])


class Theatre:
    """Plays all incidents of a version of promtool at once, those of the core apart, when the first is asked for."""

    def __init__(self, compiled: Compiled, incidents: Sequence[Incident], folder: Path) -> None:
        self.compiled = compiled
        self.incidents = incidents
        self.folder = folder
        self.rules = [artifact for artifact in compiled.artifacts if artifact.path.startswith("rules/")]
        self.played: dict[tuple[Path, bool], dict[str, Fired]] = {}
        (folder / "rules").mkdir()
        for artifact in self.rules:
            (folder / artifact.path).write_text(artifact.text, "utf-8")

    def fired(self, incident: Incident, tool: Tool) -> Fired:
        """What fires in an incident."""
        key = (tool.path, incident.core)
        if key not in self.played:
            paths = [self.folder / artifact.path for artifact in self.rules]
            programme = [one for one in self.incidents if one.core == incident.core]
            file = self.folder / "incidents.yml"
            self.played[key] = play(programme, self.compiled.factory, paths, tool.path, file)
        return self.played[key][incident.name]


@pytest.fixture(scope="session")
def theatre(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory) -> Theatre:
    return Theatre(compiled, INCIDENTS, tmp_path_factory.mktemp("theatre"))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Theatre:
    return Theatre(_compiled(SPECS["site"]), PROGRAMMES["site"], tmp_path_factory.mktemp("site"))


def casts(where: str) -> list[object]:
    """The core on the oldest and the newest promtool. In the long run, on those between, and the rest on the newest."""
    if not TOOLS:
        return [pytest.param(None, None, marks=pytest.mark.skip(reason=INSTALL))]
    return [
        pytest.param(
            incident,
            tool,
            id=f"{incident.name}-{'.'.join(map(str, tool.version))}",
            marks=[
                pytest.mark.xdist_group(f"incidents {where} {tool.version}"),
                *([] if incident.core and tool in (TOOLS[0], TOOLS[-1]) else [pytest.mark.slow]),
            ],
        )
        for tool in TOOLS
        for incident in PROGRAMMES[where]
        if incident.core or tool == TOOLS[-1]
    ]


@pytest.mark.parametrize(("incident", "tool"), casts("world"))
def test_who_is_called(incident: Incident, tool: Tool, theatre: Theatre) -> None:
    verdict = wrong(incident, theatre.fired(incident, tool))
    assert not verdict, f"{incident.story}\n{verdict}"


@pytest.mark.parametrize(("incident", "tool"), casts("site"))
def test_who_is_called_at_a_site(incident: Incident, tool: Tool, site: Theatre) -> None:
    verdict = wrong(incident, site.fired(incident, tool))
    assert not verdict, f"{incident.story}\n{verdict}"


def test_every_incident_has_its_own_name_and_speaks_of_minutes_that_it_has() -> None:
    incidents = [incident for programme in PROGRAMMES.values() for incident in programme]
    names = [incident.name for incident in incidents]
    assert len(set(names)) == len(names)
    for incident in incidents:
        for expected in incident.expect:
            assert expected.keys() <= {"alert", "from", "until", "clear"}, incident.name
            until = expected.get("until", expected["from"])
            assert expected["from"] <= until <= incident.minutes, incident.name
            assert until < expected.get("clear", incident.minutes + 1) <= incident.minutes + 1, incident.name


@pytest.mark.slow
def test_an_alert_of_every_rule_is_expected_somewhere(compiled: Compiled, theatre: Theatre) -> None:
    """Each rule that can page or ticket somebody has an incident in which it must."""
    if not TOOLS:
        pytest.skip(INSTALL)
    expected = {
        alert["alertname"]
        for incident in INCIDENTS
        for minute, alerts in theatre.fired(incident, TOOLS[-1]).items()
        for alert in alerts
        if any(one["from"] <= minute for one in incident.expect)
    }
    rules = (rule for file in compiled.plan.rules for group in file.groups for rule in group.rules)
    alerts = {rule.name for rule in rules if hasattr(rule, "hold") and rule.labels["severity"] != "info"}
    assert sorted(alerts - expected) == []


@pytest.mark.parametrize(
    ("text", "samples", "written"),
    [
        ("4", 3, "4x2"),
        ("4 | 1m 68", 6, "4x3 68x1"),
        ("0 +20/s", 3, "0+300x2"),
        ("0 +1/m", 9, "0x3 1x3 2x0"),
        ("0 +20/s | 1m +10/s | 2m stays", 10, "0+300x3 1050+150x3 1500x1"),
        ("4~68/15s", 3, "4+64x1 4x0"),
        ("gone | 0.5m 7", 3, "_x2 7x0"),
        ("7 | 0.5m gone", 5, "7x1 stale _x2"),
        ("7 | 0.5m gone | 0.75m 7", 4, "7x1 stale 7x0"),
        ("0.52", 2, "0.52x1"),
        ("2 | 0.5m NaN", 4, "2x1 NaN NaN"),
    ],
)
def test_a_timeline_as_promtool_reads_it(text: str, samples: int, written: str) -> None:
    assert notation(timeline(text, samples)) == written


@pytest.mark.parametrize("text", ["x", "4 | 68 | 1m", "4 | 10m", "+", "4~/1m", "4 +2"])
def test_a_timeline_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text.rpartition("| ")[2])):
        timeline(text, 100)


def test_a_change_that_changes_nothing_is_refused(compiled: Compiled) -> None:
    world = healthy(compiled.factory, 10, "")
    with pytest.raises(ValueError, match="no series"):
        apply(world, {"of": "DCGM_FI_DEV_GPU_TEMP{gpu_uuid=GPU-9-9}", "is": "0"})
    with pytest.raises(ValueError, match="becomes"):
        apply(world, {"of": "DCGM_FI_DEV_GPU_TEMP", "becomes": {"job_id": "1"}})


def test_what_is_wrong_with_a_minute_is_told() -> None:
    page = {"alertname": "GpuLost", "severity": "page", "node": "a"}
    expecting = [{"alert": {"severity": "page", "node": "a"}, "from": 12, "until": 13, "clear": 15}]
    incident = Incident("lost", "A board goes.", expect=expecting)
    quiet: Fired = {minute: [] for minute in range(1, SHORT + 1)}
    assert "minute 12: nothing fires" in wrong(incident, quiet)
    assert not wrong(incident, {**quiet, 12: [page], 13: [page]})
    assert not wrong(incident, {**quiet, 11: [page], 12: [page], 13: [page], 14: [page]})
    assert "minute 9: this must not fire" in wrong(incident, {**quiet, 9: [page], 12: [page], 13: [page]})
    assert "minute 15: this must not fire" in wrong(incident, {**quiet, 12: [page], 13: [page], 15: [page]})
    other = {**page, "node": "b"}
    assert "minute 13: this must not fire" in wrong(incident, {**quiet, 12: [page], 13: [page, other]})
    assert not wrong(incident._replace(also=[{"node": "b"}]), {**quiet, 12: [page], 13: [page, other]})

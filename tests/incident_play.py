"""Incidents played on rules by the real promtool, several a call, and the first minute at which one goes wrong.

An incident says what must happen, and by that what must not:

    expect: [{alert: LABELS, from: 13, until: 40, clear: 60}]   firing at each minute of [from, until], over by `clear`
    also: [LABELS]                                              may fire or not, whenever

Labels are regular expressions, anchored at both ends. Every other alert at any minute is wrong, and so is an expected
one before the event, which is at minute EVENT unless the alert is expected by then. Only the watchdog is not looked at.
"""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from incident_timeline import A_MINUTE, STEP, notation
from incident_world import apply, healthy
from tocsin.promql import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tocsin.factory import Factory

EVENT = 10
SHORT = 40
Labels = dict[str, str]
Fired = dict[int, list[Labels]]  # by minute


class Incident(NamedTuple):
    """What happens, for how many minutes, and who is to hear of it. `core` ones are played on every version."""

    name: str
    story: str
    minutes: int = SHORT
    core: bool = False
    alone: bool = False
    changes: Sequence[dict[str, Any]] = ()
    expect: Sequence[dict[str, Any]] = ()
    also: Sequence[Labels] = ()


BYSTANDER = Incident(
    "bystander", "Nothing happens to this fleet, neither to its node gpu-node-02 nor to its inference."
)


def read(folder: Path) -> list[Incident]:
    """The incidents of all files of a folder but its spec; each file maps names to incidents."""
    paths = (path for path in sorted(folder.glob("*.yaml")) if path.name != "spec.yaml")
    files = (yaml.safe_load(path.read_text("utf-8")) for path in paths)
    return [Incident(name, **row) for file in files for name, row in file.items()]


def play(
    incidents: Sequence[Incident], factory: Factory, rules: Iterable[Path], promtool: Path, file: Path
) -> dict[str, Fired]:
    """What fires in each incident, by its name. `file` is where promtool's input is put.

    Short incidents share a world, and so do long ones, each with a fleet of its own beside one to which nothing
    happens: what tells places apart carries the number of the incident, and is stripped from what fires. Those that
    are `alone`, since they happen to a whole cluster, have a world of their own.
    """
    shared: dict[str, list[Incident]] = {}
    for incident in incidents:
        shared.setdefault(incident.name if incident.alone else f"{incident.minutes > SHORT}", []).append(incident)
    worlds = [[BYSTANDER, *one] if not one[0].alone else one for one in shared.values()]
    paths = sorted(rules)
    tests = {
        "rule_files": [str(path) for path in paths],
        "evaluation_interval": f"{STEP}s",
        "group_eval_order": [g["name"] for path in paths for g in yaml.safe_load(path.read_text("utf-8"))["groups"]],
        "tests": [_test(number, factory, world) for number, world in enumerate(worlds)],
    }
    file.write_text(json.dumps(tests), "utf-8")  # which is YAML, and quick to write
    said = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, check=False)
    fired: dict[str, Fired] = {incident.name: {} for incident in incidents}
    answers = _ANSWER.findall(said.stdout + said.stderr)
    assert len(answers) == sum(_length(world) for world in worlds), f"{said.stdout}{said.stderr}"[:2000]
    for number, at, got in answers:
        minute, alerts = _minutes(at), [dict(_LABEL.findall(alert)) for alert in _ALERT.findall(got)]
        for place, incident in enumerate(worlds[int(number)]):
            own = [_home(alert) for alert in alerts if _is_of(alert, place)]
            assert incident is not BYSTANDER or not own, f"minute {minute}: {_shown(own)} where nothing happens"
            if incident is not BYSTANDER and minute <= incident.minutes:
                fired[incident.name][minute] = own
    return fired


# promtool tells what an expression gives only where something else was expected. The expression carries a number.
_NOTHING = [{"labels": '{never="1"}', "value": 0}]
_ANSWER = re.compile(r'world!=\\"(\d+)\\".*time: (\w+),\n.*\n *got:(.*)')
_ALERT = re.compile(r'\{((?:[^{}"]|"(?:[^"\\]|\\.)*")*)\}')
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_PLACES = ("node", "gpu_uuid", "job_id", "service", "instance")


def _length(world: Sequence[Incident]) -> int:
    return max(incident.minutes for incident in world)


def _test(number: int, factory: Factory, incidents: Sequence[Incident]) -> dict[str, Any]:
    minutes = _length(incidents)
    series = []
    for place, incident in enumerate(incidents):
        length = minutes if incident is BYSTANDER else incident.minutes
        world = healthy(factory, length * A_MINUTE + 1, _text(incident))
        for change in incident.changes:
            apply(world, change)
        series += [
            {"series": _series(metric, labels, place), "values": notation(values)}
            for (metric, labels), values in world.items()
        ]
    asked = f'ALERTS{{alertstate="firing",alertname!="Watchdog",world!="{number}"}}'
    return {
        "interval": f"{STEP}s",
        "input_series": series,
        "promql_expr_test": [
            {"expr": asked, "eval_time": f"{minute}m", "exp_samples": _NOTHING} for minute in range(1, minutes + 1)
        ],
    }


def _text(incident: Incident) -> str:
    """Where the incident speaks of a part of the fleet; one that is alone is told of all nodes."""
    if incident is BYSTANDER:
        return incident.story
    return f"{incident.changes} {incident.expect} {incident.also}{' alone' if incident.alone else ''}"


def _series(metric: str, labels: tuple[tuple[str, str], ...], index: int) -> str:
    placed = ((name, f"{value}@{index}" if name in _PLACES else value) for name, value in labels)
    return f"{metric}{{{','.join(f'{name}={quote(value)}' for name, value in placed)}}}"


def _is_of(alert: Labels, index: int) -> bool:
    """Whether an alert is of the incident's own fleet, or of all of them."""
    told = {alert[label].rpartition("@")[2] for label in _PLACES if label in alert}
    return not told or told == {str(index)}


def _home(alert: Labels) -> Labels:
    return {name: value.rpartition("@")[0] if name in _PLACES else value for name, value in alert.items()}


def _minutes(text: str) -> int:
    return sum(int(count) * {"h": 60, "m": 1, "s": 0}[unit] for count, unit in re.findall(r"(\d+)([hms])", text))


def wrong(incident: Incident, fired: Fired) -> str:
    """The first minute at which something else happens than expected, and what fires then; empty where none does."""
    for minute, alerts in sorted(fired.items()):
        for expected in incident.expect:
            due = expected["from"] <= minute <= expected.get("until", expected["from"])
            if due and not any(_matches(alert, expected["alert"]) for alert in alerts):
                return f"minute {minute}: nothing fires that is {expected['alert']}; what fires: {_shown(alerts)}"
        for alert in alerts:
            if not _allowed(incident, alert, minute):
                return f"minute {minute}: this must not fire: {_shown([alert])}"
    return ""


def _allowed(incident: Incident, alert: Labels, minute: int) -> bool:
    def over(expected: dict[str, Any]) -> bool:
        begin = EVENT if expected["from"] > EVENT else 0
        return not begin <= minute < expected.get("clear", incident.minutes + 1)

    return any(_matches(alert, labels) for labels in incident.also) or any(
        _matches(alert, expected["alert"]) and not over(expected) for expected in incident.expect
    )


def _matches(alert: Labels, wanted: Labels) -> bool:
    return all(re.fullmatch(str(value), alert.get(label, "")) for label, value in wanted.items())


def _shown(alerts: list[Labels]) -> str:
    hidden = {"__name__", "alertstate", "layer", "cluster"}
    return "; ".join(" ".join(f"{n}={v}" for n, v in a.items() if n not in hidden) for a in alerts) or "nothing"

"""Runbooks: a page for each alert, of what it means, whose it is, what it reads, and when it fires."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from tocsin.artifact import Artifact
from tocsin.catalog import MONITORS, exporter_kinds, limit_kinds, metrics_of, recorded_metrics, signal_kinds
from tocsin.plan.rules import Alert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.plan import Plan
    from tocsin.plan.rules import RuleFile

FOLDER = "docs/runbooks"
_SHOWN = 3  # expressions of one name: objectives have one each, of the same form
_FACTS = ("severity", "owner", "layer")
_CONDITION = re.compile(r"\{\{ (?:if [^}]*|end) \}\}")
_ACTION = re.compile(r"\{\{ \$(?:labels\.)?(\w+)[^}]*\}\}")
_OTHER = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_SHOWS = re.compile(r"\$(?:labels\.)?(\w+)")
_WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


def runbooks(plan: Plan) -> Iterator[Artifact]:
    """One page a name; the alerts of a name differ in their severity, their owner or their objective."""
    alerts: dict[str, list[tuple[RuleFile, Alert]]] = {}
    for file in plan.rules:
        for rule in (rule for group in file.groups for rule in group.rules if isinstance(rule, Alert)):
            alerts.setdefault(rule.name, []).append((file, rule))
    for name, same in sorted(alerts.items()):
        shown = [_filled(file, alert) for file, alert in _told_apart(same)]
        yield Artifact(f"{FOLDER}/{name}.md", page(name, shown, len(same)), ((1, shown[0].origin),))


def _told_apart(same: list[tuple[RuleFile, Alert]]) -> list[tuple[RuleFile, Alert]]:
    """The first ones, whose expressions are shown, and of the others those whose labels a page would name as well."""
    others = {tuple(alert.labels.get(label) for label in _FACTS): (file, alert) for file, alert in reversed(same)}
    return [*same[:_SHOWN], *(one for one in reversed(others.values()) if one not in same[:_SHOWN])]


def _filled(file: RuleFile, alert: Alert) -> Alert:
    texts = {name: file.filled(text) for name, text in alert.annotations.items()}
    labels = {name: file.filled(value) for name, value in alert.labels.items()}
    return alert._replace(expr=file.filled(alert.expr), labels=labels, annotations=texts)


def page(name: str, alerts: list[Alert], count: int) -> str:
    """The page of a name, from the texts of its alerts and from the catalogue; there are so many of the name."""
    first = alerts[0]
    parts = [
        f"# {name}\n\n{plain(first.annotations['summary']).rstrip('.')}.\n\n{''.join(_facts(name, alerts))}",
        f"## What it means\n\n{plain(first.annotations['description'])}\n",
    ]
    if looked := "".join(_read(alerts)):
        parts.append(f"## What to look at\n\n{looked}")
    parts.append(f"## When it fires\n\n{_conditions(alerts, count)}")
    return "\n".join(parts)


def plain(text: str) -> str:
    """A text of an alert as a page shows it: the names of labels stand for their values."""
    return _OTHER.sub(_named, _ACTION.sub(r"`\1`", _CONDITION.sub("", text)))


def _named(action: re.Match[str]) -> str:
    """What another action shows: the first label, or the value, that it names."""
    found = _SHOWS.search(action[0])
    return f"`{found[1]}`" if found else ""


def _facts(name: str, alerts: list[Alert]) -> Iterator[str]:
    for label in _FACTS:
        values = dict.fromkeys(alert.labels[label] for alert in alerts if label in alert.labels)
        yield f"- {label.title()}: {', '.join(values)}\n"
    kind = signal_kinds().get(alerts[0].labels.get("signal", ""))
    if kind is not None:
        yield f"- Signal: `{kind.id}`, {kind.meaning}\n"
    for limit in (limit for limit in limit_kinds().values() if limit.alert == name):
        usual = f"usually {limit.usual}" if limit.usual else "without it the alert is off"
        yield f"- Limit: `limits.{limit.id}`, {limit.meaning}; {usual}. Source: {limit.source}\n"


def _read(alerts: list[Alert]) -> Iterator[str]:
    """The series that the expressions name, in the words of the catalogue."""
    words = dict.fromkeys(word for alert in alerts[:_SHOWN] for word in _WORD.findall(alert.expr))
    for word in words:
        if word in _helps():
            yield f"- `{word}`: {_helps()[word]}\n"


@cache
def _helps() -> dict[str, str]:
    metrics = [metric for monitor in MONITORS for metric in metrics_of(monitor)]
    for kind in exporter_kinds().values():
        metrics += [metric for flavour in kind.flavours or ("",) for metric in metrics_of(kind.id, flavour)]
    shown = {metric.name: f"{metric.help} (job {metric.exporter})" for metric in metrics}
    return {**shown, **{metric.name: f"{metric.help} (recorded)" for metric in recorded_metrics()}}


def _conditions(alerts: list[Alert], count: int) -> str:
    blocks = []
    for alert in alerts[:_SHOWN]:
        held = f"Once this has held for {alert.hold}" if alert.hold else "As soon as this holds"
        blocks.append(f"{held} ({alert.labels['severity']}):\n\n```promql\n{alert.expr}\n```\n")
    rest = count - _SHOWN
    more = f"and {rest} more of the same form, in `rules/`.\n"
    return "\n".join([*blocks, *([more] if rest > 0 else [])])

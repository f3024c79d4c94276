"""Runbooks: a page for each alert, of what it means, whose it is, what it reads, and when it fires."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from tocsin.artifact import Artifact
from tocsin.catalog import MONITORS, exporter_kinds, limit_kinds, metrics_of, recorded_metrics, signal_kinds
from tocsin.emit.texts import Text, apart, common, merged
from tocsin.plan.rules import Alert

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.plan import Plan
    from tocsin.plan.rules import RuleFile

FOLDER = "docs/runbooks"
_SHOWN = 3  # expressions of one name: objectives have one each, of the same form
_LISTED, _NAMED = 12, 5  # texts that differ, and values of a label that one is about
_TELLING = ("slo", "cluster", "owner", "severity")
_CLUSTER = re.compile(r'[{ ]cluster="([^"]+)"')
_FACTS = ("severity", "owner", "layer")
_CONDITION = re.compile(r"\{\{ (?:if [^}]*|end) \}\}")
_ACTION = re.compile(r"\{\{ \$(?:labels\.)?(\w+)[^}]*\}\}")
_OTHER = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_SHOWS = re.compile(r"\$(?:labels\.)?(\w+)")
_WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


def runbooks(plan: Plan) -> Iterator[Artifact]:
    """One page a name; the alerts of a name differ in their severity, their owner, their cluster or their objective."""
    alerts: dict[str, list[tuple[RuleFile, Alert]]] = {}
    for file in plan.rules:
        for rule in (rule for group in file.groups for rule in group.rules if isinstance(rule, Alert)):
            alerts.setdefault(rule.name, []).append((file, rule))
    steps = dict(plan.first_steps)
    for name, same in sorted(alerts.items()):
        text = page(name, same, steps.get(name, ()))
        yield Artifact(f"{FOLDER}/{name}.md", text, ((1, same[0][1].origin),))


def page(name: str, same: Sequence[tuple[RuleFile, Alert]], steps: Sequence[str]) -> str:
    """The page of a name, from the texts of its alerts and from the catalogue."""
    shown = [_filled(file, alert) for file, alert in same[:_SHOWN]]
    labels = _labels(same)
    told = _telling(labels)
    heads, texts = (merged(_texts(same, told, key)) for key in ("summary", "description"))
    head = f"{shared.rstrip('.')}.\n\n" if (shared := common(heads)) else ""
    parts = [f"# {name}\n\n{head}{''.join(_facts(name, labels))}", f"## What it means\n\n{_meaning(texts)}"]
    if steps:
        parts.append("## What to do\n\n" + "".join(f"{number}. {step}\n" for number, step in enumerate(steps, 1)))
    if looked := "".join(_read(shown)):
        parts.append(f"## What to look at\n\n{looked}")
    parts.append(f"## When it fires\n\n{_conditions(shown, len(same))}")
    return "\n".join(parts)


def _filled(file: RuleFile, alert: Alert) -> Alert:
    labels = {name: file.filled(value) for name, value in alert.labels.items()}
    return alert._replace(expr=file.filled(alert.expr), labels=labels)


def _labels(same: Sequence[tuple[RuleFile, Alert]]) -> list[dict[str, str]]:
    """The labels by which alerts of a name are told apart, the telling ones first; of a cluster what is read tells."""
    ranked: dict[int, dict[str, str]] = {}  # of files with the same groups there is one alert
    for alert in {id(alert): alert for _, alert in same}.values():
        read = {*_CLUSTER.findall(alert.expr)}
        labels = {**({"cluster": read.pop()} if len(read) == 1 else {}), **alert.labels}
        ranked[id(alert)] = {name: labels[name] for name in sorted(labels, key=_rank)}
    return [{name: file.filled(value) for name, value in ranked[id(alert)].items()} for file, alert in same]


def _rank(label: str) -> tuple[int, str]:
    return (_TELLING.index(label) if label in _TELLING else len(_TELLING), label)


def _telling(labels: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Of labels, those whose values are not the same everywhere."""
    names = dict.fromkeys(name for one in labels for name in one)
    varying = [name for name in names if len({one.get(name) for one in labels}) > 1]
    return [{name: one[name] for name in varying if name in one} for one in labels]


def _texts(same: Sequence[tuple[RuleFile, Alert]], told: Sequence[dict[str, str]], key: str) -> Iterator[Text]:
    """The texts of alerts with the labels that tell them apart; of files with the same groups, two stand for all."""
    forms: dict[int, list[int]] = {}
    for index, (_, alert) in enumerate(same):
        forms.setdefault(id(alert), []).append(index)
    for first, *others in forms.values():
        for indices in filter(None, ([first], others)):
            file, alert = same[indices[0]]
            yield Text(plain(file.filled(alert.annotations[key])), tuple(told[index] for index in indices))


def _meaning(texts: Sequence[Text]) -> str:
    """What all alerts say, and what each says where they differ."""
    if len(texts) == 1:
        return f"{texts[0].text}\n"
    shared = common(texts)
    lines = []
    for (label, values), one in list(zip(apart(texts), texts, strict=True))[:_LISTED]:
        more = f" and {len(values) - _NAMED} more" if len(values) > _NAMED else ""
        who = f"{label} {', '.join(values[:_NAMED])}{more}: " if label else ""
        lines.append(f"- {who}{one.text}\n")
    rest = f"- and {len(texts) - _LISTED} more, in `rules/`\n" if len(texts) > _LISTED else ""
    return (f"{shared}\n\n" if shared else "") + "".join(lines) + rest


def plain(text: str) -> str:
    """A text of an alert as a page shows it: the names of labels stand for their values."""
    return _OTHER.sub(_named, _ACTION.sub(r"`\1`", _CONDITION.sub("", text)))


def _named(action: re.Match[str]) -> str:
    """What another action shows: the first label, or the value, that it names."""
    found = _SHOWS.search(action[0])
    return f"`{found[1]}`" if found else ""


def _facts(name: str, alerts: list[dict[str, str]]) -> Iterator[str]:
    for label in _FACTS:
        values = dict.fromkeys(labels[label] for labels in alerts if label in labels)
        yield f"- {label.title()}: {', '.join(values)}\n"
    kind = signal_kinds().get(alerts[0].get("signal", ""))
    if kind is not None:
        yield f"- Signal: `{kind.id}`, {kind.meaning}\n"
    for limit in (limit for limit in limit_kinds().values() if limit.alert == name):
        usual = f"usually {limit.usual}" if limit.usual else "without it the alert is off"
        yield f"- Limit: `limits.{limit.id}`, {limit.meaning}; {usual}. Source: {limit.source}\n"


def _read(alerts: list[Alert]) -> Iterator[str]:
    """The series that the expressions name, in the words of the catalogue."""
    words = dict.fromkeys(word for alert in alerts for word in _WORD.findall(alert.expr))
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
    for alert in alerts:
        held = f"Once this has held for {alert.hold}" if alert.hold else "As soon as this holds"
        held += f", and until {alert.keep} after it holds no more" if alert.keep else ""
        blocks.append(f"{held} ({alert.labels['severity']}):\n\n```promql\n{alert.expr}\n```\n")
    rest = count - _SHOWN
    more = f"and {rest} more of the same form, in `rules/`.\n"
    return "\n".join([*blocks, *([more] if rest > 0 else [])])

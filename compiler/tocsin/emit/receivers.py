"""Receivers as Alertmanager's sections, with what the hosted templates say in the fields that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.emit.text import Lines, scalar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.factory.owners import Channel, Setting
    from tocsin.plan.notifications import Receiver


def _said(name: str) -> str:
    return f'{{{{ template "tocsin.{name}" . }}}}'


_TITLE, _TEXT = _said("title"), _said("text")

# Kind -> the section's name, and its fields that a template fills.
_SECTIONS: dict[str, tuple[str, dict[str, Setting]]] = {
    "pagerduty": (
        "pagerduty_configs",
        {
            "description": _TITLE,
            "client": "Grafana",
            "client_url": _said("dashboard"),
            "details": {"alerts": _TEXT, "runbook": _said("runbook"), "dashboard": _said("dashboard")},
        },
    ),
    "opsgenie": ("opsgenie_configs", {"message": _TITLE, "description": _TEXT}),
    "slack": (
        "slack_configs",
        {"title": _said("slack.title"), "title_link": _said("runbook"), "text": _said("slack.text")},
    ),
    "teams": ("msteamsv2_configs", {"title": _TITLE, "text": _TEXT}),
    # Plain text: nothing in a label is markup there.
    "email": ("email_configs", {"headers": {"Subject": _TITLE}, "html": "", "text": _TEXT}),
    "telegram": ("telegram_configs", {"parse_mode": "", "message": f"{_TITLE}\n{_TEXT}"}),
    "discord": ("discord_configs", {"title": _TITLE, "message": _TEXT}),
    "jira": ("jira_configs", {"summary": _TITLE, "description": _TEXT}),
    "webhook": ("webhook_configs", {}),  # a program reads it, which is told all labels and annotations
}


def add_receiver(lines: Lines, receiver: Receiver) -> None:
    """One receiver with its channels; those of a kind are one list."""
    lines.at(receiver.origin)
    lines.add(f"- name: {scalar(receiver.name)}")
    for channel in receiver.channels:
        _channel(lines, channel, tells_end=receiver.tells_end)


def _channel(lines: Lines, channel: Channel, *, tells_end: bool) -> None:
    section, texts = _SECTIONS[channel.kind]
    lines.add(f"  {section}:")
    settings: dict[str, Setting] = {**channel.settings, **texts, "send_resolved": tells_end}
    for index, (key, value) in enumerate(settings.items()):
        _setting(lines, "  - " if index == 0 else "    ", key, value)


def _setting(lines: Lines, indent: str, key: str, value: Setting) -> None:
    if isinstance(value, dict):
        lines.add(f"{indent}{key}:")
        _settings(lines, indent.replace("-", " ") + "  ", value)
    elif isinstance(value, str):
        lines.field(indent, key, value)
    else:
        lines.add(f"{indent}{key}: {str(value).lower()}")


def _settings(lines: Lines, indent: str, values: Mapping[str, Setting]) -> None:
    for key, value in values.items():
        _setting(lines, indent, key, value)

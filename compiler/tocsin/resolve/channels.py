"""Channels: each kind of integration as Alertmanager's fields of it, where the target release has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.factory.owners import Channel
from tocsin.resolve.targets import require

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory.owners import Setting
    from tocsin.factory.servers import Targets
    from tocsin.spec.receivers import (
        Channels,
        Discord,
        Email,
        Jira,
        Opsgenie,
        PagerDuty,
        Slack,
        Teams,
        Telegram,
        Webhook,
    )

# Kind -> what the target must have for it, and how that is called in a message.
_NEEDS = {
    "teams": ("teams.webhook_url_file", "a receiver `teams`"),
    "discord": ("discord.webhook_url_file", "a receiver `discord`"),
    "telegram": ("telegram.bot_token_file", "a receiver `telegram`"),
    "jira": ("jira", "a receiver `jira`"),
}


def resolve_channels(
    channels: Channels, document: Document, path: tuple[str, ...], targets: Targets, log: Log
) -> tuple[Channel, ...]:
    """The channels below a path, in the language's order; at least one."""
    found = []
    for kind, settings in _SETTINGS.items():
        written = getattr(channels, kind, None)
        if written is None:
            continue
        if kind in _NEEDS:
            feature, what = _NEEDS[kind]
            require(feature, targets, what, document.places, (*path, kind), log)
        if kind == "email":
            _check_email(written, document, (*path, kind), log)
        found.append(Channel(kind, settings(written)))
    if channels.webhook:
        found.append(webhook(channels.webhook, document, (*path, "webhook"), targets, log))
    if not found and not document.is_broken(*path):
        what = f"`{'.'.join(path)}` names no channel: nobody would be told"
        kinds = [f"`{kind}`" for kind in type(channels).model_fields]
        log.error("OWN104", what, document.places.key(*path), f"add one of {', '.join(kinds)}")
    return tuple(found)


def webhook(written: Webhook, document: Document, path: tuple[str, ...], targets: Targets, log: Log) -> Channel:
    """A webhook as a channel: an address that is no secret, or a file that holds one."""
    if (written.url is None) == (written.url_file is None) and not document.is_broken(*path):
        hint = "`url` for an address that anyone may see, `url_file` for one that is a secret"
        log.error("OWN105", "a webhook has one of `url` and `url_file`", document.places.key(*path), hint)
    if written.url_file is not None:
        require("webhook.url_file", targets, "a webhook's `url_file`", document.places, (*path, "url_file"), log)
        return Channel("webhook", {"url_file": written.url_file})
    return Channel("webhook", {"url": written.url or ""})


def _check_email(written: Email, document: Document, path: tuple[str, ...], log: Log) -> None:
    if (written.username is None) != (written.password_file is None) and not document.is_broken(*path):
        hint = "write both for a relay that asks who sends, neither for one that does not"
        what = "a mail's `username` and `password_file` belong together"
        log.error("OWN106", what, document.places.key(*path), hint)


def _pagerduty(written: PagerDuty) -> dict[str, Setting]:
    return {"routing_key_file": written.routing_key_file}


def _opsgenie(written: Opsgenie) -> dict[str, Setting]:
    url: dict[str, Setting] = {"api_url": written.api_url} if written.api_url else {}
    return {"api_key_file": written.api_key_file, **url}


def _slack(written: Slack) -> dict[str, Setting]:
    return {"channel": written.channel, "api_url_file": written.api_url_file}


def _by_webhook(written: Teams | Discord) -> dict[str, Setting]:
    return {"webhook_url_file": written.webhook_url_file}


def _telegram(written: Telegram) -> dict[str, Setting]:
    return {"bot_token_file": written.bot_token_file, "chat_id": written.chat_id}


def _email(written: Email) -> dict[str, Setting]:
    settings: dict[str, Setting] = {"to": ", ".join(written.to), "from": written.sender, "smarthost": written.smarthost}
    if written.username and written.password_file:
        settings |= {"auth_username": written.username, "auth_password_file": written.password_file}
    return {**settings, "require_tls": written.require_tls}


def _jira(written: Jira) -> dict[str, Setting]:
    login: dict[str, Setting] = {"username": written.username, "password_file": written.token_file}
    return {
        "api_url": written.url,
        "project": written.project,
        "issue_type": written.issue_type,
        "http_config": {"basic_auth": login},
    }


_SETTINGS: dict[str, Callable[..., dict[str, Setting]]] = {
    "pagerduty": _pagerduty,
    "opsgenie": _opsgenie,
    "slack": _slack,
    "teams": _by_webhook,
    "email": _email,
    "telegram": _telegram,
    "discord": _by_webhook,
    "jira": _jira,
}

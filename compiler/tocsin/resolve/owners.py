"""Owners, their channels, and the layers that they own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.diagnostics import near
from tocsin.factory import LAYERS, Channel, Owner
from tocsin.resolve.targets import require

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Targets
    from tocsin.spec.owners import Channels, Webhook


def resolve_owners(document: Document, targets: Targets, log: Log) -> dict[str, Owner]:
    """The owners by name; each has at least one channel for pages and one for tickets."""
    owners = {}
    for name, owner in sorted(document.spec.owners.items()):
        page, ticket = (
            _channels(getattr(owner, path), document, ("owners", name, path), targets, log)
            for path in ("page", "ticket")
        )
        runbooks = owner.runbooks.rstrip("/") + "/"
        owners[name] = Owner(name, page, ticket, runbooks, document.places.key("owners", name))
    if not owners and not document.is_broken("owners"):
        log.error("OWN103", "this factory has no owners", document.places.key("owners"), "name at least one team")
    return owners


def _channels(
    channels: Channels, document: Document, path: tuple[str, ...], targets: Targets, log: Log
) -> tuple[Channel, ...]:
    found = []
    if channels.pagerduty:
        found.append(Channel("pagerduty", {"routing_key_file": channels.pagerduty.routing_key_file}))
    if channels.slack:
        slack = channels.slack
        found.append(Channel("slack", {"channel": slack.channel, "api_url_file": slack.api_url_file}))
    if channels.webhook:
        found.append(webhook(channels.webhook, document, (*path, "webhook"), targets, log))
    if not found and not document.is_broken(*path):
        what = f"`{'.'.join(path)}` names no channel: nobody would be told"
        log.error("OWN104", what, document.places.key(*path), "add `pagerduty`, `slack` or `webhook`")
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


def known_owner(document: Document, owners: dict[str, Owner], name: str, path: tuple[str, ...], log: Log) -> bool:
    """Whether an owner exists; an unknown one is told, unless it could not be read, or the lack of owners is told."""
    if name in owners:
        return True
    written = document.places.names("owners")
    if written and not document.is_broken("owners", name) and not document.is_broken(*path):
        close = near(name, written)
        hint = f"did you mean '{close}'?" if close else f"known owners: {', '.join(written[:12])}"
        log.error("OWN101", f"nobody called '{name}' is among the owners", document.places.value(*path), hint)
    return False


def resolve_layers(document: Document, owners: dict[str, Owner], log: Log) -> dict[str, str]:
    """The owner of each of the five layers. None has a default: guessing who repairs the fabric is how nobody does."""
    layers = {}
    for layer in LAYERS:
        name = document.spec.layers.get(layer)  # type: ignore[call-overload]
        if name is None:
            if not document.is_broken("layers", layer):
                hint = f"write who repairs it: `{layer}: team`"
                place = document.places.key("layers")
                log.error("OWN102", f"the layer `{layer}` has no owner", place, hint)
        elif known_owner(document, owners, name, ("layers", layer), log):
            layers[layer] = name
    return layers

"""Owners, who follows where their pages do not end, the layers that they own, and when they are not disturbed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import hours
from tocsin.diagnostics import near
from tocsin.factory.owners import LAYERS, Maintenance, Owner, Step
from tocsin.resolve.channels import resolve_channels

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory.servers import Targets


def resolve_owners(document: Document, targets: Targets, log: Log) -> dict[str, Owner]:
    """The owners by name; each has at least one channel for pages and one for tickets."""
    owners = {}
    for name, owner in sorted(document.spec.owners.items()):
        page, ticket = (
            resolve_channels(getattr(owner, path), document, ("owners", name, path), targets, log)
            for path in ("page", "ticket")
        )
        runbooks = owner.runbooks.rstrip("/") + "/"
        windows = tuple(window for text in owner.hours for window in hours.parse(text))
        owners[name] = Owner(name, page, ticket, runbooks, document.places.key("owners", name), windows)
    if not owners and not document.is_broken("owners"):
        log.error("OWN103", "this factory has no owners", document.places.key("owners"), "name at least one team")
    return {
        name: owner._replace(escalation=_escalation(owner, document, owners, log)) for name, owner in owners.items()
    }


def _escalation(owner: Owner, document: Document, owners: dict[str, Owner], log: Log) -> tuple[Step, ...]:
    """Who is told later, in their order; an owner who is unknown is told and left out."""
    steps: list[Step] = []
    for index, step in enumerate(document.spec.owners[owner.name].escalation):
        path = ("owners", owner.name, "escalation", index)
        place = document.places.value(*path, "to")
        if not known_owner(document, owners, step.to, (*path, "to"), log):
            continue
        if step.to == owner.name or step.to in (other.to for other in steps):
            what = f"the pages of '{owner.name}' reach '{step.to}' already"
            log.error("OWN120", what, place, "name an owner who is not told by then")
        if steps and step.after <= steps[-1].after:
            what = f"this step comes after {step.after}, the one before it after {steps[-1].after}"
            log.error("OWN121", what, document.places.value(*path, "after"), "write the steps in their order")
        steps.append(Step(step.after, step.to, place))
    return tuple(steps)


def resolve_maintenance(document: Document, owners: dict[str, Owner], log: Log) -> dict[str, Maintenance]:
    """The maintenance windows by name."""
    found = {}
    for name, written in sorted(document.spec.maintenance.items()):
        path = ("maintenance", name)
        theirs = [
            owner
            for index, owner in enumerate(written.owners)
            if known_owner(document, owners, owner, (*path, "owners", index), log)
        ]
        windows = tuple(window for text in written.when for window in hours.parse(text))
        mutes = ("page", "ticket") if written.mute == "all" else (written.mute,)
        found[name] = Maintenance(name, windows, tuple(theirs), mutes, document.places.key(*path))
    return found


def known_owner(document: Document, owners: dict[str, Owner], name: str, path: Path, log: Log) -> bool:
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

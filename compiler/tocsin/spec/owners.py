"""`owners`: the teams, how each is paged and ticketed, when, and who is told when a page does not end."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from tocsin.spec.receivers import Channels, TicketChannels
from tocsin.spec.scalars import Name, Patience, Section, Url, Windows


class Step(Section):
    """Who is paged as well when a page still fires so long after it began."""

    after: Patience
    to: Name


Steps = Annotated[list[Step], BeforeValidator(lambda value: [value] if isinstance(value, dict) else value)]


class Owner(Section):
    """A team: `page` wakes someone, `ticket` waits for the morning, `runbooks` is where its alerts' pages are.

    `hours` are those in which tickets are told; without them they are told at any hour.
    """

    page: Channels
    ticket: TicketChannels
    runbooks: Url
    hours: Windows = ()
    escalation: Steps = Field(default=[])

"""`maintenance`: times in which somebody works on the fleet, and who is not told of what that causes."""

from typing import Literal

from pydantic import Field

from tocsin.spec.scalars import Name, Section, Windows


class Maintenance(Section):
    """`mute` is what the owners are not told meanwhile: their tickets, their pages, or all."""

    when: Windows
    owners: list[Name] = Field(min_length=1)
    mute: Literal["ticket", "page", "all"]

"""`mixins` and `dashboards`: rules and dashboards that others wrote, or a team, in files beside the spec."""

from typing import Annotated, Any, Literal

from pydantic import Field

from tocsin.spec.scalars import Name, Read, Section, Text, word
from tocsin.spec.signals import Layer

Severity = Literal["page", "ticket", "info"]
Folder = Annotated[
    str,
    Read(
        word(
            r"[A-Za-z0-9](?:[ _-]?[A-Za-z0-9]){0,39}",
            "SPC103",
            "the title of a folder",
            "letters and digits, with a space, `-` or `_` between them",
        )
    ),
]


class MixinAlert(Section):
    """What is said otherwise of one alert of a mixin."""

    owner: Name | None = None
    severity: Severity | None = None


class Mixin(Section):
    """A monitoring mixin in Jsonnet, as the community writes them.

    `config` is put over its `_config`; `severities` says what its own are here; `without` names what is left out of it.
    """

    path: Text
    owner: Name | None = None
    layer: Layer | None = None
    folder: Folder = "Mixins"
    config: dict[Text, Any] = Field(default={})
    severities: dict[Text, Severity] = Field(default={})
    alerts: dict[Text, MixinAlert] = Field(default={})
    without: list[Text] = Field(default=[])


class OwnDashboard(Section):
    """A dashboard of a team's own: Jsonnet, or the JSON that its generator wrote."""

    path: Text
    owner: Name
    folder: Folder | None = None

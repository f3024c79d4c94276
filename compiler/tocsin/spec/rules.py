"""`alerts` and `records`: rules of the spec's own, beside those that tocsin makes."""

from typing import Annotated, Literal

from pydantic import Field

from tocsin import units
from tocsin.spec.scalars import Amount, Duration, LabelName, Name, Read, Section, SignalId, Text, word
from tocsin.spec.signals import Layer

AlertName = Annotated[
    str,
    Read(word(r"[A-Z][A-Za-z0-9]{0,99}", "ALR101", "the name of an alert", "letters and digits, a capital first")),
]
RecordName = Annotated[
    str,
    Read(
        word(
            r"(?!.{201})[a-z][a-zA-Z0-9_]*:[a-zA-Z0-9_]+(?::[a-zA-Z0-9_]+)*",
            "ALR101",
            "the name of a recorded series",
            "its level, metric and operation with `:` between, as in gpu:temp:max",
        )
    ),
]


class Firing(Section):
    """One alert that fires: the labels of its expression, and its value where a text shows it."""

    labels: dict[LabelName, Text] = Field(default={})
    value: Amount | None = None


class Expectation(Section):
    """How often an alert fires at some time; not at all where `firing` is left out."""

    at: Duration
    firing: list[Firing] = Field(default=[])


class RuleTest(Section):
    """A world and what an alert does in it: `series` in promtool's notation, one value an `interval`."""

    story: Text
    interval: Duration = units.Duration.of(minutes=1)
    series: dict[Text, Text] = Field(default={})
    expect: list[Expectation] = Field(min_length=1)


class AlertRule(Section):
    """An alert of a team's own. Its layer follows from what it reads, or is said."""

    owner: Name
    severity: Literal["page", "ticket", "info"]
    expr: Text
    hold: Duration | None = Field(default=None, alias="for")
    summary: Text
    description: Text
    signal: SignalId | None = None
    layer: Layer | None = None
    tests: list[RuleTest] = Field(default=[])


class RecordRule(Section):
    """A series of a team's own. Layer and owner follow from what it reads, or are said."""

    expr: Text
    owner: Name | None = None
    layer: Layer | None = None

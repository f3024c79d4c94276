"""`signals`: what must be measured, and what the spec adds to the catalogue."""

from typing import Literal

from pydantic import Field

from tocsin.spec.scalars import Bound, LabelName, MetricName, Name, Section, SignalId, Text

Layer = Literal["silicon", "fabric", "runtime", "application", "facility"]


class SignalDefinition(Section):
    """A metric that no catalogue knows: the application's own.

    A histogram is named without `_bucket`; `buckets` are its bounds, which an SLO about it needs.
    """

    metric: MetricName
    type: Literal["counter", "gauge", "histogram"]
    unit: Text
    layer: Layer
    job: Name
    labels: list[LabelName] = Field(default=[])
    buckets: list[Bound] | None = Field(default=None, min_length=1, max_length=500)
    owner: Name | None = None
    sensitivity: Literal["open", "restricted"] = "open"


class Signals(Section):
    """`mandatory` names what must be there, `collect` what else is wanted of the catalogue, `define` adds own ones."""

    mandatory: list[SignalId] = Field(min_length=1)
    collect: list[SignalId] = Field(default=[])
    define: dict[SignalId, SignalDefinition] = Field(default={})

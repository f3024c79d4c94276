"""`labels`: the schema. A label that is not here does not exist after ingest."""

from typing import Literal

from pydantic import Field

from tocsin.spec.scalars import Section, Text


class LabelRule(Section):
    """What a label's values look like: a closed list, a pattern, the spec's tenants, or anything (all left out).

    `max_values` is how many there may be at a time in a cluster, where no list says it.
    """

    values: list[Text] | None = None
    pattern: Text | None = None
    source: Literal["tenants"] | None = Field(default=None, alias="from")
    max_values: int | None = Field(default=None, ge=1, le=10_000_000)

"""`labels`: the schema. A label that is not here does not exist after ingest."""

from typing import Literal

from pydantic import Field

from tocsin.spec.scalars import Section, Text


class LabelRule(Section):
    """What a label's values look like: a closed list, a pattern, the spec's tenants, or anything (all left out)."""

    values: list[Text] | None = None
    pattern: Text | None = None
    source: Literal["tenants"] | None = Field(default=None, alias="from")

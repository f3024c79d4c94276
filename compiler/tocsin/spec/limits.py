"""`limits`: values of alerts where a site differs from what is usual, and those that only the site knows. `xid`."""

from pydantic import Field

from tocsin.spec.scalars import Section


class Xid(Section):
    """Codes of XIDs that page, or are ticketed, whatever the catalogue says of them."""

    page: list[int] = Field(default=[])
    ticket: list[int] = Field(default=[])

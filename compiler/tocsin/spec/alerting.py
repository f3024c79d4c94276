"""`alerting`: where alerts go when nothing else is said, and who notices when none can go anywhere."""

from pydantic import Field

from tocsin.spec.receivers import Webhook
from tocsin.spec.scalars import Address, Name, Pace, Section
from tocsin.units import Duration as Length


class Heartbeat(Section):
    """The dead man's switch: an outside service that raises the alarm when this stops calling."""

    webhook: Webhook
    every: Pace = Length.of(minutes=5)


class Alerting(Section):
    """`fallback` is the owner who is ticketed for alerts that tocsin did not write."""

    alertmanagers: list[Address] = Field(min_length=1)
    fallback: Name
    heartbeat: Heartbeat

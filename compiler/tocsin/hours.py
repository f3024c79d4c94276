"""Times that return: `Mon-Fri 08:00-18:00 Europe/Berlin`, or one night, `2026-12-24 22:00-06:00 UTC`."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MIDNIGHT = 24 * 60
_SHORT = {day[:3].title(): number for number, day in enumerate(DAYS)}
_WRITTEN = re.compile(
    r"(?P<days>[A-Za-z0-9,-]+) +(?P<start>[0-2][0-9]:[0-5][0-9])-(?P<end>[0-2][0-9]:[0-5][0-9]) +"
    r"(?P<zone>UTC|[A-Z][A-Za-z_]+(?:/[A-Za-z0-9_+-]+){1,2})"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Window(NamedTuple):
    """A part of a day: minutes from `start` up to `end`, on `days` of the week (Monday is 0) or on one date.

    `zone` is a name of the IANA time zone database, whose clocks are meant.
    """

    days: tuple[int, ...]
    on: date | None
    start: int
    end: int
    zone: str

    def holds(self, at: datetime) -> bool:
        """Whether a moment, which knows its own zone, lies in the window."""
        from zoneinfo import ZoneInfo  # only simulations ask

        here = at.astimezone(ZoneInfo(self.zone))
        is_day = here.date() == self.on if self.on else here.weekday() in self.days
        return is_day and self.start <= here.hour * 60 + here.minute < self.end


def parse(text: str) -> tuple[Window, ...]:
    """The windows of a text: two where it goes past midnight. ValueError, with the reason, where it is none."""
    found = _WRITTEN.fullmatch(text.strip())
    if not found:
        raise ValueError("it is not days, times and a zone")
    start, end = _minutes(found["start"]), _minutes(found["end"])
    if start in (end, MIDNIGHT):
        raise ValueError("it has no length: a whole day is 00:00-24:00")
    days: tuple[int, ...] = ()
    on = None
    if _DATE.fullmatch(found["days"]):
        on = _date(found["days"])
    else:
        days = _days(found["days"])
    zone = found["zone"]
    if start < end:
        return (Window(days, on, start, end, zone),)
    evening = Window(days, on, start, MIDNIGHT, zone)
    if end == 0:
        return (evening,)
    after = tuple(sorted((day + 1) % 7 for day in days))
    return evening, Window(after, on + timedelta(days=1) if on else None, 0, end, zone)


def is_zone(name: str) -> bool:
    """Whether the zone is known; where the machine knows none at all, every name is believed."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return not zones()
    return True


def zones() -> list[str]:
    """The names of all zones that the machine knows."""
    from zoneinfo import available_timezones

    return sorted(available_timezones())


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"there is no {text}") from None


def _minutes(text: str) -> int:
    hour, minute = map(int, text.split(":"))
    total = hour * 60 + minute
    if total > MIDNIGHT:
        raise ValueError(f"there is no {text} on a day")
    return total


def _days(text: str) -> tuple[int, ...]:
    """`Mon-Wed,Sat` as numbers; `daily` is all of them, and a range may go past Sunday."""
    if text == "daily":
        return tuple(range(7))
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if first not in _SHORT or (dash and last not in _SHORT):
            raise ValueError("days are Mon, Tue, Wed, Thu, Fri, Sat, Sun, `daily`, or a date such as 2026-12-24")
        begin, end = _SHORT[first], _SHORT[last or first]
        found |= {day % 7 for day in range(begin, end + 1 + (7 if end < begin else 0))}
    return tuple(sorted(found))

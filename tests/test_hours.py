"""Windows of time: what is read, what is refused, and when a window holds, by clocks that are set twice a year."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin import hours
from tocsin.hours import DAYS, Window, parse

BERLIN = "Europe/Berlin"
WEEK = (0, 1, 2, 3, 4)

READ = {
    "Mon-Fri 08:00-18:00 Europe/Berlin": [Window(WEEK, None, 480, 1080, BERLIN)],
    "Sat,Sun 00:00-24:00 UTC": [Window((5, 6), None, 0, 1440, "UTC")],
    "daily 12:30-12:31 UTC": [Window((0, 1, 2, 3, 4, 5, 6), None, 750, 751, "UTC")],
    "Sat-Mon,Wed 01:00-02:00 UTC": [Window((0, 2, 5, 6), None, 60, 120, "UTC")],
    "Sun 22:00-04:00 UTC": [Window((6,), None, 1320, 1440, "UTC"), Window((0,), None, 0, 240, "UTC")],
    "Sun 22:00-00:00 UTC": [Window((6,), None, 1320, 1440, "UTC")],
    "2026-12-31 22:00-04:00 UTC": [
        Window((), date(2026, 12, 31), 1320, 1440, "UTC"),
        Window((), date(2027, 1, 1), 0, 240, "UTC"),
    ],
    " Mon  08:00-09:00  America/Argentina/Ushuaia ": [Window((0,), None, 480, 540, "America/Argentina/Ushuaia")],
}


@pytest.mark.parametrize("text", READ)
def test_a_window_is_read(text: str) -> None:
    assert list(parse(text)) == READ[text]


@pytest.mark.parametrize(
    "text",
    """
    |Mon|Mon 08:00-18:00|Mon 8:00-18:00 UTC|Mon 08:00-24:01 UTC|Mon 24:00-08:00 UTC|Mon 08:00-08:00 UTC
    |Mo 08:00-18:00 UTC|Mon- 08:00-18:00 UTC|Mon-Fri-Sun 08:00-18:00 UTC|mon 08:00-18:00 UTC|Mon,,Tue 08:00-18:00 UTC
    |2026-13-01 08:00-18:00 UTC|2026-02-29 08:00-18:00 UTC|Mon 08:00-18:00 ../etc/passwd|Mon 08:00-18:00 CET/
    |Mon 08:60-18:00 UTC|Mon 29:00-18:00 UTC|{{ . }} 08:00-18:00 UTC
    """.replace("\n", "").split("|"),
)
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "at", "holds"),
    [
        ("Mon-Fri 08:00-18:00 Europe/Berlin", "2026-07-06T06:00", True),  # a Monday in summer, two hours ahead
        ("Mon-Fri 08:00-18:00 Europe/Berlin", "2026-07-06T05:59", False),
        ("Mon-Fri 08:00-18:00 Europe/Berlin", "2026-01-05T06:30", False),  # in winter one hour
        ("Mon-Fri 08:00-18:00 Europe/Berlin", "2026-01-05T17:00", False),  # the end does not belong to it
        ("Sun 22:00-04:00 America/New_York", "2026-07-06T07:59", True),  # Monday in London, Monday in New York
        ("Sun 22:00-04:00 America/New_York", "2026-07-06T08:00", False),
        ("2026-12-31 22:00-04:00 UTC", "2027-01-01T03:59", True),
        ("2026-12-31 22:00-04:00 UTC", "2027-12-31T23:00", False),
        ("Sun 02:00-03:00 Europe/Berlin", "2026-03-29T01:30", False),  # the hour that is left out in spring
        ("Sun 02:00-03:00 Europe/Berlin", "2026-10-25T00:30", True),  # and comes twice in autumn
        ("Sun 02:00-03:00 Europe/Berlin", "2026-10-25T01:30", True),
    ],
)
def test_a_window_holds_by_its_own_clocks(text: str, at: str, holds: bool) -> None:
    assert any(window.holds(datetime.fromisoformat(at).replace(tzinfo=UTC)) for window in parse(text)) is holds


@given(
    st.sets(st.sampled_from(range(7)), min_size=1),
    st.integers(0, 1439),
    st.integers(0, 1440),
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),
)
def test_a_window_is_as_long_as_it_is_written(days: set[int], start: int, end: int, at: datetime) -> None:
    """Counted from its start: the minute of the week lies in a window that began on one of its days."""
    if start == end:
        return
    named = ",".join(DAYS[day][:3].title() for day in days)
    text = f"{named} {start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02} UTC"
    length = timedelta(minutes=(end - start) % 1440 or 1440)
    moment = at.replace(second=0, microsecond=0)
    begins = [
        datetime(day.year, day.month, day.day) + timedelta(minutes=start)
        for day in (moment, moment - timedelta(days=1))
        if day.weekday() in days
    ]
    inside = any(begin <= moment < begin + length for begin in begins)
    assert any(window.holds(moment.replace(tzinfo=UTC)) for window in parse(text)) is inside


def test_zones_are_those_of_the_database() -> None:
    assert hours.is_zone("Asia/Kolkata")
    assert not hours.is_zone("Europe/Berln")
    assert ZoneInfo(BERLIN).key in hours.zones()

"""The pace of a scrape that somebody asks for who does not write the spec: never faster than the spec says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOWEST = Duration.of(minutes=2)  # as the language's own intervals: rules look back five minutes, for two samples


def slower(interval: Duration) -> str:
    """A regular expression of the whole seconds, or minutes, from an interval to the slowest; empty where none is."""
    least, most = -(-interval // 1000), SLOWEST // 1000
    if least > most:
        return ""
    minutes = [f"{minute}m" for minute in range(1, most // 60 + 1) if minute * 60 >= least]
    return "|".join([f"(?:{'|'.join(_numbers(least, most))})s", *minutes])


def _numbers(least: int, most: int) -> Iterator[str]:
    """Every whole number of a range, ten by ten."""
    for tens in range(least // 10, most // 10 + 1):
        low, high = max(least - 10 * tens, 0), min(most - 10 * tens, 9)
        yield f"{tens or ''}{f'[{low}-{high}]' if low < high else low}"

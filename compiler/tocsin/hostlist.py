"""Ranges of names as Slurm writes them: `gpu-node-[01-64,70]` and the hosts that it stands for."""

from __future__ import annotations

import re

MAX_HOSTS = 200_000  # of one range; more is a slip of the hand, not a fleet
MAX_NAMES = 500_000  # of all ranges of a spec; each job names its hosts again
_TOO_MANY = f"the ranges of this spec stand for more than {MAX_NAMES} hosts"
_RANGE = re.compile(r"([^\[\]]*)\[([^\[\]]*)\]([^\[\]]*)")
_PART = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")


def expand(text: str, most: int = MAX_NAMES) -> tuple[str, ...]:
    """The hosts of a range in its order; ValueError with a sentence that says what is wrong.

    One bracket is understood; the width of the numbers is kept: `[08-10]` is 08, 09, 10. `most` is what is
    left of MAX_NAMES.
    """
    found = _RANGE.fullmatch(text)
    if not found:
        if "[" in text or "]" in text:
            raise ValueError("a range of hosts has one pair of brackets")
        if not most:
            raise ValueError(_TOO_MANY)
        return (_checked(text),)
    before, body, after = found.groups()
    hosts: list[str] = []
    for part in body.split(","):
        bounds = _PART.fullmatch(part.strip())
        if not bounds:
            raise ValueError(f"'{part.strip()[:60]}' is neither a number nor a range of numbers")
        first, last = int(bounds[1]), int(bounds[2] or bounds[1])
        _check_widths(bounds[1], bounds[2] or bounds[1])
        if last < first:
            raise ValueError(f"the range {part} runs backwards")
        if len(hosts) + last - first >= MAX_HOSTS:
            raise ValueError(f"this range stands for more than {MAX_HOSTS} hosts")
        if len(hosts) + last - first >= most:
            raise ValueError(_TOO_MANY)
        hosts += [_checked(f"{before}{n:0{len(bounds[1])}d}{after}") for n in range(first, last + 1)]
    return tuple(hosts)


def _check_widths(first: str, last: str) -> None:
    """Whether `[01-6]` is 01 to 06 or a slip cannot be known, so it is refused."""
    width = max(len(first), len(last))
    is_padded = any(len(number) > 1 and number.startswith("0") for number in (first, last))
    if is_padded and len(first) != len(last):
        raise ValueError(f"`{first}` and `{last}` differ in width: write `[{first:0>{width}}-{last:0>{width}}]`")


def _checked(host: str) -> str:
    if not _NAME.fullmatch(host):
        raise ValueError(f"'{host[:60]}' is not a name: letters, digits, `.`, `_` and `-`")
    return host

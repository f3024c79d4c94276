"""Ranges of names as Slurm writes them: `gpu-node-[01-64,70]` and the hosts that it stands for."""

from __future__ import annotations

import re

MAX_HOSTS = 200_000  # one spec's hosts; more is a slip of the hand, not a fleet
_RANGE = re.compile(r"([^\[\]]*)\[([^\[\]]*)\]([^\[\]]*)")
_PART = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")


def expand(text: str) -> tuple[str, ...]:
    """The hosts of a range in its order; ValueError with a sentence that says what is wrong.

    One bracket is understood; the width of the first number is kept: `[08-10]` is 08, 09, 10.
    """
    found = _RANGE.fullmatch(text)
    if not found:
        if "[" in text or "]" in text:
            raise ValueError("a range of hosts has one pair of brackets")
        return (_checked(text),)
    before, body, after = found.groups()
    hosts: list[str] = []
    for part in body.split(","):
        bounds = _PART.fullmatch(part.strip())
        if not bounds:
            raise ValueError(f"'{part.strip()[:60]}' is neither a number nor a range of numbers")
        first, last = int(bounds[1]), int(bounds[2] or bounds[1])
        if last < first:
            raise ValueError(f"the range {part} runs backwards")
        if len(hosts) + last - first >= MAX_HOSTS:
            raise ValueError(f"this range stands for more than {MAX_HOSTS} hosts")
        hosts += [_checked(f"{before}{n:0{len(bounds[1])}d}{after}") for n in range(first, last + 1)]
    return tuple(hosts)


def _checked(host: str) -> str:
    if not _NAME.fullmatch(host):
        raise ValueError(f"'{host[:60]}' is not a name: letters, digits, `.`, `_` and `-`")
    return host

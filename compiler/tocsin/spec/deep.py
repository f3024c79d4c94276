"""`collection.deep`: what costs too much to be measured all the time, and where it is measured nevertheless."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field

from tocsin.spec.scalars import Interval, Read, Section, SignalId, kind, refuse


def _folder(value: Any) -> str:
    """An absolute path as Prometheus and a shell find it: without patterns, steps upwards or hidden characters."""
    lawful = r"(?:/(?!\.{1,2}(?:/|$))[ -)+-.0->@-Z^-~]{1,100}){1,20}"
    if not isinstance(value, str) or not re.fullmatch(lawful, value):
        hint = "write an absolute path without `*`, `?`, `[`, `]`, a backslash or `..`, as in /srv/tocsin/targets"
        raise refuse("DEP105", f"{kind(value)} is not a folder on the nodes", hint)
    return value


Folder = Annotated[str, Read(_folder)]


class Deep(Section):
    """Deep signals, scraped only on nodes with an active job.

    `signals` are by default all that need the profiling module and are not mandatory. `interval` is by default that of
    training, `refresh` (how often the exporter reads its boards) the same. `port` is that of the exporter that has
    them. `targets` is a folder that Prometheus and the nodes share, `jobs` is dcgm-exporter's job mapping on each node.
    """

    only: Literal["active_jobs"]
    signals: list[SignalId] | None = Field(default=None, min_length=1)
    interval: Interval | None = None
    refresh: Interval | None = None
    port: int = Field(default=9401, ge=1, le=65535)
    targets: Folder = "/srv/tocsin/targets"
    jobs: Folder = "/run/dcgm-exporter/jobs"

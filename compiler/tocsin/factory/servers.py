"""The servers that watch a factory: how the load is spread over them, and in which versions they run."""

from fractions import Fraction
from typing import NamedTuple

from tocsin.source import Span
from tocsin.versions import Version


class Servers(NamedTuple):
    """How each cluster's load is spread. `shards` is None where it follows from `max_series`.

    `levels` are the levels of federation above the clusters; `address` has `{server}` and `{cluster}` in it.
    """

    shards: int | None
    max_series: Fraction | None
    replicas: int
    levels: tuple[str, ...]
    address: str
    origin: Span


class Targets(NamedTuple):
    """The versions that the output must run on; `long_term` is the kind of store, empty where there is none."""

    prometheus: Version
    alertmanager: Version
    grafana: Version
    dcgm_exporter: Version
    long_term: str = ""

"""What programs beside Prometheus and Alertmanager are started with."""

from typing import NamedTuple

from tocsin.catalog.kinds import Metric
from tocsin.source import Span
from tocsin.units import Duration


class CounterFile(NamedTuple):
    """The dcgm-exporter fields of a node group, to be refreshed every `interval`; `flags` are further start flags."""

    path: str
    metrics: tuple[Metric, ...]
    interval: Duration
    origin: Span
    flags: tuple[str, ...] = ()


class JobHooks(NamedTuple):
    """What a cluster's scheduler runs where a job starts and ends on a node.

    The scripts keep the node a target of `port` in the folder `targets`, and its jobs in the folder `jobs`.
    """

    cluster: str
    port: int
    targets: str
    jobs: str
    origin: Span


class ArgumentFile(NamedTuple):
    """Arguments that a program is started with, beside those of its place (paths, addresses)."""

    path: str
    note: str
    arguments: tuple[str, ...]
    origin: Span


class SettingsFile(NamedTuple):
    """Settings of a program: `settings` is a tree of mappings, lists, texts, numbers and truth values."""

    path: str
    note: str
    settings: object
    origin: Span

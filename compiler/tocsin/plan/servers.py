"""The Prometheus servers of a plan: what each scrapes, keeps and writes to others."""

from typing import NamedTuple

from tocsin.capacity import Size
from tocsin.source import Span
from tocsin.units import Duration


class Relabel(NamedTuple):
    """One relabelling step; `source` labels joined by `;` are matched by `regex`. An empty `target` drops or keeps.

    With a `modulus` their hash goes to the target, modulo that.
    """

    action: str = "replace"
    source: tuple[str, ...] = ()
    regex: str = ""
    target: str = ""
    replacement: str = "$1"
    modulus: int = 0


class Target(NamedTuple):
    """One endpoint and the labels that its series will carry."""

    address: str
    labels: tuple[tuple[str, str], ...]


class Limits(NamedTuple):
    """Of a job: samples of a scrape, `body` MiB of its page, targets, and of a series its labels and their lengths."""

    samples: int
    body: int
    targets: int
    labels: int
    name_length: int
    value_length: int


class Discovery(NamedTuple):
    """Who tells a job's targets: `kind` is kubernetes, consul, dns or http, `settings` are Prometheus' own fields."""

    kind: str
    settings: dict[str, object]


class ScrapeJob(NamedTuple):
    """One job of a server. `targets_file` holds its targets; empty where they stand in the configuration itself.

    Where there is a `discovery` it tells the targets, and `target_relabel` makes them what ours would be; `targets` are
    those that the spec expects, as far as it knows, and stand nowhere. `watched` is the absolute pattern of target
    files that somebody else writes and removes. `select` leaves the targets that are this server's. With `matches` the
    targets are servers, which are asked for the series of these names. A scrape may take `timeout`, or the interval
    where that is shorter. `histograms` are the settings by which it is asked for native ones, each true.
    """

    name: str
    interval: Duration
    targets: tuple[Target, ...]
    targets_file: str
    relabel: tuple[Relabel, ...]
    origin: Span
    limits: Limits | None = None
    discovery: Discovery | None = None
    target_relabel: tuple[Relabel, ...] = ()
    watched: str = ""
    select: tuple[Relabel, ...] = ()
    matches: tuple[str, ...] = ()
    timeout: Duration = Duration.of(seconds=10)  # Prometheus' default
    histograms: tuple[str, ...] = ()

    @property
    def scrape_timeout(self) -> Duration:
        """How long a scrape may take: Prometheus refuses a timeout above the interval."""
        return min(self.interval, self.timeout)


class RemoteWrite(NamedTuple):
    """A store that a server writes to, and which series. Empty credentials and a queue limit of None are left out.

    `native` is whether native histograms are among them.
    """

    name: str
    url: str
    tenant: str
    token_file: str
    username: str
    password_file: str
    max_shards: int | None
    max_age: Duration | None
    relabel: tuple[Relabel, ...]
    origin: Span
    native: bool = False


class Kept(NamedTuple):
    """How long, and up to which size, a server keeps what it has; an empty `size` is no limit."""

    time: Duration
    size: str


class Server(NamedTuple):
    """One Prometheus: its file, its identity, its jobs and whom it tells. Paths are relative to the output folder.

    `silent_labels` are those external labels that no alert carries, so that those of two servers are one. `size` is
    what it is predicted to hold. `kept` is what its file says of retention: nothing where flags say it.
    """

    path: str
    interval: Duration
    external_labels: tuple[tuple[str, str], ...]
    rule_files: tuple[str, ...]
    alertmanagers: tuple[str, ...]
    jobs: tuple[ScrapeJob, ...]
    origin: Span
    silent_labels: tuple[str, ...]
    size: Size
    remote_writes: tuple[RemoteWrite, ...] = ()
    kept: Kept | None = None

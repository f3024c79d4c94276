"""How long what is kept, and where."""

from typing import NamedTuple

from tocsin.source import Span
from tocsin.units import Duration


class Store(NamedTuple):
    """Where a tier's series are written to. Credentials are files; `max_shards` and `max_age` limit the queue."""

    url: str
    tenant: str
    enterprise: bool
    token_file: str
    username: str
    password_file: str
    max_shards: int | None
    max_age: Duration | None


class Tier(NamedTuple):
    """A retention tier. `series` is all, recorded, signals or restricted; `metrics` the series names of the last two.

    Without a `store` it is what the servers themselves keep, or what a Thanos sidecar uploads of it.
    """

    name: str
    resolution: str
    keep: Duration
    size: str
    series: str
    metrics: tuple[str, ...]
    store: Store | None
    origin: Span


def is_local(tier: Tier) -> bool:
    """Whether a Prometheus can keep the tier on its own disk: all that it scrapes, as it scrapes it."""
    return tier.resolution == "full" and tier.series == "all" and tier.store is None


class Logs(NamedTuple):
    """How long Loki keeps lines: all of them, and those of the selector."""

    keep: Duration
    errors: Duration
    selector: str
    object_store: str
    origin: Span


class Retention(NamedTuple):
    """`hot` is what the scraping servers keep, `tiers` what is kept beyond, by length; `restricted` names series."""

    hot: Tier
    tiers: tuple[Tier, ...]
    restricted: tuple[str, ...]
    logs: Logs | None

    def of_recorded(self, period: Duration) -> Tier | None:
        """The first tier that holds the recorded series for a period."""
        holding = (tier for tier in (self.hot, *self.tiers) if tier.series in ("all", "recorded"))
        return next((tier for tier in holding if tier.keep >= period), None)

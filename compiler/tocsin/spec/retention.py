"""`retention`: what is kept how long and where, and `logs`: how long Loki keeps lines."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field

from tocsin.spec.scalars import Duration, Keep, Name, Read, SecretFile, Section, SignalId, Text, Url, kind, refuse


def _size(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[1-9][0-9]{0,5}(?:MB|GB|TB)", value):
        raise refuse("SPC104", f"{kind(value)} is not a size", "write it as 500GB or 2TB")
    return value


Size = Annotated[str, Read(_size)]


class Password(Section):
    """A user and the file of the password."""

    username: Text
    password_file: SecretFile


class Queue(Section):
    """Limits of the queue between a server and a store: senders at once, and the age at which a sample is given up."""

    max_shards: int | None = Field(default=None, ge=1, le=1000)
    max_age: Duration | None = None


class Store(Section):
    """A store beyond the server's own: `url` is the whole address that takes remote_write.

    `tenant` is Mimir's and Cortex's (X-Scope-OrgID), `edition` VictoriaMetrics'.
    """

    url: Url
    tenant: Name | None = None
    edition: Literal["community", "enterprise"] | None = None
    bearer_token_file: SecretFile | None = None
    basic_auth: Password | None = None
    queue: Queue = Queue.model_construct()


class Tier(Section):
    """A retention tier. It holds all series, or those of some `signals`, or what `series` says.

    `size` bounds the disk of a Prometheus; `resolution` is the distance of samples, `full` as scraped.
    """

    resolution: Literal["full", "5m", "1h"] = "full"
    keep: Keep
    size: Size | None = None
    signals: list[SignalId] | None = Field(default=None, min_length=1)
    series: Literal["recorded", "restricted"] | None = None
    store: Store | None = None


class Logs(Section):
    """Loki: every line is kept for `keep`, those that `selector` chooses for `errors`.

    `object_store` is where Loki keeps requests to delete: the store of its chunks.
    """

    keep: Keep
    errors: Keep
    selector: Text = '{level="error"}'
    object_store: Literal["s3", "gcs", "azure", "swift", "filesystem"]


def kept_by_servers(retention: dict[str, Tier]) -> Duration | None:
    """How long the scraping servers keep all that they have; None where that is not said."""
    local = (tier for tier in retention.values() if tier.resolution == "full" and not tier.signals and not tier.store)
    return min((tier.keep for tier in local if tier.series is None), default=None)

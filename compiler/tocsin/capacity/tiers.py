"""What a retention tier takes in and keeps, of what all clusters make."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tocsin.capacity.cost import kept, written
from tocsin.capacity.load import NOTHING, RULES, WATCHDOG_SERIES, Size, of, of_metrics
from tocsin.capacity.spread import parts
from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.retention import Tier

# thanos.io/tip/components/compact.md: of each series count, sum, min, max and the counter; others keep one value.
AGGREGATES = {"thanos": 5}


class TierLoad(NamedTuple):
    """What comes in (`size`), samples per second as they are kept, bytes of disk, bytes per second on the wire."""

    size: Size
    samples: Fraction
    disk: int
    written: int


def tier_load(factory: Factory, tier: Tier) -> TierLoad:
    """The load of a tier; replicas are counted once, as they are after deduplication.

    Disk: what is kept, for as long as the tier keeps it. Thanos makes coarser blocks of those that it was given, which
    it keeps as long as the servers keep theirs. Nothing is written where servers or their sidecars keep the tier.
    """
    size = sum((_size(factory, cluster, tier) for cluster in factory.clusters.values()), NOTHING)
    wire = written(size) if tier.store else 0
    if tier.resolution == "full":
        return TierLoad(size, size.samples, kept(size.samples, tier.keep), wire)
    values = AGGREGATES.get(factory.targets.long_term or "", 1)
    samples = Fraction(size.series * values) / Duration.parse(tier.resolution).seconds
    given = kept(size.samples, factory.retention.hot.keep) if values > 1 else 0
    return TierLoad(size, samples, kept(samples, tier.keep) + given, wire)


def _size(factory: Factory, cluster: Cluster, tier: Tier) -> Size:
    match tier.series:
        case "all":
            restricted = factory.retention.restricted if tier.store else ()  # a sidecar uploads whatever is there
            without = of_metrics(factory, cluster, _names(restricted))
            whole = of(parts(factory, cluster))
            return Size(whole.targets, whole.series - without.series, whole.samples - without.samples)
        case "recorded":
            found = of(part for part in parts(factory, cluster) if part.job == RULES)
            alert = Fraction(WATCHDOG_SERIES) / factory.interval.seconds
            return Size(0, found.series - WATCHDOG_SERIES, found.samples - alert)
    return of_metrics(factory, cluster, _names(tier.metrics))


def _names(series: tuple[str, ...]) -> frozenset[str]:
    """The names of metrics, of which histograms have series of three names."""
    return frozenset((*series, *(re.sub("_(?:bucket|count|sum)$", "", name) for name in series)))

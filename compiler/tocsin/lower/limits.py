"""What one job may bring at most: enough for the plan, and a bound on what a broken exporter can do to all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.plan import Limits

if TYPE_CHECKING:
    from tocsin.factory import Cluster, Factory

# A scrape that exceeds its limit fails as a whole, so half as much again as is expected is allowed.
HEADROOM_OVER_2 = 3
# The pages of these do not depend on the spec: node_exporter shows about 2,000 samples on a host of 200 threads, and an
# application what its framework shows.
USUAL_SAMPLES = 10_000
# A board's series come once for each job that is mapped to it: for a moment to one that ends and one that begins.
JOBS_AT_ONCE = 2
# Grafana Mimir's defaults (`max_label_names_per_series`, `max_length_label_name`, `max_length_label_value`): what is
# stored here can also be stored there.
MAX_LABELS, MAX_NAME, MAX_VALUE = 30, 1024, 2048


def limits(factory: Factory, cluster: Cluster, job: str, targets: int) -> Limits:
    """The limits of a job with so many targets."""
    samples = _boards(factory, cluster) if job == "dcgm" else USUAL_SAMPLES
    return Limits(_rounded(samples), _rounded(targets), MAX_LABELS, MAX_NAME, MAX_VALUE)


def _boards(factory: Factory, cluster: Cluster) -> int:
    """The samples of one dcgm-exporter: one of each field and board, and one more XID, which names its code as well."""
    fields = sum(metric.exporter == "dcgm" for metric in factory.metrics.values())
    return (fields + 1) * JOBS_AT_ONCE * max(group.gpus for group in cluster.groups)


def _rounded(expected: int) -> int:
    """Half as much again, at least ten more, in two significant digits: not every change of the plan changes it."""
    least = max(-(-expected * HEADROOM_OVER_2 // 2), expected + 10)
    step = 10 ** max(len(str(least)) - 2, 0)
    return int(-(-least // step) * step)

"""What one job may bring at most: enough for the plan, and a bound on what a broken exporter can do to all others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tocsin import capacity
from tocsin.catalog import DEEP_JOB, metrics_of
from tocsin.ingest import beside_nodes
from tocsin.plan.servers import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.plan.servers import ScrapeJob

# An application shows what its framework does, beside its signals; `collection.other_series` says it better.
USUAL_SAMPLES = 10_000
# What speaks for a whole cluster shows as much as the cluster has: pods, queues, switches. Nobody has told how many.
WHOLE_CLUSTER = 200_000
# A board's series come once for each job that is mapped to it: for a moment to one that ends and one that begins.
JOBS_AT_ONCE = 2
# Of a page: a line of dcgm-exporter's has 350, and a page also shows what is not kept.
SAMPLE_BYTES = 1024
# MiB. A page of half a million samples is still read, so that the limit of samples refuses it: that one tells which
# target it is and how many they are, the page's limit nothing.
LEAST_BODY = 64
# Grafana Mimir's defaults (`max_label_names_per_series`, `max_length_label_name`, `max_length_label_value`): what is
# stored here can also be stored there.
MAX_LABELS, MAX_NAME, MAX_VALUE = 30, 1024, 2048


def limited(factory: Factory, cluster: Cluster, jobs: Sequence[ScrapeJob]) -> list[ScrapeJob]:
    """The jobs of a cluster, each with its limits."""
    targets: Counter[str] = Counter()
    series: dict[str, Counter[tuple[str, ...]]] = {}
    for part in capacity.parts(factory, cluster):
        series.setdefault(part.job, Counter())[part.hosts] += part.series
        targets[part.job] += len(part.hosts) if part.counted else 0
    # Nobody knows how many targets an application has that is discovered; more than one a board would be many.
    boards = sum(group.gpus * len(group.hosts) for group in cluster.groups)
    told = {job.name: max(targets[job.name], boards if job.discovery else 0) for job in jobs}
    # An exporter that has not got its counters file yet shows other fields, perhaps all: it must not go dark for that.
    fields = len(metrics_of("dcgm")) * max(group.gpus * group.shares for group in cluster.groups)
    largest = {job.name: max(series[job.name].values()) for job in jobs}
    largest |= {job: max(largest[job], fields) * JOBS_AT_ONCE for job in ("dcgm", DEEP_JOB) if job in largest}
    return [job._replace(limits=_limits(factory, job.name, largest[job.name], told[job.name])) for job in jobs]


def _limits(factory: Factory, job: str, samples: int, targets: int) -> Limits:
    """The limits of a job with so many targets, the largest of which shows so many samples."""
    if job not in factory.other_series:
        samples = max(samples, WHOLE_CLUSTER if job in beside_nodes() else USUAL_SAMPLES)
    most = _rounded(samples)
    body = max(LEAST_BODY, -(-most * SAMPLE_BYTES // 2**20))
    return Limits(most, body, _rounded(targets), MAX_LABELS, MAX_NAME, MAX_VALUE)


def _rounded(expected: int) -> int:
    """Half as much again, at least ten more, in two significant digits: not every change of the plan changes it.

    A scrape that exceeds its limit fails as a whole: the limit is for what has gone wrong, not for growth.
    """
    least = max(-(-expected * 3 // 2), expected + 10)
    step = 10 ** max(len(str(least)) - 2, 0)
    return int(-(-least // step) * step)

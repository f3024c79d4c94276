"""A latency by a native histogram: its buckets are its own, and one series is all that there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming, versions
from tocsin.examples import labels_for
from tocsin.indicators import Latency, of_kind
from tocsin.lower import ratio
from tocsin.lower.cast import Cast, stranger
from tocsin.lower.events import Events
from tocsin.lower.proofs import series
from tocsin.units import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.plan.servers import ScrapeJob, Server
    from tocsin.units import Duration

FLAG = "--enable-feature=native-histograms"


class Texts(NamedTuple):
    """The texts of its cast: the selector, the labels of what is recorded, four series that it selects, two others.

    The new one is of another target, the stranger is not selected.
    """

    histogram: str
    place: str
    usual: str
    still: str
    born: str
    slow: str
    new: str
    stranger: str


def cast(factory: Factory, slo: Slo) -> Cast:
    """Its selector, and series that it selects."""
    histogram = of_kind(slo.indicator, Latency).histogram
    labels = labels_for([histogram], None, slo.by, factory.labels) or {}
    recorded = {**{label: labels[label] for label in slo.by}, "slo": slo.id}
    name = histogram.metric or ""
    examples = [series(name, {**labels, "example": one}, "")[0] for one in ("usual", "still", "born", "slow")]
    examples.append(series(name, {**labels, "instance": "another"}, "")[0])
    examples.append(series(*stranger(histogram, slo.by, factory.labels), "")[0])
    return Cast(slo.id, (histogram.render(), series("", recorded, "")[0], *examples))


def events(slo: Slo, cast: Cast) -> Events:
    """All events, and the share of them that lies above the threshold.

    From -Inf on: from 0 on a bucket around zero would be cut. Where there is no event the share is no number, which
    would spoil every sum that it goes into: there, none is bad.
    """
    all_, below = Texts(*cast.texts).histogram, number(of_kind(slo.indicator, Latency).below)

    def summed(window: Duration) -> str:
        increase = f"rate({all_}[{window}])"
        if window == slo.windows.unit:
            increase = f"{ratio.born(all_, all_, window)} or {increase}"
        return f"sum by ({naming.by(slo.by)}) ({increase})"

    def total(window: Duration) -> str:
        return f"histogram_count({summed(window)})"

    def errors(window: Duration) -> str:
        share = f"1 - histogram_fraction(-Inf, {below}, {summed(window)})"
        return f"{total(window)} * ({share}) > 0\nor 0 * {total(window)}"

    return ratio.with_missed(slo, all_, Events(total, errors))


def flags(factory: Factory) -> list[str]:
    """What servers are started with: until it was a matter of each job, it was one of the whole server."""
    by_job = versions.has("scrape_native_histograms", factory.targets.prometheus)
    return [FLAG] if _jobs(factory) and not by_job else []


def with_histograms(factory: Factory, servers: Iterable[Server]) -> tuple[Server, ...]:
    """Servers whose jobs ask for native histograms, and for the classic ones as well, which are dropped otherwise."""
    native = _jobs(factory)
    if not native:
        return tuple(servers)
    sends = factory.targets.long_term != "victoriametrics"  # whether it takes them is not verified
    return tuple(
        server._replace(
            jobs=tuple(_asking(factory, job, job.name in native) for job in server.jobs),
            remote_writes=tuple(write._replace(native=sends) for write in server.remote_writes),
        )
        for server in servers
    )


def _asking(factory: Factory, job: ScrapeJob, native: bool) -> ScrapeJob:
    by_job = versions.has("scrape_native_histograms", factory.targets.prometheus)
    histograms = [metric for metric in factory.metrics.values() if metric.type == "histogram"]
    # Up to the release in which it became a matter of each job, all jobs are asked for native ones.
    if not any(metric.exporter == job.name for metric in histograms) or (by_job and not native):
        return job
    renamed = versions.has("always_scrape_classic_histograms", factory.targets.prometheus)
    classic = "always_scrape_classic_histograms" if renamed else "scrape_classic_histograms"
    return job._replace(histograms=("scrape_native_histograms", classic) if by_job else (classic,))


def _jobs(factory: Factory) -> set[str]:
    """The jobs that show a native histogram."""
    return {metric.exporter for metric in factory.metrics.values() if metric.native}

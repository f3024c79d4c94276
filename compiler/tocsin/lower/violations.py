"""What ingest does not take as it comes: series that break the label schema, and answers that Prometheus refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.ingest import ORIGINAL, QUARANTINED, VIOLATES
from tocsin.lower.alerts import signal_alert
from tocsin.lower.enforcement import HARDWARE
from tocsin.lower.proofs import STRANGER, fires, series, shared, silent
from tocsin.plan.rules import Reading, Record
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.signals import Signal
    from tocsin.lower.silence import Watched
    from tocsin.plan.rules import Alert, RuleTest

_TARGET = naming.by((*naming.NODE, "instance", "job"))
_DROPPED = "unknown"  # the label of series that are dropped: they are not there to name it


class Violating(NamedTuple):
    """The alerts of a job."""

    violations: Alert
    refused: Alert


def counted(factory: Factory, cluster: Cluster) -> Record:
    """How many series of each target break the schema, by the label that does."""
    place = f"cluster={quote(cluster.name)}"
    # What is scraped has a name of its own; what rules make of it must not be counted again.
    ours = f"__name__!~{quote(f'ALERTS.*|{naming.LABEL_VIOLATIONS}')}"
    expr = f'count by ({_TARGET}, {VIOLATES}) ({{{place}, {ours}, {VIOLATES}!=""}})'
    if factory.on_violation == "drop":
        scraped, kept = (f"scrape_samples_{what}{{{place}}}" for what in ("scraped", "post_metric_relabeling"))
        gone = f"sum by ({_TARGET}) ({scraped} - {kept}) > 0"
        expr += f'\nor label_replace({gone}, "{VIOLATES}", "{_DROPPED}", "", "")'
    return Record(naming.LABEL_VIOLATIONS, expr, {}, cluster.origin)


def violating(
    factory: Factory, cluster: Cluster, exporters: Sequence[Watched], *, applications: bool
) -> dict[str, Violating]:
    """The alerts of every exporter and, unless they are somebody else's, of every application.

    They go to the owner of the signal that stands for the job; an application's is the first one that it shows.
    """
    signals = {one.job: (one.signal, one.on_nodes) for one in exporters}
    names = {job.name for job in cluster.jobs} if applications else set()
    for signal in factory.signals.values():
        for metric in signal.metrics:
            if metric.exporter in names:
                signals.setdefault(metric.exporter, (signal, True))
    return {
        job: Violating(*_alerts(factory, cluster, job, signal, on_nodes=on_nodes))
        for job, (signal, on_nodes) in signals.items()
    }


def _alerts(factory: Factory, cluster: Cluster, job: str, signal: Signal, *, on_nodes: bool) -> Iterator[Alert]:
    of_job = f"{{cluster={quote(cluster.name)}, job={quote(job)}}}"
    fate = f"kept apart as {QUARANTINED}" if factory.on_violation == "quarantine" else "dropped"
    done = f"They are {fate}."
    if job in HARDWARE:
        done = f"What names a wrong place is {fate}; other labels are taken off."
    where = naming.NODE if on_nodes else ("cluster",)
    yield signal_alert(
        factory,
        f"{naming.titled(job)}LabelViolations",
        signal,
        "ticket",
        expr=f"{naming.LABEL_VIOLATIONS}{of_job} > 0",
        hold=Duration.of(minutes=5),
        summary=f"The job {job} at {{{{ $labels.instance }}}} breaks the label schema",
        description=f"{{{{ $value | humanize }}}} series of {job} at {{{{ $labels.instance }}}} break the schema by "
        f"their label {{{{ $labels.{VIOLATES} }}}}. {done}",
        where=where,
    )
    yield signal_alert(
        factory,
        f"{naming.titled(job)}ScrapeRefused",
        signal,
        "ticket",
        # A target that does not answer has no samples: these were counted, and then refused.
        expr=f"max by ({_TARGET}) (scrape_samples_scraped{of_job} > 0 and up{of_job} == 0)",
        hold=Duration.of(minutes=5),
        summary=f"Prometheus refuses what the job {job} at {{{{ $labels.instance }}}} answers",
        description=f"{job} at {{{{ $labels.instance }}}} answers with {{{{ $value | humanize }}}} samples, and "
        "none of them is stored: they exceed a limit of the job, or one of them cannot be read.",
        where=where,
    )


def violation_rules(factory: Factory, cluster: Cluster, jobs: Mapping[str, Violating]) -> list[Record | Alert]:
    """What is counted, and the alerts of all jobs that read it."""
    return [counted(factory, cluster), *(alert for two in jobs.values() for alert in two)]


def violation_test(group: str, factory: Factory, cluster: Cluster, jobs: Mapping[str, Violating]) -> RuleTest:
    """On one target of each job series break the schema for a while, another one's answers are refused for a while."""
    inputs, checks = [], []
    for job, (violations, refused) in jobs.items():
        at = {
            name: {"cluster": cluster.name, "node": name, "job": job, "instance": f"{name}:1"}
            for name in ("bad", "good", "late", "dead")
        }
        wrong, apart = _broken(factory, at["bad"])
        inputs += wrong
        inputs += [series(metric, {**at["bad"], VIOLATES: "job_id"}, "_x20 1x18 stale") for metric in ("one", "other")]
        inputs += [series("one", at["good"], "1x60")]
        inputs += [series("up", at[name], "1x60") for name in ("bad", "good")]
        inputs += [series("up", at["late"], "1x9 0x20 1x60"), series("up", at["dead"], "0x60")]
        inputs += _elsewhere(at, "cluster")
        answered = {"bad": "240x60", "good": "240x60", "late": "240x60", "dead": "0x60"}
        inputs += [series("scrape_samples_scraped", at[name], values) for name, values in answered.items()]
        both = ({**at["bad"], VIOLATES: apart}, {**at["bad"], VIOLATES: "job_id"})
        checks += [
            silent(violations, 14),
            fires(violations, 15, both[0], value=2),
            fires(violations, 25, *both, value=2),
            silent(violations, 41),
            silent(refused, 14),
            fires(refused, 15, at["late"], value=240),
            silent(refused, 31),
        ]
    inputs += _elsewhere(at, "job")
    test = shared(group, "series break the schema, and answers are refused", cluster.origin, inputs, *checks)
    # Two series by each of two labels at one target of each job.
    here = ((f"{{cluster={quote(cluster.name)}}}", str(4 * len(jobs))),)
    counts = f'sum by (cluster) ({naming.LABEL_VIOLATIONS}{{node="bad"}})'
    return test._replace(readings=(Reading(Duration.of(minutes=25), counts, here),))


def _elsewhere(at: Mapping[str, dict[str, str]], what: str) -> Iterator[tuple[str, str]]:
    """The same in another cluster, whose own rules tell it, or of another job."""
    bad, good, late = ({**at[name], what: STRANGER} for name in ("bad", "good", "late"))
    if what == "cluster":
        yield series("one", {**bad, VIOLATES: "job_id"}, "1x60")
    yield series(naming.LABEL_VIOLATIONS, {**good, VIOLATES: "job_id"}, "1x60")
    yield series("up", late, "0x60")
    yield series("scrape_samples_scraped", late, "240x60")


def _broken(factory: Factory, place: dict[str, str]) -> tuple[list[tuple[str, str]], str]:
    """Two series with a wrong place, from minute 10 to 40, and by which label they are counted."""
    if factory.on_violation == "drop":
        return [series("scrape_samples_post_metric_relabeling", place, "240x9 238x29 240x20")], _DROPPED
    wrong = {**place, VIOLATES: "node"}
    return [series(QUARANTINED, {**wrong, ORIGINAL: name}, "_x10 1x28 stale") for name in ("one", "other")], "node"

"""What ingest does not take as it comes: series that break the label schema, and answers that Prometheus refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.ingest import ORIGINAL, QUARANTINED, VIOLATES
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import fires, series, shared, silent
from tocsin.plan import Record
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tocsin.factory import Cluster, Factory, Signal
    from tocsin.plan import Alert, RuleTest

_TARGET = naming.by((*naming.NODE, "job"))
_DROPPED = "unknown"  # the label of series that are dropped: they are not there to name it


class Watched(NamedTuple):
    """The alerts of a job."""

    violations: Alert
    refused: Alert


def counted(factory: Factory, cluster: Cluster) -> Record:
    """How many series of each target break the schema, by the label that does."""
    place = f"cluster={quote(cluster.name)}"
    # What is scraped has an instance. What rules make of it has the other labels, and must not be counted again.
    expr = f'count by ({_TARGET}, {VIOLATES}) ({{{place}, instance!="", {VIOLATES}!=""}})'
    if factory.on_violation == "drop":
        scraped, kept = (f"scrape_samples_{what}{{{place}}}" for what in ("scraped", "post_metric_relabeling"))
        gone = f"sum by ({_TARGET}) ({scraped} - {kept}) > 0"
        expr += f'\nor label_replace({gone}, "{VIOLATES}", "{_DROPPED}", "", "")'
    return Record(naming.LABEL_VIOLATIONS, expr, {}, cluster.origin)


def watched(factory: Factory, cluster: Cluster, signals: Mapping[str, Signal]) -> dict[str, Watched]:
    """The alerts of every job, which go to the owner of the signal that stands for it."""
    return {job: Watched(*_alerts(factory, cluster, job, signal)) for job, signal in signals.items()}


def _alerts(factory: Factory, cluster: Cluster, job: str, signal: Signal) -> Iterator[Alert]:
    of_job = f"{{cluster={quote(cluster.name)}, job={quote(job)}}}"
    fate = f"is kept apart as {QUARANTINED}" if factory.on_violation == "quarantine" else "is dropped"
    yield signal_alert(
        factory,
        f"{naming.titled(job)}LabelViolations",
        signal,
        "ticket",
        expr=f"{naming.LABEL_VIOLATIONS}{of_job} > 0",
        hold=Duration.of(minutes=5),
        summary=f"The job {job} of {{{{ $labels.node }}}} breaks the label schema",
        description=f"{{{{ $value }}}} series of {job} on {{{{ $labels.node }}}} break the schema by their label "
        f"{{{{ $labels.{VIOLATES} }}}}. What names a wrong place {fate}; other labels are taken off.",
    )
    yield signal_alert(
        factory,
        f"{naming.titled(job)}ScrapeRefused",
        signal,
        "ticket",
        # A target that does not answer has no samples: these were counted, and then refused.
        expr=f"max by ({_TARGET}) (scrape_samples_scraped{of_job} > 0 and up{of_job} == 0)",
        hold=Duration.of(minutes=5),
        summary=f"Prometheus refuses what the job {job} of {{{{ $labels.node }}}} answers",
        description=f"{job} of {{{{ $labels.node }}}} answers with {{{{ $value }}}} samples, and none of them is "
        "stored: they exceed a limit of the job, or one of them cannot be read.",
    )


def violation_test(factory: Factory, cluster: Cluster, jobs: Mapping[str, Watched]) -> RuleTest:
    """On one node of each job series break the schema for a while, another one's answers are refused for a while."""
    inputs, checks = [], []
    for job, (violations, refused) in jobs.items():
        places = {node: {"cluster": cluster.name, "node": node, "job": job} for node in ("bad", "good", "late", "dead")}
        at = {node: {**place, "instance": node} for node, place in places.items()}
        wrong, apart = _broken(factory, at["bad"])
        inputs += wrong
        inputs += [series(metric, {**at["bad"], VIOLATES: "job_id"}, "_x20 1x18 stale") for metric in ("one", "other")]
        inputs += [series("one", at["good"], "1x60")]
        inputs += [series("up", at[node], "1x60") for node in ("bad", "good")]
        inputs += [series("up", at["late"], "1x9 0x20 1x60"), series("up", at["dead"], "0x60")]
        answered = {"bad": "240x60", "good": "240x60", "late": "240x60", "dead": "0x60"}
        inputs += [series("scrape_samples_scraped", at[node], values) for node, values in answered.items()]
        both = ({**places["bad"], VIOLATES: apart}, {**places["bad"], VIOLATES: "job_id"})
        checks += [
            silent(violations, 14),
            fires(violations, 15, both[0], value=2),
            fires(violations, 25, *both, value=2),
            silent(violations, 41),
            silent(refused, 14),
            fires(refused, 15, places["late"], value=240),
            silent(refused, 31),
        ]
    group = f"collection-{cluster.name}"
    return shared(group, "series break the schema, and answers are refused", cluster.origin, inputs, *checks)


def _broken(factory: Factory, place: dict[str, str]) -> tuple[list[tuple[str, str]], str]:
    """Two series with a wrong place, from minute 10 to 40, and by which label they are counted."""
    if factory.on_violation == "drop":
        return [series("scrape_samples_post_metric_relabeling", place, "240x9 238x29 240x20")], _DROPPED
    wrong = {**place, VIOLATES: "node"}
    return [series(QUARANTINED, {**wrong, ORIGINAL: name}, "_x10 1x28 stale") for name in ("one", "other")], "node"

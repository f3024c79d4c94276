"""Mandatory signals that are missing where their exporter answers: a stock exporter leaves out most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import nodes
from tocsin.lower.alerts import signal_alert
from tocsin.lower.presence import TEMP
from tocsin.lower.proofs import fires, proof, series, shared, silent
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tocsin.catalog import Metric
    from tocsin.factory import Cluster, Factory, Signal
    from tocsin.plan import Alert, RuleTest

_NODE, _GPU = naming.by(naming.NODE), naming.by(naming.GPU)


def missing_signals(factory: Factory, cluster: Cluster, jobs: Collection[str]) -> tuple[list[Alert], list[RuleTest]]:
    """An alert for each mandatory signal and each of some jobs of a cluster that has to show it, with their tests."""
    metrics = _mandatory(factory, "dcgm") if "dcgm" in jobs else {}
    alerts = {id_: _on_boards(factory, factory.signals[id_], names) for id_, names in metrics.items()}
    tests = [_board_test(f"collection-{cluster.name}", cluster, alerts, metrics)] if alerts else []
    targets = [_at_targets(factory, cluster, *job) for job in _jobs(factory, cluster) if job[0] in jobs]
    return [*alerts.values(), *(alert for alert, _ in targets)], [*tests, *(test for _, test in targets)]


def _mandatory(factory: Factory, exporter: str) -> dict[str, list[str]]:
    """The series of a job by which each mandatory signal shows; the one that boards are counted by needs no rule."""
    found = {
        signal.id: [_shown(metric) for metric in signal.metrics if metric.exporter == exporter]
        for signal in factory.signals.values()
        if signal.mandatory
    }
    return {id_: names for id_, names in found.items() if names and TEMP not in names}


def _shown(metric: Metric) -> str:
    return f"{metric.name}_count" if metric.type == "histogram" else metric.name


def _on_boards(factory: Factory, signal: Signal, metrics: list[str]) -> Alert:
    measured = " and ".join(f"group by ({_GPU}) ({metric})" for metric in metrics)
    return signal_alert(
        factory,
        f"Signal{naming.titled(signal.id)}Missing",
        signal,
        "ticket",
        # Only boards that report at all: a node without any has alerts of its own.
        expr=f"count by ({_NODE}) (\n  group by ({_GPU}) ({TEMP})\n  unless ({measured})\n)",
        hold=Duration.of(minutes=15),
        summary=f"The mandatory signal {signal.id} is missing on {{{{ $labels.node }}}}",
        description=f"GPUs of {{{{ $labels.node }}}} that report without {signal.id}: {{{{ $value }}}}. Compare the "
        "exporter's counters file with the generated one, and look for its profiling module.",
    )


def _jobs(factory: Factory, cluster: Cluster) -> Iterator[tuple[str, str, str, list[str]]]:
    """Of each other job and mandatory signal: the job, one of its hosts, the signal, and its series."""
    fabric = [host for group in cluster.groups if group.fabric == "infiniband" for host in group.hosts]
    any_host = cluster.groups[0].hosts  # where a job's own are not known before they are discovered
    hosts = {"node": fabric[:1], **{job.name: (job.hosts or any_host)[:1] for job in cluster.jobs}}
    for job, first in hosts.items():
        for host in first:
            for id_, metrics in _mandatory(factory, job).items():
                yield job, host, id_, metrics


def _at_targets(
    factory: Factory, cluster: Cluster, job: str, host: str, id_: str, metrics: list[str]
) -> tuple[Alert, RuleTest]:
    places = [f"cluster={quote(cluster.name)}"]
    if job == "node":  # only where there is a fabric to measure
        places = [nodes.matchers(cluster, group) for group in cluster.groups if group.fabric == "infiniband"]
    answers = " or ".join(f'max by ({_NODE}) (up{{job="{job}", {place}}})' for place in places)
    shown = f" and on ({_NODE}) ".join(f"group by ({_NODE}) ({metric})" for metric in metrics)
    alert = signal_alert(
        factory,
        f"Signal{naming.titled(id_)}MissingFrom{naming.titled(job)}",
        factory.signals[id_],
        "ticket",
        expr=f"({answers}) == 1\nunless on ({_NODE}) ({shown})",
        hold=Duration.of(minutes=15),
        summary=f"The mandatory signal {id_} is missing on {{{{ $labels.node }}}}",
        description=f"The job {job} of {{{{ $labels.node }}}} answers, but without {id_}: look at what it is told to "
        "expose.",
    )
    return alert, _target_test(alert, {"cluster": cluster.name, "node": host}, job, metrics)


def _target_test(alert: Alert, node: dict[str, str], job: str, metrics: list[str]) -> RuleTest:
    """One series after the other ends for 17 minutes and returns. Other jobs and clusters are not asked for them."""
    raw = {**node, "job": job, "instance": "a"}
    others = ({**raw, "cluster": "another"}, {**raw, "node": "another", "job": "another"})
    inputs = [series("up", at, f"1x{20 * len(metrics) + 10}") for at in (raw, *others)]
    checks = [silent(alert, 9)]
    for turn, metric in enumerate(metrics):
        ends = 20 * turn + 10
        inputs.append(series(metric, raw, f"0x{ends - 1} stale _x16 0x{20 * len(metrics)}"))
        checks += [silent(alert, ends + 14), silent(alert, ends + 18)]
        checks += [fires(alert, minute, node, value=1) for minute in (ends + 15, ends + 16)]
    return proof(alert, "one series after the other ends and returns", inputs, *checks)


def _board_test(
    group: str, cluster: Cluster, missing: Mapping[str, Alert], metrics: Mapping[str, list[str]]
) -> RuleTest:
    """For each metric a node on which one of two boards stops to report it; on another node one does for a while."""
    names = [name for id_ in missing for name in metrics[id_]]
    inputs = []
    for lost in (*names, "none"):
        for board in ("GPU-0", "GPU-1"):
            gpu = {"cluster": cluster.name, "node": f"without-{lost}", "gpu_uuid": board, "job": "dcgm"}
            values = {name: "0x9 stale" if name == lost and board == "GPU-0" else "0x30" for name in names}
            values |= dict.fromkeys(names, "0x9 stale _x12 0x30") if lost == "none" else {}
            inputs += [series(name, gpu, value) for name, value in {TEMP: "60x30", **values}.items()]
    checks = []
    for id_, alert in missing.items():
        nodes = [{"cluster": cluster.name, "node": f"without-{name}"} for name in metrics[id_]]
        checks += [silent(alert, 24), fires(alert, 25, *nodes, value=1)]
    origin = next(iter(missing.values())).origin
    return shared(group, "each metric ends on one board of a node", origin, inputs, *checks)

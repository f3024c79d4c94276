"""Mandatory signals that are missing where their exporter answers: a stock exporter leaves out most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.catalog import PORT_ERRORS
from tocsin.lower import nodes
from tocsin.lower.alerts import signal_alert
from tocsin.lower.presence import TEMP
from tocsin.lower.proofs import STRANGER, fires, proof, series, shared, silent
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, NodeGroup
    from tocsin.factory.signals import Signal
    from tocsin.plan.rules import Alert, RuleTest

_NODE, _GPU = naming.by(naming.NODE), naming.by(naming.GPU)


def missing_signals(factory: Factory, cluster: Cluster, jobs: Collection[str]) -> tuple[list[Alert], list[RuleTest]]:
    """An alert for each mandatory signal and each of some jobs of a cluster that has to show it, with their tests."""
    boards = _mandatory(factory, "dcgm", "board") if "dcgm" in jobs else {}
    metrics = {id_: names for id_, names in boards.items() if TEMP not in names}
    alerts = {id_: _on_boards(factory, factory.signals[id_], names) for id_, names in metrics.items()}
    tests = [_board_test(f"collection-{cluster.name}", cluster, alerts, metrics)] if alerts else []
    targets = [_at_targets(factory, *shown) for shown in _shown_elsewhere(factory, cluster) if shown[0].name in jobs]
    return [*alerts.values(), *(alert for alert, _ in targets)], [*tests, *(test for _, test in targets)]


def _mandatory(factory: Factory, job: str, place: str) -> dict[str, list[str]]:
    """The series of a job by which each mandatory signal shows at a kind of place."""
    found = {
        signal.id: [
            naming.series(metric)
            for metric in signal.metrics
            if metric.exporter == job and not metric.sparse and _place(metric) == place
        ]
        for signal in factory.signals.values()
        if signal.mandatory
    }
    return {id_: names for id_, names in found.items() if names}


def _place(metric: Metric) -> str:
    """Where a metric has to show: on every board, on nodes that have a fabric, or at the target of its job."""
    if metric.exporter == "dcgm" and metric.entity in ("gpu", "gpu_instance", "link"):
        return "board"
    return "port" if metric.exporter == "node" and metric.entity == "port" else "target"


def _on_boards(factory: Factory, signal: Signal, metrics: list[str]) -> Alert:
    measured = " and ".join(f"group by ({_GPU}) ({metric})" for metric in metrics)
    profiled = any(metric.startswith("DCGM_FI_PROF_") for metric in metrics)
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
        f"exporter's counters file with the generated one{', and look for its profiling module' if profiled else ''}.",
    )


class _Job(NamedTuple):
    """A job that has to show signals: the matchers of its targets, some of these, and some that are not asked."""

    name: str
    places: tuple[str, ...]
    examples: list[dict[str, str]]
    strangers: list[dict[str, str]]


def _shown_elsewhere(factory: Factory, cluster: Cluster) -> Iterator[tuple[_Job, str, list[str]]]:
    """Of each mandatory signal that does not show on boards: the job that has to show it, and its series."""

    def everywhere(job: str, place: dict[str, str]) -> _Job:
        example = {"cluster": cluster.name, **place}
        return _Job(job, (f"cluster={quote(cluster.name)}",), [example], [{**example, "cluster": STRANGER}])

    for exporter in cluster.exporters:
        for id_, names in _mandatory(factory, exporter.kind.job, "target").items():
            at = {"node": cluster.groups[0].hosts[0]} if exporter.kind.stands == "node" else {}
            yield everywhere(exporter.kind.job, at), id_, names
        for id_, names in _mandatory(factory, exporter.kind.job, "port").items():
            groups = [(cluster, group) for group in _with_ports(cluster, id_)]
            if groups:
                ports = tuple(nodes.matchers(*group) for group in groups)
                yield _Job(exporter.kind.job, ports, nodes.examples(groups), nodes.strangers(groups)), id_, names
    for job in cluster.jobs:
        host = (job.hosts or cluster.groups[0].hosts)[0]  # where its own are not known before they are discovered
        for id_, names in _mandatory(factory, job.name, "target").items():
            yield everywhere(job.name, {"node": host}), id_, names


def _with_ports(cluster: Cluster, signal: str) -> list[NodeGroup]:
    """The groups whose ports have to show a signal: errors those of its fabric, all else those of every fabric.

    What RoCE counts as errors, adapters of InfiniBand may be asked for as well.
    """
    fabrics = {group.fabric for group in cluster.groups} - {"none"}
    own = {fabric for fabric, errors in PORT_ERRORS.items() if errors == signal}
    wanted = (own & fabrics) or (fabrics if own != {"infiniband"} else set())
    return [group for group in cluster.groups if group.fabric in wanted]


def _at_targets(factory: Factory, job: _Job, id_: str, metrics: list[str]) -> tuple[Alert, RuleTest]:
    where = tuple(job.examples[0])
    by = naming.by(where)
    answers = " or ".join(f'max by ({by}) (up{{job="{job.name}", {place}}})' for place in job.places)
    shown = f" and on ({by}) ".join(f"group by ({by}) ({metric})" for metric in metrics)
    place = f"{{{{ $labels.{where[-1]} }}}}"
    alert = signal_alert(
        factory,
        f"Signal{naming.titled(id_)}MissingFrom{naming.titled(job.name)}",
        factory.signals[id_],
        "ticket",
        expr=f"({answers}) == 1\nunless on ({by}) ({shown})",
        hold=Duration.of(minutes=15),
        summary=f"The mandatory signal {id_} is missing on {place}",
        description=f"The job {job.name} of {place} answers, but without {id_}: look at what it is told to expose.",
        where=where,
    )
    return alert, _target_test(alert, job, metrics)


def _target_test(alert: Alert, job: _Job, metrics: list[str]) -> RuleTest:
    """One series after the other is missing for 17 minutes. Other jobs and places are not asked for them."""
    raw = [{**place, "job": job.name, "instance": "a"} for place in job.examples]
    end = 20 * len(metrics) + 16
    # Until minute 16 the job is silent, and only another one answers there.
    inputs = [series("up", at, f"0x15 1x{end - 16}") for at in raw]
    inputs += [series("up", {**at, "job": STRANGER}, f"1x{end}") for at in raw]
    inputs += [series("up", {**at, "job": job.name, "instance": "a"}, f"1x{end}") for at in job.strangers]
    checks = [silent(alert, 15)]
    for turn, metric in enumerate(metrics):
        ends = 20 * turn + 16
        before = f"0x{ends - 1} stale" if turn else f"_x{ends + 1}"
        inputs += [series(metric, at, f"{before} _x16 0x{end}") for at in raw]
        checks += [silent(alert, ends + 14), silent(alert, ends + 18)]
        checks += [fires(alert, minute, *job.examples, value=1) for minute in (ends + 15, ends + 16)]
    return proof(alert, "one series after the other is missing for a while", inputs, *checks)


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

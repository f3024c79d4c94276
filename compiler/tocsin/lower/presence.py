"""Boards that are gone. Counting what is left returns nothing where nothing is left, so the spec says what must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import nodes
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import MINUTE, example_gpu, example_node, fires, proof, series, shared, silent
from tocsin.plan.rules import Reading, Record, RuleGroup
from tocsin.units import NO_TIME, Duration

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.plan.rules import Alert, RuleTest

TEMP = "DCGM_FI_DEV_GPU_TEMP"  # every board reports it, whatever its sharing; see the catalogue
_GPU, _NODE = naming.by(naming.GPU), naming.by(naming.NODE)
_LACKING = f"{naming.GPUS_PRESENT} < on ({_NODE}) {naming.GPUS_EXPECTED}"


def presence(factory: Factory) -> RuleGroup:
    """Expected and present boards of each node, the board that went, and nodes that lack some."""
    # A driver that hangs on a lost board makes some scrapes fail, which must not end the alert: one answer within a
    # minute will do. That is shorter than the alerts wait, so that an exporter that dies raises none.
    answers = f'and on ({_NODE}) (max by ({_NODE}) (max_over_time(up{{job="dcgm"}}[1m])) == 1)'
    lost = signal_alert(
        factory,
        "GpuLost",
        factory.signals["gpu_temp"],
        "page",
        expr=f"(group by ({_GPU}) (last_over_time({TEMP}[1h])) unless group by ({_GPU}) ({TEMP}))\n"
        f"and on ({_NODE}) ({_LACKING})\n{answers}",
        hold=Duration.of(minutes=2),
        summary="A GPU of {{ $labels.node }} is gone",
        description="{{ $labels.gpu_uuid }} on {{ $labels.node }} reported within the last hour and is silent now, "
        "while the node's exporter answers.",
    )
    missing = signal_alert(
        factory,
        "NodeGpusMissing",
        factory.signals["gpu_temp"],
        "page",
        expr=f"{_LACKING}\n{answers}",
        hold=Duration.of(minutes=5),
        summary="{{ $labels.node }} lacks GPUs",
        description="Only {{ $value }} GPUs of {{ $labels.node }} report, fewer than its spec says.",
    )
    tests = (_test(factory, lost, missing), _answers_test(factory, lost, missing))
    return RuleGroup("gpu-presence", (*_counts(factory), lost, missing), tests)


def _counts(factory: Factory) -> tuple[Record, ...]:
    # `up` is there whether the exporter answers or not: a node is expected as long as it is a target. One rule for all
    # groups: promtool's lint refuses two rules of one name and the same labels.
    expected = Record(
        naming.GPUS_EXPECTED,
        "\nor\n".join(
            f'{group.gpus} * group by ({_NODE}) (up{{job="dcgm", {nodes.matchers(cluster, group)}}})'
            for cluster, group in nodes.groups(factory)
        ),
        {},
        next(nodes.groups(factory))[1].origin,
    )
    present = Record(
        naming.GPUS_PRESENT,
        f"count by ({_NODE}) (group by ({_GPU}) ({TEMP})) or 0 * {naming.GPUS_EXPECTED}",
        {},
        factory.signals["gpu_temp"].origin,
    )
    return (expected, present)


def _test(factory: Factory, lost: Alert, missing: Alert) -> RuleTest:
    """On one node a board goes, the exporter dies and returns, spare boards come and replace each other, all go."""
    groups = list(nodes.groups(factory))
    (node, *beside), count = nodes.examples(groups), groups[0][1].gpus
    *boards, weak, spare, other = [example_gpu(factory, number) for number in range(count + 2)]
    inputs = [
        series("up", {**node, "job": "dcgm", "instance": "a"}, "_ 1x28 0x14 1x50"),
        series("up", {**node, "job": "node", "instance": "b"}, "1x90"),
        *(series("up", {**at, "job": "dcgm", "instance": "a"}, "_ 1 1 stale") for at in beside),
        *(series("up", {**at, "job": "dcgm", "instance": "a"}, "1x90") for at in nodes.strangers(groups)),
        series(TEMP, {**spare, "job": "dcgm"}, "_x72 60x1 stale"),
        series(TEMP, {**other, "job": "dcgm"}, "_x74 60x3 stale"),
    ]
    for gpu in (*boards, weak):
        values = "60x9 stale" if gpu is weak else "60x29 stale _x14 60x32 stale"
        inputs += [series(TEMP, {**gpu, "job": "dcgm", "job_id": job}, values) for job in ("4711", "4712")]
    test = shared(
        "gpu-presence",
        "a board goes, the exporter dies, boards are exchanged, all go",
        lost.origin,
        inputs,
        *(silent(lost, minute) for minute in (9, 11, 31, 33, 36, 44, 46, 71, 76, 77, 79)),
        *(fires(lost, minute, weak) for minute in (12, 29, 47, 68)),
        fires(lost, 80, *boards, spare, other),
        *(silent(missing, minute) for minute in (9, 14, 31, 36, 44, 49, 72, 77, 82)),
        *(fires(missing, minute, node, value=count - 1) for minute in (15, 29, 50, 71)),
        fires(missing, 83, node, value=0),
    )
    # Before its exporter is a target nothing is expected of a node. Of the other groups one is a target for a moment.
    counts = zip((node, *beside), (group.gpus for _, group in groups), strict=True)
    expected = tuple((series(naming.GPUS_EXPECTED, at, "")[0], str(gpus)) for at, gpus in counts)
    return test._replace(
        readings=(Reading(NO_TIME, naming.GPUS_EXPECTED, ()), Reading(MINUTE, naming.GPUS_EXPECTED, expected))
    )


def _answers_test(factory: Factory, lost: Alert, missing: Alert) -> RuleTest:
    """The last board of a node goes: its exporter answers every other minute at first, and then once a minute."""
    node = example_node(factory)
    gpu = {**node, "gpu_uuid": "GPU-0"}
    inputs = [
        series("up", {**node, "job": "dcgm", "instance": "a"}, "_" + " 1 0 0 0 0 0" * 4 + " 1 0 0" * 8),
        series(TEMP, {**gpu, "job": "dcgm"}, "60x6 stale"),
    ]
    checks = [silent(missing, 8), silent(missing, 13), fires(missing, 14, node, value=0)]
    checks += [silent(lost, 8), silent(lost, 10), fires(lost, 11, gpu)]
    test = proof(missing, "an exporter answers once a minute", inputs, *checks, interval=Duration.of(seconds=20))
    return test._replace(pace=MINUTE)

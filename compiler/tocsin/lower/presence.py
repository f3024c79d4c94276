"""Boards that are gone. Counting what is left returns nothing where nothing is left, so the spec says what must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import nodes
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import example_gpu, example_node, fires, series, shared, silent
from tocsin.plan import Record, RuleGroup
from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.plan import Alert, RuleTest

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
    tests = (_test(factory, lost, missing),)
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
    """On one node a board goes and returns, the exporter dies and returns, a board is exchanged, and then all go."""
    node, count = example_node(factory), next(nodes.groups(factory))[1].gpus
    *boards, spare = [example_gpu(factory, number) for number in range(count + 1)]
    weak = boards[-1]
    inputs = [
        series("up", {**node, "job": "dcgm", "instance": "a"}, "1x29 0x14 1x80"),
        series("up", {**node, "job": "node", "instance": "b"}, "1x130"),
        series("up", {**node, "job": "dcgm", "instance": "a", "cluster": "another"}, "1x130"),
        series(TEMP, {**spare, "job": "dcgm"}, "_x50 60x9 stale"),
    ]
    for gpu in boards:
        values = "60x9 stale _x9 60x9 stale _x14 60x4 stale" if gpu is weak else "60x29 stale _x14 60x14 stale"
        inputs += [series(TEMP, {**gpu, "job": "dcgm", "job_id": job}, values) for job in ("4711", "4712")]
    quiet_lost = (silent(lost, minute) for minute in (9, 11, 20, 31, 33, 36, 44, 53, 59, 61, 121))
    quiet_missing = (silent(missing, minute) for minute in (9, 14, 20, 31, 36, 44, 59, 64))
    return shared(
        "gpu-presence",
        "a board goes and returns, the exporter dies, a board is exchanged, every board goes",
        lost.origin,
        inputs,
        *quiet_lost,
        fires(lost, 12, weak),
        fires(lost, 19, weak),
        fires(lost, 62, *boards, spare),
        fires(lost, 118, *boards[:-1], spare),
        *quiet_missing,
        fires(missing, 15, node, value=count - 1),
        fires(missing, 19, node, value=count - 1),
        fires(missing, 65, node, value=0),
        fires(missing, 121, node, value=0),
    )

"""The host link and the memory of a GPU: at their limit, which is shown to everybody, and losing packets."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import nodes
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import example_gpu, fires, gpu_of, series, shared, silent
from tocsin.plan.rules import Record, RuleGroup
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from tocsin.catalog.kinds import GpuModel
    from tocsin.factory import Factory
    from tocsin.plan.rules import Alert, RuleTest

DIRECTIONS = {"tx": "DCGM_FI_PROF_PCIE_TX_BYTES", "rx": "DCGM_FI_PROF_PCIE_RX_BYTES"}
DRAM = "DCGM_FI_PROF_DRAM_ACTIVE"
FULL = Fraction(9, 10)  # the share of a host link or of a memory from which on it is at its limit
REPLAYS = "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"
_GPU = naming.by(naming.GPU)


def pcie(factory: Factory) -> RuleGroup:
    """The share of each board's host link that is used, by direction, and packets that are sent again."""
    alerts = [_replaying(factory)]
    records: list[Record] = []
    if "pcie_throughput" in factory.signals:
        records += _shares(factory)
        alerts.append(_saturated(factory))
    return RuleGroup("gpu-pcie", (*records, *alerts), (_pcie_test(factory, *alerts),))


def _shares(factory: Factory) -> list[Record]:
    """The fields are rates already."""
    return [
        Record(
            naming.PCIE_SHARE,
            "\nor\n".join(
                f"max by ({_GPU}) ({metric}{{{nodes.matchers(cluster, group)}}}) / {group.gpu.pcie}"
                for cluster, group in nodes.groups(factory)
            ),
            {"direction": direction},
            next(nodes.groups(factory))[1].origin,
        )
        for direction, metric in DIRECTIONS.items()
    ]


def _saturated(factory: Factory) -> Alert:
    return signal_alert(
        factory,
        "GpuPcieSaturated",
        factory.signals["pcie_throughput"],
        "info",
        expr=f"min_over_time({naming.PCIE_SHARE}[10m]) > {number(FULL)}",
        hold=Duration.of(minutes=10),
        summary="The host link of a GPU of {{ $labels.node }} is full",
        description="{{ $labels.gpu_uuid }} on {{ $labels.node }} uses at least {{ $value | humanizePercentage }} "
        "of its PCIe link ({{ $labels.direction }}): its job waits for data.",
        where=naming.GPU,
    )


def replay_limit(model: GpuModel) -> int:
    """Replays in a quarter of an hour above which a board's host link is bad.

    PCI Express asks for a bit error rate of at most 1e-12, and an error is a replay: as many as bits pass in the time,
    130 for each 128 of payload, divided by 1e12. DCGM's own health watch uses the same numbers.
    """
    return round(Fraction(model.pcie) * 8 * 130 / 128 * 900 / 10**12)


def _replaying(factory: Factory) -> Alert:
    limits = (
        f"max by ({_GPU}) (increase({REPLAYS}{{{nodes.matchers(cluster, group)}}}[15m])) > {replay_limit(group.gpu)}"
        for cluster, group in nodes.groups(factory)
    )
    return signal_alert(
        factory,
        "GpuPcieReplays",
        factory.signals["pcie_replay"],
        "ticket",
        expr="\nor\n".join(limits),
        hold=Duration.of(minutes=5),
        summary="The host link of a GPU of {{ $labels.node }} is bad",
        description="{{ $labels.gpu_uuid }} on {{ $labels.node }} sends more packets again over PCIe than the standard "
        "allows: look at its slot, riser and cables.",
        where=naming.GPU,
    )


def _pcie_test(factory: Factory, replays: Alert, full: Alert | None = None) -> RuleTest:
    """Of each group links at 95 % and at 85 %, and few replays and many; of the first a pause and a reset as well."""
    groups = list(nodes.groups(factory))
    boards = [[gpu_of(node, number) for number in range(3)] for node in nodes.examples(groups)]
    strangers = [gpu_of(node) for node in nodes.strangers(groups)]
    model = max((group.gpu for _, group in groups), key=lambda gpu: gpu.pcie)
    inputs = [_input(REPLAYS, boards[0][2], f"{100 * replay_limit(model)}x19 0x40")]
    inputs += [_input(REPLAYS, at, f"0+{replay_limit(model)}x60") for at in strangers]
    for (few, many, _), (_, group) in zip(boards, groups, strict=True):
        limit = replay_limit(group.gpu)
        inputs.append(_input(REPLAYS, few, f"0x19 0+{limit * 3 // 60}x40"))
        inputs.append(_input(REPLAYS, many, f"0x19 0+{-(-limit * 6 // 60)}x40"))
    bad = [many for _, many, _ in boards]
    checks = [silent(replays, 34), fires(replays, 37, *bad), fires(replays, 58, *bad)]
    if full is not None:
        rx, tx = DIRECTIONS["rx"], DIRECTIONS["tx"]
        inputs += [_input(metric, at, f"{model.pcie}x60") for metric in (rx, tx) for at in strangers]
        for (one, other, paused), (_, group) in zip(boards, groups, strict=True):
            high, low = group.gpu.pcie * 95 // 100, group.gpu.pcie * 85 // 100
            inputs += [_input(rx, one, f"{high}x60"), _input(rx, other, f"{low}x60"), _input(tx, other, f"{high}x60")]
            inputs += [_input(rx, paused, f"{high}x9 0 {high}x60")] if paused is boards[0][2] else []
        always = [{**one, "direction": "rx"} for one, _, _ in boards]
        always += [{**other, "direction": "tx"} for _, other, _ in boards]
        checks += [silent(full, 9), *(fires(full, minute, *always, value=0.95) for minute in (10, 29))]
        checks.append(fires(full, 31, *always, {**boards[0][2], "direction": "rx"}, value=0.95))
    return shared("gpu-pcie", "links that are full, and links that are bad", replays.origin, inputs, *checks)


def _input(metric: str, board: dict[str, str], values: str) -> tuple[str, str]:
    return series(metric, {**board, "job": "dcgm"}, values)


def hbm(factory: Factory) -> RuleGroup | None:
    """How busy the memory is. A share of cycles: the field splits into no reads and writes."""
    signal = factory.signals.get("hbm_activity")
    if signal is None:
        return None
    record = Record(naming.HBM_ACTIVE, f"max by ({_GPU}) ({DRAM})", {}, signal.origin)
    alert = signal_alert(
        factory,
        "GpuMemoryBandwidthSaturated",
        signal,
        "info",
        expr=f"min_over_time({naming.HBM_ACTIVE}[15m]) > {number(FULL)}",
        hold=Duration.of(minutes=15),
        summary="The memory of a GPU of {{ $labels.node }} is at its limit",
        description="The memory of {{ $labels.gpu_uuid }} on {{ $labels.node }} was busy in "
        "{{ $value | humanizePercentage }} of all cycles or more for half an hour: its job is bound by it.",
        where=naming.GPU,
    )
    gpus = [example_gpu(factory, number) for number in range(3)]
    values = ("0.95x60", "0.85x60", "0.95x9 0 0.95x60")
    inputs = [series(DRAM, {**gpu, "job": "dcgm"}, value) for gpu, value in zip(gpus, values, strict=True)]
    test = shared(
        "gpu-memory-bandwidth",
        "memory that is busy at 95 % and at 85 %",
        alert.origin,
        inputs,
        silent(alert, 14),
        fires(alert, 15, gpus[0], value=0.95),
        fires(alert, 39, gpus[0], value=0.95),
        fires(alert, 41, gpus[0], gpus[2], value=0.95),
    )
    return RuleGroup("gpu-memory-bandwidth", (record, alert), (test,))

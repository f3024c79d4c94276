"""The host link and the memory of a GPU: at their limit, which is shown to everybody, and losing packets."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import nodes
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import example_gpu, fires, series, shared, silent
from tocsin.plan import Record, RuleGroup
from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.catalog import GpuModel
    from tocsin.factory import Factory
    from tocsin.plan import Alert, RuleTest

DIRECTIONS = {"tx": "DCGM_FI_PROF_PCIE_TX_BYTES", "rx": "DCGM_FI_PROF_PCIE_RX_BYTES"}
DRAM = "DCGM_FI_PROF_DRAM_ACTIVE"
REPLAYS = "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"
_GPU = naming.by(naming.GPU)


def pcie(factory: Factory) -> RuleGroup:
    """The share of each board's host link that is used, by direction, and packets that are sent again."""
    alerts = [_replaying(factory)]
    tests = [_replay_test(factory, alerts[0])]
    records: list[Record] = []
    if "pcie_throughput" in factory.signals:
        records += _shares(factory)
        alerts.append(_saturated(factory))
        tests.append(_saturation_test(factory, alerts[1]))
    return RuleGroup("gpu-pcie", (*records, *alerts), tuple(tests))


def _shares(factory: Factory) -> list[Record]:
    """The fields are rates already."""
    return [
        Record(
            naming.PCIE_SHARE,
            f"max by ({_GPU}) ({metric}{{{nodes.matchers(cluster, group)}}}) / {group.gpu.pcie}",
            {"direction": direction},
            group.origin,
        )
        for cluster, group in nodes.groups(factory)
        for direction, metric in DIRECTIONS.items()
    ]


def _saturated(factory: Factory) -> Alert:
    return signal_alert(
        factory,
        "GpuPcieSaturated",
        factory.signals["pcie_throughput"],
        "info",
        expr=f"min_over_time({naming.PCIE_SHARE}[10m]) > 0.9",
        hold=Duration.of(minutes=10),
        summary="The host link of a GPU of {{ $labels.node }} is full",
        description="{{ $labels.gpu_uuid }} on {{ $labels.node }} uses at least {{ $value | humanizePercentage }} "
        "of its PCIe link ({{ $labels.direction }}): its job waits for data.",
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
    )


def _saturation_test(factory: Factory, alert: Alert) -> RuleTest:
    gpus = [example_gpu(factory, number) for number in range(4)]
    link = next(nodes.groups(factory))[1].gpu.pcie
    shares = (f"{link * 95 // 100}x60", f"{link * 85 // 100}x60", f"{link * 95 // 100}x9 0 {link * 95 // 100}x60")
    inputs = [series(DIRECTIONS["rx"], {**gpu, "job": "dcgm"}, share) for gpu, share in zip(gpus, shares, strict=False)]
    inputs.append(series(DIRECTIONS["tx"], {**gpus[3], "job": "dcgm"}, shares[0]))
    full, paused, sending = (
        {**gpus[number], "direction": direction} for number, direction in ((0, "rx"), (2, "rx"), (3, "tx"))
    )
    return shared(
        "gpu-pcie",
        "links at 95 % and at 85 %",
        alert.origin,
        inputs,
        silent(alert, 9),
        fires(alert, 10, full, sending, value=0.95),
        fires(alert, 29, full, sending, value=0.95),
        fires(alert, 31, full, sending, paused, value=0.95),
    )


def _replay_test(factory: Factory, alert: Alert) -> RuleTest:
    """Rates of three quarters and one and a half of the limit, and a reset of a counter that was far above it."""
    gpus = [{**example_gpu(factory, number), "job": "dcgm"} for number in range(3)]
    limit = replay_limit(next(nodes.groups(factory))[1].gpu)
    few, many = limit * 3 // 60, -(-limit * 6 // 60)
    inputs = [
        series(REPLAYS, gpus[0], f"0x19 0+{few}x40"),
        series(REPLAYS, gpus[1], f"0x19 0+{many}x40"),
        series(REPLAYS, gpus[2], f"{100 * limit}x19 0x40"),
    ]
    place = example_gpu(factory, 1)
    checks = (silent(alert, 34), fires(alert, 37, place), fires(alert, 58, place))
    return shared("gpu-pcie", "packets are sent again", alert.origin, inputs, *checks)


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
        expr=f"min_over_time({naming.HBM_ACTIVE}[15m]) > 0.9",
        hold=Duration.of(minutes=15),
        summary="The memory of a GPU of {{ $labels.node }} is at its limit",
        description="The memory of {{ $labels.gpu_uuid }} on {{ $labels.node }} was busy in "
        "{{ $value | humanizePercentage }} of all cycles or more for half an hour: its job is bound by it.",
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

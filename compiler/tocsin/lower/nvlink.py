"""NVLinks. As in the fabric around them, errors are counted by how often their counter was seen to rise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.fabric import REPEATED
from tocsin.lower.proofs import example_gpu, fires, series, shared, silent
from tocsin.lower.rises import risen
from tocsin.plan.rules import Record, RuleGroup

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.plan.rules import Alert, RuleTest

_GPU = naming.by(naming.GPU)


def nvlink(factory: Factory) -> RuleGroup | None:
    """NVLinks: recoveries of a link page, packets sent again and CRC errors are ticketed once they repeat."""
    signal = factory.signals.get("fabric_errors")
    if signal is None:
        return None
    metrics = [metric for metric in signal.metrics if metric.exporter == "dcgm"]
    # A board's series end and begin with its jobs, often at the very moment of the error: the recorded one does not.
    levels = [
        Record(naming.NVLINK_ERRORS, f"max by ({_GPU}) ({metric.name})", {"error": _error(metric.name)}, signal.origin)
        for metric in metrics
    ]
    kinds = {_error(metric.name): metric.errors for metric in metrics}
    broken = "|".join(kind for kind, errors in kinds.items() if errors == "uncorrected")
    rises = (
        Record(naming.NVLINK_CORRECTED, risen(f'{naming.NVLINK_ERRORS}{{error!~"{broken}"}}'), {}, signal.origin),
        Record(naming.NVLINK_UNCORRECTED, risen(f'{naming.NVLINK_ERRORS}{{error=~"{broken}"}}'), {}, signal.origin),
    )
    recovered = signal_alert(
        factory,
        "NvlinkRecovered",
        signal,
        "page",
        expr=f"{naming.NVLINK_UNCORRECTED} > 0",
        summary="An NVLink of a GPU of {{ $labels.node }} had to recover",
        description="An NVLink of {{ $labels.gpu_uuid }} on {{ $labels.node }} broke and was retrained within the last "
        "quarter of an hour: jobs on it stall or fail.",
    )
    corrected = signal_alert(
        factory,
        "NvlinkErrorsCorrected",
        signal,
        "ticket",
        expr=f"{naming.NVLINK_CORRECTED} > {REPEATED}",
        summary="An NVLink of a GPU of {{ $labels.node }} corrects errors",
        description="An NVLink of {{ $labels.gpu_uuid }} on {{ $labels.node }} counts {{ $labels.error }} again and "
        "again: nothing is lost yet.",
    )
    test = _test(factory, {metric.name: metric.errors for metric in metrics}, recovered, corrected)
    return RuleGroup("fabric-nvlink", (*levels, *rises, recovered, corrected), (test,))


def _error(metric: str) -> str:
    return metric.removeprefix("DCGM_FI_DEV_NVLINK_").removesuffix("_ERROR_COUNT_TOTAL").lower()


def _test(factory: Factory, metrics: dict[str, str], recovered: Alert, corrected: Alert) -> RuleTest:
    """The events of ports' counters, on boards whose job ends at minute 20."""
    gpus = [example_gpu(factory, number) for number in range(5)]
    stories = {
        "uncorrected": (
            ("9x4 0x14 stale", "_x20 1x40"),
            ("9x19 stale", "_x20 9x2 0x40"),
            ("9x19 stale", "_x20 10 10 11x40"),
        ),
        "corrected": (
            ("9x4 0x14 stale", "_x20 1 1 1 2x40"),
            ("9x19 stale", "_x20 10x9 11x40"),
            ("9x19 stale", "_x20 10x17 11x40"),
            ("9x19 stale", "_x20 0 0 0 5x40"),
        ),
    }
    inputs: list[tuple[str, str]] = []
    told: dict[str, list[str]] = {}
    for metric, errors in metrics.items():
        told.setdefault(errors, []).append(_error(metric))
        for gpu, (with_job, without) in zip(gpus, stories[errors], strict=False):
            inputs.append(series(metric, {**gpu, "job": "dcgm", "job_id": "4711"}, with_job))
            inputs.append(series(metric, {**gpu, "job": "dcgm"}, without))

    def at(errors: str, *numbers: int) -> list[dict[str, str]]:
        return [{**gpus[number], "error": error} for error in told[errors] for number in numbers]

    checks = (
        *(silent(recovered, minute) for minute in (19, 37)),
        *(fires(recovered, minute, *at("uncorrected", 0, 2)) for minute in (20, 30, 33)),
        silent(corrected, 22),
        *(fires(corrected, minute, *at("corrected", 0)) for minute in (23, 29)),
        fires(corrected, 30, *at("corrected", 0, 1)),
        silent(corrected, 38),
    )
    return shared("fabric-nvlink", "links that fail as their job ends", recovered.origin, inputs, *checks)

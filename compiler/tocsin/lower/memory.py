"""GPU memory that fails: uncorrected errors and rows that could not, or not yet, be replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import example_gpu, fires, series, shared, silent
from tocsin.plan.rules import Record, RuleGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.factory import Factory
    from tocsin.plan.rules import Alert, RuleTest

_GPU = naming.by(naming.GPU)


class Fault(NamedTuple):
    """A fault of a board's memory: the signal and metric that tell it, whom it calls, and what is told."""

    signal: str
    metric: str
    alert: str
    severity: str
    summary: str
    description: str


FAULTS = (
    Fault(
        "ecc_uncorrected",
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
        "GpuEccUncorrected",
        "page",
        "Uncorrected memory errors on a GPU of {{ $labels.node }}",
        "{{ $labels.gpu_uuid }} on {{ $labels.node }} counts {{ $value }} uncorrected memory errors "
        "since its driver was loaded: drain the node and reset the GPU.",
    ),
    Fault(
        "row_remap_failure",
        "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        "GpuRowRemapFailure",
        "page",
        "A GPU of {{ $labels.node }} cannot replace a bad memory row",
        "{{ $labels.gpu_uuid }} on {{ $labels.node }} has no spare row left: exchange the board.",
    ),
    Fault(
        "row_remap_pending",
        "DCGM_FI_DEV_ROW_REMAP_PENDING",
        "GpuRowRemapPending",
        "ticket",
        "A GPU of {{ $labels.node }} waits for a reset",
        "{{ $labels.gpu_uuid }} on {{ $labels.node }} replaces a bad memory row at its next reset: "
        "drain the node when its job ends.",
    ),
)


def memory(factory: Factory) -> RuleGroup:
    """One alert a fault. Each is a level, so that an error before the first scrape counts."""
    records, alerts = [], []
    for fault in FAULTS:
        signal = factory.signals[fault.signal]
        now = f"max by ({_GPU}) ({fault.metric})"
        records.append(Record(naming.MEMORY_FAULT, f"{now} > 0", {"fault": fault.signal}, signal.origin))
        alerts.append(
            signal_alert(
                factory,
                fault.alert,
                signal,
                fault.severity,
                # A board that falls silent keeps its fault for an hour; one that reports none was reset.
                expr=f'last_over_time({naming.MEMORY_FAULT}{{fault="{fault.signal}"}}[1h])\n'
                f"unless on ({_GPU}) ({now} == 0)",
                summary=fault.summary,
                description=fault.description,
                where=naming.GPU,
            )
        )
    return RuleGroup("gpu-memory", (*records, *alerts), (_test(factory, alerts),))


def _test(factory: Factory, alerts: Sequence[Alert]) -> RuleTest:
    """Per fault a board on which two jobs see it and which then falls silent, one that is reset, and one without."""
    inputs, expected = [], []
    for number, (fault, alert) in enumerate(zip(FAULTS, alerts, strict=True)):
        silenced, reset, fine = (example_gpu(factory, 3 * number + board) for board in range(3))
        copies = [{**silenced, "job": "dcgm", "job_id": job} for job in ("4711", "4712")]
        inputs += [series(fault.metric, copy, "0x9 1x10 stale") for copy in copies]
        inputs.append(series(fault.metric, {**reset, "job": "dcgm", "job_id": "4711"}, "0x9 1x5 stale"))
        inputs.append(series(fault.metric, {**reset, "job": "dcgm"}, "_x16 1x3 0x60"))
        inputs.append(series(fault.metric, {**fine, "job": "dcgm"}, "0x90"))
        told = [{**gpu, "fault": fault.signal} for gpu in (silenced, reset)]
        expected += [silent(alert, 9), fires(alert, 10, *told, value=1), fires(alert, 19, *told, value=1)]
        expected += [fires(alert, 20, told[0], value=1), fires(alert, 78, told[0], value=1), silent(alert, 82)]
    story = "it happens, and then the board falls silent, or is reset"
    return shared("gpu-memory", story, alerts[0].origin, inputs, *expected)

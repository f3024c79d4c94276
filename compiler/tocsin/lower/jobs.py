"""Job metadata: a GPU that works for nobody known is a GPU whose trouble reaches nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import example_gpu, fires, series, shared, silent
from tocsin.lower.throttling import BUSY, UTIL
from tocsin.plan.rules import RuleGroup
from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.plan.rules import Alert, RuleTest

_GPU = naming.by(naming.GPU)


def jobs(factory: Factory) -> RuleGroup | None:
    """GPUs that are busy while no job is mapped to them."""
    signal = factory.signals.get("job_metadata")
    if signal is None:
        return None
    alert = signal_alert(
        factory,
        "GpuWithoutJob",
        signal,
        "ticket",
        # A mean over time, since work pauses for a checkpoint, and then nobody would ever hear of it.
        expr=f'max by ({_GPU}) (avg_over_time({UTIL}{{job_id=""}}[10m])) > {BUSY}\n'
        f'unless on ({_GPU}) group by ({_GPU}) ({UTIL}{{job_id!=""}})',
        hold=Duration.of(minutes=10),
        summary="A GPU of {{ $labels.node }} works for no known job",
        description="{{ $labels.gpu_uuid }} on {{ $labels.node }} has been busy for ten minutes, but its series carry "
        "no job_id: check the scheduler's job mapping for dcgm-exporter.",
        where=naming.GPU,
    )
    return RuleGroup("gpu-jobs", (alert,), (_test(factory, alert),))


def _test(factory: Factory, alert: Alert) -> RuleTest:
    gpus = [example_gpu(factory, number) for number in range(7)]
    plain = [{**gpu, "job": "dcgm"} for gpu in gpus]
    named = [{**gpu, "job_id": "4711"} for gpu in plain]
    inputs = [
        *(series(UTIL, gpu, "98x9 stale") for gpu in named[:4]),
        series(UTIL, plain[0], "_x10 98x50"),  # its job ends, its work does not
        series(UTIL, plain[1], "_x10 98x3 0 0 0 98x40"),  # with a pause
        series(UTIL, plain[2], "_x10 40x50"),  # little work
        series(UTIL, plain[3], "_x10 98x8 stale"),  # the next job is mapped after nine minutes
        series(UTIL, {**plain[3], "job_id": "4712"}, "_x19 98x40"),
        series(UTIL, named[4], "98x60"),
        series(UTIL, plain[5], "0x19 98x40"),  # work begins, and no job
        series(UTIL, named[6], "98x9 stale"),
        series(UTIL, plain[6], "_x10 0x3 98x50"),  # its job ends, and four minutes later work begins
    ]
    story = "work goes on where a job ended"
    return shared(
        "gpu-jobs",
        story,
        alert.origin,
        inputs,
        silent(alert, 19),
        fires(alert, 20, gpus[0], gpus[1]),
        fires(alert, 34, gpus[0], gpus[1], gpus[6]),
        fires(alert, 35, gpus[0], gpus[1], gpus[5], gpus[6]),
    )

"""XID errors. The field keeps the last code until the driver is loaded again, so only a new code is news."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.catalog import xid_classes
from tocsin.lower.alerts import signal_alert
from tocsin.lower.presence import TEMP
from tocsin.lower.proofs import example_gpu, fires, series, shared, silent
from tocsin.plan import Record, RuleGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.factory import Factory
    from tocsin.plan import Alert, RuleTest

XID = "DCGM_FI_DEV_XID_ERRORS"
UNKNOWN = 9999  # a code of no class
_GPU = naming.by(naming.GPU)
_CODE = naming.by((*naming.GPU, "err_code"))


def xid(factory: Factory) -> RuleGroup | None:
    """New codes with the job that they hit, and an alert for each class of codes."""
    if "xid" not in factory.signals:
        return None
    alerts = [*_class_alerts(factory), _unclassified(factory)]
    firsts = [*(class_.codes[0] for class_ in xid_classes()), UNKNOWN]
    boards = [example_gpu(factory, number) for number in range(10)]
    tests = (
        _each_class(alerts, firsts, boards),
        _which_job(alerts[0], firsts[0], boards),
        _old_codes(alerts, firsts, boards),
    )
    return RuleGroup("gpu-xid", (*_records(factory), *alerts), tests)


def _records(factory: Factory) -> tuple[Record, ...]:
    """From the raw field to the codes that were new within the last hour, each with its board and its job."""
    origin = factory.signals["xid"].origin
    # A code is new while it has been there for less than half of the time for which its board was seen: through
    # gaps, and on a board whose first code ends a silence of the field, but not where it has stood all along.
    seen = f"sum by ({_CODE}) (count_over_time({XID}[30m]))"
    board = f"sum by ({_GPU}) (count_over_time({TEMP}[30m]))"
    edge = f"(max by ({_CODE}) ({XID}) > 0)\nand on ({_CODE}) ({seen} < on ({_GPU}) group_left () (0.5 * {board}))"
    # The job is read when the code is first seen: what is mapped to the board later has nothing to do with it. Where
    # the code came with the end of its job, it is the job before. Of two at once, nobody knows which it was.
    first = f"({naming.XID_EDGE} unless on ({_CODE}) last_over_time({naming.XID_EDGE}[10m] offset 1s))"
    jobs = f"({naming.GPU_JOB} or on ({_GPU}) last_over_time({naming.GPU_JOB}[5m]))"
    sole = f"{jobs} and on ({_GPU}) (count by ({_GPU}) {jobs} == 1)"
    with_job = f"{first} * on ({_GPU}) group_left (job_id) (\n  {sole}\n)\nor on ({_CODE}) {first}"
    job = f'group by ({_GPU}, job_id) ({TEMP}{{job_id!=""}})'
    return (
        Record(naming.GPU_JOB, job, {}, factory.signals["gpu_temp"].origin),
        Record(naming.XID_EDGE, edge, {}, origin),
        Record(naming.XID_FIRST, with_job, {}, origin),
        # A GPU that fell off the bus takes its series along: for an hour it is kept what was seen.
        Record(naming.XID_NEW, f"max_over_time({naming.XID_FIRST}[1h])", {}, origin),
    )


def _class_alerts(factory: Factory) -> list[Alert]:
    return [
        signal_alert(
            factory,
            f"GpuXid{class_.name.title()}",
            factory.signals["xid"],
            class_.severity,
            expr=f'{naming.XID_NEW}{{err_code=~"{_any(class_.codes)}"}}',
            layer=class_.layer,
            summary="XID {{ $labels.err_code }} on a GPU of {{ $labels.node }}",
            description=f"{{{{ $labels.gpu_uuid }}}} on {{{{ $labels.node }}}} reported XID "
            f"{{{{ $labels.err_code }}}} within the last hour: {class_.action}.",
        )
        for class_ in xid_classes()
    ]


def _unclassified(factory: Factory) -> Alert:
    known = tuple(code for class_ in xid_classes() for code in class_.codes)
    return signal_alert(
        factory,
        "GpuXidUnclassified",
        factory.signals["xid"],
        "ticket",
        expr=f'{naming.XID_NEW}{{err_code!~"{_any(known)}"}}',
        summary="XID {{ $labels.err_code }} on a GPU of {{ $labels.node }}",
        description="{{ $labels.gpu_uuid }} on {{ $labels.node }} reported XID {{ $labels.err_code }}, "
        "which is in no class: look it up and give it one.",
    )


def _any(codes: tuple[int, ...]) -> str:
    return "|".join(map(str, sorted(codes)))


def _each_class(alerts: Sequence[Alert], codes: Sequence[int], boards: Sequence[dict[str, str]]) -> RuleTest:
    """A code of each class on a board of its own, each of which then falls silent."""
    inputs, told = [], []
    for alert, code, gpu in zip(alerts, codes, boards, strict=False):
        inputs += [
            _temp(gpu, "60x22 stale", "4711"),
            _code(gpu, 0, "0x19 stale", "4711"),
            _code(gpu, code, f"_x20 {code}x2 stale", "4711"),
        ]
        told.append((alert, {**gpu, "err_code": str(code), "job_id": "4711"}))
    firing = [fires(alert, minute, labels) for minute in (20, 79) for alert, labels in told]
    quiet = [silent(alert, minute) for minute in (19, 82) for alert in alerts]
    return shared("gpu-xid", "a code of each class, then silence", alerts[0].origin, inputs, *firing, *quiet)


def _which_job(alert: Alert, code: int, boards: Sequence[dict[str, str]]) -> RuleTest:
    """The job is the one that ran when the code came, if there was exactly one."""
    zero, new = "0x39 stale", f"_x40 {code}x60"
    # The jobs of each board, when it shows no code, when it shows the code, and whom the alert names.
    stories: list[tuple[dict[str, str], str, str, tuple[str, ...]]] = [
        ({"1": "60x36 stale", "": "_x37 60x60"}, zero, new, ("1",)),  # ended four minutes before
        ({"2": "60x33 stale", "": "_x34 60x60"}, zero, new, ("",)),  # ended too long before
        ({"3": "60x38 stale", "4": "_x39 60x60"}, zero, new, ("4",)),  # another one has begun
        ({"5": "60x99", "6": "60x99"}, zero, new, ("",)),  # two at once
        ({"7": "60x15 stale _x23 60x60"}, "0x15 stale", new, ("7",)),  # nobody looked for 24 minutes
        ({"8": "_x38 60x60"}, "_x38 0 0 stale", new, ("8",)),  # the board has only just been found
        # Seen again after seven minutes: the same code. After a reset and a quarter of an hour: another one.
        ({"9": "60x41 stale", "10": "_x49 60x60"}, zero, f"_x40 {code}x1 stale _x6 {code}x60", ("9",)),
        (
            {"11": "60x41 stale", "12": "_x42 60x60"},
            "0x39 stale _ 0x12 stale",
            f"_x40 {code} stale _x13 {code}x9",
            ("11", "12"),
        ),
    ]
    inputs, told = [], []
    for gpu, (jobs, without, with_, named) in zip(boards, stories, strict=False):
        inputs += [_temp(gpu, values, job) for job, values in jobs.items()]
        inputs += [_code(gpu, 0, without, ""), _code(gpu, code, with_, "")]
        told += [{**gpu, "err_code": str(code), **_job(job)} for job in named]
    return shared("gpu-xid", "the job that ran when the code came", alert.origin, inputs, fires(alert, 60, *told))


def _old_codes(alerts: Sequence[Alert], codes: Sequence[int], boards: Sequence[dict[str, str]]) -> RuleTest:
    """Codes that were there all along: jobs that change, gaps, and a return after a long silence make them no news."""
    inputs = []
    for code, gpu in zip(codes, boards, strict=False):
        inputs += [_temp(gpu, "60x90", ""), _code(gpu, code, f"{code}x9 stale", "1")]
        inputs += [_code(gpu, code, f"_x10 {code}x9 _x5 {code}x60", "2")]
    gone = boards[len(codes)]
    inputs += [_temp(gone, "60x9 stale _x49 60x30", ""), _code(gone, 0, "0x9 stale", "")]
    inputs += [_code(gone, codes[0], f"_x60 {codes[0]}x30", "")]
    quiet = [silent(alert, minute) for minute in (3, 26, 40, 61) for alert in alerts]
    return shared("gpu-xid", "codes that were there before", alerts[0].origin, inputs, *quiet)


def _temp(gpu: dict[str, str], values: str, job: str) -> tuple[str, str]:
    return series(TEMP, {**gpu, "job": "dcgm", **_job(job)}, values)


def _code(gpu: dict[str, str], code: int, values: str, job: str) -> tuple[str, str]:
    return series(XID, {**gpu, "job": "dcgm", "err_code": str(code), **_job(job)}, values)


def _job(job: str) -> dict[str, str]:
    return {"job_id": job} if job else {}

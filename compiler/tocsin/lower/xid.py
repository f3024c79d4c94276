"""XID errors. The field keeps the last code until the driver is loaded again, so only a new code is news."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.presence import TEMP
from tocsin.lower.proofs import example_gpu, fires, series, shared, silent
from tocsin.plan.rules import Record, RuleGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.factory import Factory
    from tocsin.plan.rules import Alert, RuleTest

XID = "DCGM_FI_DEV_XID_ERRORS"
UNKNOWN = 9999  # a code of no class
JOBS = 11  # boards of the test whose jobs are named
_GPU = naming.by(naming.GPU)
_CODE = naming.by((*naming.GPU, "err_code"))

_JOB = "{{ if $labels.job_id }} It worked for job {{ $labels.job_id }}.{{ end }}"


def xid(factory: Factory) -> RuleGroup | None:
    """New codes with the job that they hit, and an alert for each class of codes."""
    if "xid" not in factory.signals:
        return None
    alerts = [*_class_alerts(factory), _unclassified(factory)]
    firsts = [*(class_.codes[0] for class_ in factory.xid_classes), UNKNOWN]
    boards = [example_gpu(factory, number) for number in range(2 * len(firsts) + JOBS + 1)]
    return RuleGroup("gpu-xid", (*_records(factory), *alerts), (_test(alerts, firsts, boards),))


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
            f"GpuXid{naming.titled(class_.name)}",
            factory.signals["xid"],
            class_.severity,
            expr=f'{naming.XID_NEW}{{err_code=~"{_any(class_.codes)}"}}',
            layer=class_.layer,
            summary=f"XID {{{{ $labels.err_code }}}} on a GPU of {{{{ $labels.node }}}}: {class_.action}",
            description="{{ $labels.gpu_uuid }} on {{ $labels.node }} reported XID {{ $labels.err_code }} within the "
            f"last hour.{_JOB} What to do: {class_.action}.",
            where=naming.GPU,
        )
        for class_ in factory.xid_classes
    ]


def _unclassified(factory: Factory) -> Alert:
    known = tuple(code for class_ in factory.xid_classes for code in class_.codes)
    return signal_alert(
        factory,
        "GpuXidUnclassified",
        factory.signals["xid"],
        "ticket",
        expr=f'{naming.XID_NEW}{{err_code!~"{_any(known)}"}}',
        summary="XID {{ $labels.err_code }} on a GPU of {{ $labels.node }}",
        description="{{ $labels.gpu_uuid }} on {{ $labels.node }} reported XID {{ $labels.err_code }}, which tocsin "
        f"does not know.{_JOB} Look it up in NVIDIA's list of XID errors.",
        where=naming.GPU,
    )


def _any(codes: tuple[int, ...]) -> str:
    return "|".join(map(str, sorted(codes)))


Input = tuple[str, str]
Place = dict[str, str]


def _test(alerts: Sequence[Alert], codes: Sequence[int], boards: Sequence[Place]) -> RuleTest:
    """A code of each class on a board of its own, which then falls silent; whose job is named; codes that are old."""
    count = len(codes)
    new, places = _new_codes(codes, boards[:count])
    hit, jobs = _jobs(codes[0], boards[count : count + JOBS])
    inputs = [*new, *hit, *_old_codes(codes, boards[count + JOBS :])]
    first, *rest = zip(alerts, places, strict=True)
    checks = [silent(alert, minute) for minute in (3, 19) for alert in alerts]
    checks += [fires(alert, 20, place) for alert, place in (first, *rest)]
    checks += [fires(alert, minute, place) for minute in (26, 61, 79) for alert, place in rest]
    checks += [silent(alert, 82) for alert, _ in rest]
    checks += [fires(first[0], minute, first[1], *jobs) for minute in (60, 79)]
    checks.append(fires(first[0], 82, *jobs))
    return shared(
        "gpu-xid", "codes of each class, their jobs, and codes that are old", first[0].origin, inputs, *checks
    )


def _new_codes(codes: Sequence[int], boards: Sequence[Place]) -> tuple[list[Input], list[Place]]:
    """For two minutes each board shows a code, then it falls silent."""
    inputs = []
    for code, gpu in zip(codes, boards, strict=True):
        inputs += [_temp(gpu, "60x22 stale", "4711"), _code(gpu, 0, "0x19 stale", "4711")]
        inputs.append(_code(gpu, code, f"_x20 {code}x2 stale", "4711"))
    return inputs, [{**gpu, "err_code": str(code), "job_id": "4711"} for code, gpu in zip(codes, boards, strict=True)]


def _jobs(code: int, boards: Sequence[Place]) -> tuple[list[Input], list[Place]]:
    """At minute 40 each board shows the code: the alert names the job that ran, if there was exactly one."""
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
        # The same where nobody works for the second time.
        (
            {"13": "60x41 stale", "": "_x42 60x60"},
            "0x39 stale _ 0x12 stale",
            f"_x40 {code} stale _x13 {code}x9",
            ("13", ""),
        ),
        # Of two that ended one after the other it was the later one.
        ({"14": "60x32 stale", "15": "_x33 60x4 stale", "": "_x38 60x60"}, zero, new, ("15",)),
        # It stood there until minute 9, and the board was away for a quarter of an hour.
        ({"16": "60x9 stale _x15 60x60"}, "_x25 0x14 stale", f"{code}x9 stale _x30 {code}x60", ("16",)),
    ]
    inputs, places = [], []
    for gpu, (jobs, without, with_, named) in zip(boards, stories, strict=True):
        inputs += [_temp(gpu, values, job) for job, values in jobs.items()]
        inputs += [_code(gpu, 0, without, ""), _code(gpu, code, with_, "")]
        places += [{**gpu, "err_code": str(code), **_job(job)} for job in named]
    return inputs, places


def _old_codes(codes: Sequence[int], boards: Sequence[Place]) -> list[Input]:
    """Codes that were there all along: jobs that change, gaps, and a return after a long silence make them no news."""
    inputs = []
    for code, gpu in zip(codes, boards, strict=False):
        inputs += [_temp(gpu, "60x90", ""), _code(gpu, code, f"{code}x9 stale", "1")]
        inputs.append(_code(gpu, code, f"_x10 {code}x9 _x5 {code}x60", "2"))
    gone = boards[-1]
    inputs += [_temp(gone, "60x9 stale _x49 60x30", ""), _code(gone, 0, "0x9 stale", "")]
    return [*inputs, _code(gone, codes[0], f"_x60 {codes[0]}x30", "")]


def _temp(gpu: Place, values: str, job: str) -> Input:
    return series(TEMP, {**gpu, "job": "dcgm", **_job(job)}, values)


def _code(gpu: Place, code: int, values: str, job: str) -> Input:
    return series(XID, {**gpu, "job": "dcgm", "err_code": str(code), **_job(job)}, values)


def _job(job: str) -> dict[str, str]:
    return {"job_id": job} if job else {}

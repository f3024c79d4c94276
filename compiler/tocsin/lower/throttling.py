"""Throttling. The field is a bitmask whose bit 1 means an idle GPU: each reason is decoded before anything is asked."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.cases import Case, group
from tocsin.lower.proofs import example_gpu, fires, series, shared, silent
from tocsin.plan.rules import Reading, Record, RuleGroup
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from tocsin.factory import Factory
    from tocsin.lower.cases import Input
    from tocsin.plan.rules import Alert, RuleTest

REASONS = "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"
UTIL = "DCGM_FI_DEV_GPU_UTIL"
BUSY = 50  # percent of the time from which on a board works
CLOCK, MAX_CLOCK = "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_MAX_SM_CLOCK"
# DCGM's bits (dcgm_fields.h). 4, the software power cap, is normal for training at its power limit and only recorded.
BITS = {"sw_power_cap": 4, "sw_thermal": 32, "hw_thermal": 64, "hw_power_brake": 128}
TOLD = (2, 4, 8, 16, 32, 64, 128, 256)  # every reason but 1, that it rests
SLOWDOWN = "hw_slowdown"  # 8: set beside 64 and 128 as well, so that it says something only where both are missing
FAULTS = "|".join((*(reason for reason in BITS if reason != "sw_power_cap"), SLOWDOWN))
LONG = Fraction(1, 4)  # the share of ten minutes from which on a working board was slow for long
_GPU = naming.by(naming.GPU)


def throttling(factory: Factory) -> RuleGroup | None:
    """One 0/1 series a reason, and an alert where heat or a power brake slows a GPU that works."""
    signal = factory.signals.get("throttle_reasons")
    if signal is None:
        return None
    mask = f"max by ({_GPU}) ({REASONS})"
    unexplained = f"floor({mask} / 8) % 2 * (floor({mask} / 64) % 4 == bool 0)"
    records = (
        # What an instance of MIG shows is nothing, or nought however much it works: it tells of no board that it idles.
        Record(naming.GPU_UTIL, f"max by ({_GPU}) ({whole(factory)})", {}, factory.signals["gpu_util"].origin),
        *(
            Record(naming.THROTTLED, f"floor({mask} / {bit}) % 2", {"reason": reason}, signal.origin)
            for reason, bit in BITS.items()
        ),
        Record(naming.THROTTLED, unexplained, {"reason": SLOWDOWN}, signal.origin),
    )
    alert = signal_alert(
        factory,
        "GpuThrottled",
        signal,
        "ticket",
        # A share of time, since a hot GPU throttles in bursts. Not without load, since an idle one rests by design;
        # where the driver tells no utilisation, as under MIG, nobody knows that it idles.
        expr=f'avg_over_time({naming.THROTTLED}{{reason=~"{FAULTS}"}}[10m]) > {number(LONG)}\n'
        f"unless on ({_GPU}) avg_over_time({naming.GPU_UTIL}[10m]) <= {BUSY}",
        hold=Duration.of(minutes=2),
        summary="A working GPU of {{ $labels.node }} is throttled: {{ $labels.reason }}",
        description="{{ $labels.gpu_uuid }} on {{ $labels.node }} was slowed down by {{ $labels.reason }} for more "
        "than a quarter of the last ten minutes while it had work.",
        where=naming.GPU,
    )
    return RuleGroup("gpu-throttling", (*records, alert), (_test(factory, alert),))


def clocks(factory: Factory) -> RuleGroup | None:
    """Boards that are slow at work, and say of no reason that it holds them down."""
    share = factory.limits.get("gpu_clock_share")
    if share is None or "throttle_reasons" not in factory.signals:
        return None
    reasons = " + ".join(f"floor(max by ({_GPU}) ({REASONS}) / {bit}) % 2" for bit in TOLD)
    alert = signal_alert(
        factory,
        "GpuClockLow",
        factory.signals["sm_clock"],
        "ticket",
        expr=f"max by ({_GPU}) (avg_over_time({CLOCK}[10m])) / max by ({_GPU}) ({MAX_CLOCK}) < {number(share)}\n"
        f"and on ({_GPU}) (max by ({_GPU}) (avg_over_time({whole(factory)}[10m])) > 90)\n"
        f"unless on ({_GPU}) (max_over_time((\n  {reasons}\n)[10m:1m]) > 0)",
        hold=Duration.of(minutes=2),
        summary="A working GPU of {{ $labels.node }} is slow and does not say why",
        description="{{ $labels.gpu_uuid }} on {{ $labels.node }} ran at {{ $value | humanizePercentage }} of its "
        "highest clock for ten minutes while it had work, and tells no reason: read its clocks and its power supply.",
    )
    place, inputs = _low_and_others(factory, share)
    story = "boards that are slow without a reason, with one, and at rest"
    return group("gpu-clocks", story, [Case(alert, 17, 18, place, inputs, float(share))])


def _low_and_others(factory: Factory, share: Fraction) -> tuple[dict[str, str], list[Input]]:
    """A board whose clock falls at minute 10, so that its mean is too low at minute 16, and boards that are well.

    Of these one lies at the limit; one rests, one half of the time, one until minute 10; and each told reason is one's,
    beside that it rests, or was until minute 9. Clocks differ by so little that all means are printed alike. Where
    boards have instances, of one nothing is known but how busy an instance is.
    """
    limit = share * 2000
    high, most, low = number(limit + Fraction(34, 1000)), number(limit), number(limit - Fraction(20, 1000))
    stories = [
        (f"{high}x9 {low}x40", "98x2 0x2 98x60", "4x5 0x60"),
        (f"{most}x60", "98x60", "0x60"),
        ("345x60", "0x60", "0x60"),
        (f"{low}x60", "60x60", "0x60"),
        (f"{low}x60", "0x10 98x60", "0x60"),
        (f"{low}x60", "98x60", "4x9 0x60"),
        *((f"{low}x60", "98x60", f"{bit + 1}x60") for bit in TOLD),
    ]
    inputs: list[Input] = []
    for index, (clock, load, reason) in enumerate(stories):
        board = {**example_gpu(factory, index), "job": "dcgm"}
        inputs += [(CLOCK, board, clock), (MAX_CLOCK, board, "2000x60"), (UTIL, board, load), (REASONS, board, reason)]
    if factory.has_instances:
        split = {**example_gpu(factory, len(stories)), "job": "dcgm"}
        inputs += [(CLOCK, split, f"{low}x60"), (MAX_CLOCK, split, "2000x60"), (REASONS, split, "0x60")]
        inputs.append((UTIL, {**split, "gpu_i_id": "1"}, "98x60"))
    return example_gpu(factory), inputs


def whole(factory: Factory) -> str:
    """The utilisation of whole boards."""
    return f'{UTIL}{{gpu_i_id=""}}' if factory.has_instances else UTIL


# What each board shows from minute 20 on, how busy it is, and the reason that is told of it.
_STORIES = (
    ("68", "98x60", "hw_thermal"),
    ("36", "98x60", "sw_thermal"),
    ("132", "98x60", "hw_power_brake"),
    ("12", "98x60", SLOWDOWN),
    ("76", "98x60", "hw_thermal"),  # hardware slowdown because of heat is one fault
    ("68", "60x60", "hw_thermal"),
    ("68", "", "hw_thermal"),  # no utilisation is known but that of an instance
    ("68", "98x31 0x30", "hw_thermal"),  # its work ends at minute 32
    ("68", "40x60", ""),
    ("64", "0x60", ""),
    ("4", "98x60", ""),  # at its power limit
    ("260", "98x60", ""),  # display clocks
    ("278", "98x60", ""),  # application clocks and sync boost beside them
    ("1", "0x60", ""),  # idle
)


def _test(factory: Factory, alert: Alert) -> RuleTest:
    inputs, told = [], []
    boards = [{**example_gpu(factory, number), "job": "dcgm"} for number in range(len(_STORIES) + 2)]
    for gpu, (bits, load, reason) in zip(boards, _STORIES, strict=False):
        inputs.append(series(REASONS, gpu, f"{'1' if bits == '1' else '4'}x19 {bits}x40"))
        if load or factory.has_instances:
            inputs.append(series(UTIL, gpu if load else {**gpu, "gpu_i_id": "1"}, load or "0x60"))
        told += [{**{label: gpu[label] for label in naming.GPU}, "reason": reason}] if reason else []
    often, rarely = boards[-2:]
    inputs += [series(REASONS, often, "4x19" + " 64 4 4" * 13), series(UTIL, often, "98x60")]
    inputs += [series(REASONS, rarely, "4x19" + " 64 4 4 4 4" * 8), series(UTIL, rarely, "98x60")]
    bursts = {**{label: often[label] for label in naming.GPU}, "reason": "hw_thermal"}
    ended = {**{label: boards[7][label] for label in naming.GPU}, "reason": "hw_thermal"}
    resting = [place for place in told if place != ended]
    # What nobody is told is recorded all the same: who is at its power limit.
    capped = sum(1 for bits, _, _ in _STORIES if int(bits) & BITS["sw_power_cap"])
    cluster = example_gpu(factory)["cluster"]
    limited = Reading(
        Duration.of(minutes=24),
        f'sum by (cluster) ({naming.THROTTLED}{{reason="sw_power_cap"}})',
        ((f'{{cluster="{cluster}"}}', str(capped + 2)),),
    )
    test = shared(
        "gpu-throttling",
        "boards that are slowed down at work, and boards that are not",
        alert.origin,
        inputs,
        silent(alert, 23),
        fires(alert, 24, *told),
        fires(alert, 35, *told, bursts),
        fires(alert, 38, *resting, bursts),
    )
    return test._replace(readings=(limited,))

"""Counters and gauges: functions of the one mean nothing of the other, and codes and masks are neither."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promql import Range

if TYPE_CHECKING:
    from tocsin.promql import Call
    from tocsin.promtypes.checker import Checker
    from tocsin.promtypes.vector import Vector

_WHY = {
    "level": "is a gauge, which goes up and down",
    "ratio": "is a gauge, a share of 0 to 1",
    "percent": "is a gauge, a percentage",
    "code": "is a gauge that holds a code, not a count of its events",
    "bits": "is a gauge that holds a bitmask",
    "flag": "is a gauge of 0 or 1",
    "window": "is a gauge that counts within a window, which slides: what leaves it looks like a restart",
    "throughput": "is a gauge that is per second already",
    "rate": "is a rate already",
    "increase": "is an increase already",
    "change": "is a difference, which goes up and down",
    "samples": "is a count of samples",
    "quotient": "is a quotient, which goes up and down",
    "timestamp": "is a gauge that holds a moment",
    "info": "is a gauge that is always 1",
}


def check_counter(checker: Checker, call: Call, vector: Vector) -> bool:
    """Whether a function of counters has one; else that is told."""
    quantity, name = vector.quantity, call.function
    if vector.sum_of and quantity.reading == "total":
        what = f"`{name}()` of a sum of counters: a restart of one looks like a fall of the sum"
        checker.tell("PQL201", what, call, f"take the rate of each first: sum by (…) ({name}(…[5m]))")
    elif quantity.is_gauge:
        what = f"`{name}()` needs a counter, and {quantity.name} {_WHY[quantity.reading]}"
        checker.tell("PQL201", what, call, _instead(checker, call, vector))
    else:
        return True
    return False


# How what was meant is written, by what the gauge holds.
_INSTEAD = {
    "code": "compare the value itself, as in {asked} == 1",
    "info": "compare the value itself, as in {asked} == 1",
    "bits": "take a bit out first: floor({asked} / 64) % 2 == 1",
    "throughput": "write {asked}",
    "window": "write {asked}",
    "timestamp": "its age is time() - {asked}",
    "flag": "write {asked} == 1, or changes({asked}[5m])",
    "level": "compare the value itself, or its change: {other}({range})",
    "ratio": "compare the value itself, or its change: {other}({range})",
    "percent": "compare the value itself, or its change: {other}({range})",
}


def _instead(checker: Checker, call: Call, vector: Vector) -> str:
    metric, arg, by = vector.quantity.metric, call.args[0], ", ".join(vector.entity)
    if not isinstance(arg, Range):
        return "leave the function out, or ask for the counter of the same thing"
    asked = checker.source(arg.selector)
    if metric and metric.latched:
        now, before = f"max by ({by}) ({asked})", f"max by ({by}) ({asked} offset 5m)"
        return f"write ({now} > 0) unless on ({by}) ({before} > 0), which holds when a code is new"
    other = "delta" if call.function == "increase" else "deriv"
    return _INSTEAD.get(vector.quantity.reading, "write {asked}").format(
        asked=asked, other=other, range=checker.source(arg)
    )


def check_level(checker: Checker, call: Call, vector: Vector) -> bool:
    """Whether a function of gauges has one whose values can be added up or lie on a line; else that is told."""
    quantity, name, picks = vector.quantity, call.function, call.function.startswith(("min_", "max_", "last_"))
    arg = checker.source(call.args[-1]) if name == "quantile_over_time" else checker.source(call.args[0])
    if quantity.reading == "bits" and name != "last_over_time":
        check_mask(checker, f"`{name}()`", call, vector)
    elif picks:
        return True
    elif quantity.reading == "total":
        what = f"{quantity.name} is a counter: `{name}()` of it says how long it has counted, and jumps at a restart"
        use = "increase" if name in ("delta", "idelta", "sum_over_time") else "rate"
        checker.tell("PQL202", what, call, f"write {use}({arg})")
    elif quantity.reading == "code":
        what = f"{quantity.name} holds a code: `{name}()` of codes is none of them"
        checker.tell("PQL206", what, call, "count them by count_values(), or compare with one: == 79")
    elif quantity.reading == "window" and name == "sum_over_time":
        what = f"{quantity.name} counts within a window: each event is in many samples, and is added as often"
        checker.tell("PQL202", what, call, f"write max_over_time({arg})")
    else:
        return True
    return False


def check_mask(checker: Checker, what: str, call: Call, vector: Vector) -> None:
    """Tell what would mix the bits of several masks."""
    selector = call.args[0].selector if isinstance(call.args[0], Range) else None
    window = checker.text[call.args[0].start : call.args[0].end].rpartition("[")[2]
    by = ", ".join(vector.entity)
    inner = f"max by ({by}) ({checker.source(selector)})" if selector else "…"
    hint = f"take each bit out first: avg_over_time((floor({inner} / 64) % 2)[{window.rstrip(']')}:1m])"
    checker.tell("PQL205", f"{what} of a bitmask mixes its bits: {vector.quantity.name} holds reasons", call, hint)

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
    "timestamp": "is a gauge that holds a moment",
    "info": "is a gauge that is always 1",
}
_INSTEAD = {"rate": "deriv", "irate": "deriv", "increase": "delta"}


def check_counter(checker: Checker, call: Call, vector: Vector) -> None:
    """A function of counters has one."""
    quantity, name = vector.quantity, call.function
    if vector.sum_of and quantity.reading == "total":
        what = f"`{name}()` of a sum of counters: a restart of one looks like a fall of the sum"
        checker.tell("PQL201", what, call, f"take the rate of each first: sum by (…) ({name}(…[5m]))")
    elif quantity.is_gauge:
        what = f"`{name}()` needs a counter, and {quantity.name} {_WHY[quantity.reading]}"
        checker.tell("PQL201", what, call, _instead(checker, call, vector))


def _instead(checker: Checker, call: Call, vector: Vector) -> str:
    """How what was meant is written."""
    reading, arg = vector.quantity.reading, call.args[0]
    asked = checker.source(arg.selector) if isinstance(arg, Range) else "…"
    metric, by = vector.quantity.metric, ", ".join(vector.entity)
    if reading == "code" and metric and metric.latched:
        now = f"max by ({by}) ({asked})"
        before = f"max by ({by}) ({asked} offset 5m)"
        return f"write ({now} > 0) unless on ({by}) ({before} > 0), which holds when a code is new"
    if reading in ("code", "info"):
        return f"write changes(max_over_time…) or compare the value itself: {asked} == 1"
    if reading == "bits":
        return f"take a bit out first: floor({asked} / 64) % 2 == 1"
    if reading in ("throughput", "rate", "increase", "window"):
        return f"write {asked}" if asked != "…" else "leave the function out"
    if reading == "timestamp":
        return f"its age is time() - {asked}"
    if reading == "flag" and call.function != "resets":
        return f"write {asked} == 1, or changes({checker.source(arg)})"
    if call.function in _INSTEAD and asked != "…":
        other = _INSTEAD[call.function]
        return f"compare the value itself, or its change: {other}({checker.source(arg)})"
    return "ask for the counter of the same thing"


def check_level(checker: Checker, call: Call, vector: Vector) -> None:
    """A function of gauges has one whose values can be added up or lie on a line."""
    quantity, name, picks = vector.quantity, call.function, call.function.startswith(("min_", "max_", "last_"))
    arg = checker.source(call.args[-1]) if name == "quantile_over_time" else checker.source(call.args[0])
    if quantity.reading == "bits" and name != "last_over_time":
        check_mask(checker, f"`{name}()`", call, vector)
    elif picks:
        return
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


def check_mask(checker: Checker, what: str, call: Call, vector: Vector) -> None:
    """Tell what would mix the bits of several masks."""
    selector = call.args[0].selector if isinstance(call.args[0], Range) else None
    window = checker.text[call.args[0].start : call.args[0].end].rpartition("[")[2]
    by = ", ".join(vector.entity)
    inner = f"max by ({by}) ({checker.source(selector)})" if selector else "…"
    hint = f"take each bit out first: avg_over_time((floor({inner} / 64) % 2)[{window.rstrip(']')}:1m])"
    checker.tell("PQL205", f"{what} of a bitmask mixes its bits: {vector.quantity.name} holds reasons", call, hint)

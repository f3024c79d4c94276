"""Functions: which numbers each of them takes, and what it makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.catalog import units
from tocsin.promql import Aggregation, Number, Paren, Range, String, Subquery, metric_names
from tocsin.promtypes.absence import check_absent
from tocsin.promtypes.gauges import check_counter, check_level
from tocsin.promtypes.quantity import ANY, Quantity, number, per_second
from tocsin.promtypes.ranges import check_window
from tocsin.promtypes.selectors import no_label
from tocsin.promtypes.vector import Vector, scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.promql import Call, Expr
    from tocsin.promtypes.checker import Checker

    Maker = Callable[[Checker, Call, list[Vector]], Vector]

RATES = ("rate", "irate", "increase")
_SLOPES = ("delta", "idelta", "deriv", "predict_linear")
_MEANS = ("avg_over_time", "sum_over_time", "quantile_over_time", "stddev_over_time", "stdvar_over_time")
_PICKS = ("min_over_time", "max_over_time", "last_over_time")
_COUNTS = ("changes", "resets", "count_over_time", "present_over_time", "absent_over_time")
_ANY_WINDOW = ("last_over_time", "present_over_time", "absent_over_time", "count_over_time")
_SAME = ("abs", "ceil", "floor", "round", "sort", "sort_desc")
_CLOCK = ("year", "month", "day_of_month", "day_of_week", "day_of_year", "days_in_month", "hour", "minute")


def called(checker: Checker, call: Call) -> Vector:
    """The type of a call."""
    name = call.function
    args = [checker.infer(arg) for arg in call.args]
    for arg, vector in zip(call.args, args, strict=True):
        if isinstance(arg, Range | Subquery) and name not in _ANY_WINDOW:
            check_window(checker, call, arg, vector)
    if name in _MAKERS:
        return _MAKERS[name](checker, call, args)
    vector = args[1] if name == "quantile_over_time" else args[0]
    return _ranged(checker, call, vector) if vector.window else _instant(call, vector)


def check_share(checker: Checker, name: str, arg: Expr) -> None:
    """A quantile is a share of 0 to 1."""
    if isinstance(arg, Number) and not 0 <= arg.value <= 1:
        hint = f"write {arg.value / 100:g}" if 1 < arg.value <= 100 else "write one such as 0.99"
        checker.tell("PQL217", f"`{name}()` takes a share of 0 to 1, not {arg.value:g}", arg, hint)


def _time() -> Quantity:
    return Quantity("timestamp", "seconds", (("second", 1),), None, low=0)


def _ranged(checker: Checker, call: Call, vector: Vector) -> Vector:
    """A function over a range."""
    name, quantity = call.function, vector.quantity
    vector = vector._replace(window=0, standing=())
    if name == "quantile_over_time":
        check_share(checker, name, call.args[0])
    if name == "changes":
        _check_changes(checker, call, vector)
    if name == "count_over_time" and quantity.reading in ("code", "bits"):
        # How many samples there are says nothing of what they hold: only more or less of them does.
        return vector._replace(quantity=Quantity("samples", low=1, metric=quantity.metric), copies=frozenset())
    if name in (*RATES, "resets") and not check_counter(checker, call, vector):
        return vector.unsound
    if name in (*_SLOPES, *_MEANS, *_PICKS) and not check_level(checker, call, vector):
        return vector.unsound
    if name in _COUNTS:
        counted = number(1, 1) if name == "present_over_time" else number(1 if name == "count_over_time" else 0)
        # Samples are a series' own: those of copies may be added up, since each was there at another time.
        return vector._replace(quantity=counted, copies=frozenset() if name == "count_over_time" else vector.copies)
    return vector.of(_numbers(call, quantity, vector))


def _numbers(call: Call, quantity: Quantity, vector: Vector) -> Quantity:
    """What a function over a range makes of sound numbers."""
    name = call.function
    if name in RATES:
        return _rate(name, quantity, vector, _window(call))
    if name in _SLOPES:
        reading = "level" if name == "predict_linear" else "change"
        of = per_second(quantity.of) if name == "deriv" else quantity.of
        slope = quantity._replace(reading=reading, of=of, low=None, high=None, share=False)
        return slope if quantity.reading != "any" else ANY
    return _mean(name, quantity) if name in _MEANS else quantity


def _window(call: Call) -> int:
    arg = call.args[0]
    return arg.duration.milliseconds if isinstance(arg, Range | Subquery) else 0


def _rate(name: str, quantity: Quantity, vector: Vector, window: int) -> Quantity:
    """The rate or the increase of a counter; the time of one thing grows by a second a second at most."""
    if quantity.reading == "any":
        return Quantity("any", low=0)
    reading, of = ("increase", quantity.of) if name == "increase" else ("rate", per_second(quantity.of))
    high = None
    if quantity.metric and quantity.metric.share and quantity.times and not vector.sum_of:
        high = float(1 / quantity.times) * (window / 1000 if name == "increase" else 1)
    unit = quantity.unit if name == "increase" else f"{quantity.unit}/s"
    return quantity._replace(reading=reading, unit=unit, of=of, low=0.0, high=high, share=of == () and high is not None)


def _mean(name: str, quantity: Quantity) -> Quantity:
    if quantity.reading == "any" or name in ("avg_over_time", "quantile_over_time"):
        return quantity._replace(reading="ratio", share=True) if quantity.reading == "flag" else quantity
    if name == "sum_over_time":
        return quantity._replace(reading="level", high=None, share=False, whole=True)
    return quantity._replace(reading="change", low=0.0, high=None, share=False)


def _check_changes(checker: Checker, call: Call, vector: Vector) -> None:
    metric = vector.quantity.metric
    if metric and metric.spells and vector.labels.can_be(metric.spells):
        group = ", ".join(label for label in vector.entity if label != metric.spells)
        what = f"{metric.name} has its value in the label `{metric.spells}` too: another value is another series"
        hint = f"write changes((max by ({group}) ({metric.name}))[5m:1m])"
        checker.tell("PQL206", f"{what}, so none ever changes", call, hint)


def _instant(call: Call, vector: Vector) -> Vector:
    name, quantity = call.function, vector.quantity
    if name in _SAME:
        return vector.of(quantity._replace(constant=None)) if name != "floor" else vector.of(_floored(quantity))
    if name.startswith("clamp"):
        return vector.of(_clamped(name, call, quantity))
    if name == "sgn":
        return vector.of(number(-1, 1))
    return vector.of(number())


def _floored(quantity: Quantity) -> Quantity:
    return quantity._replace(unit="floored", constant=None) if quantity.reading == "bits" else quantity


def _clamped(name: str, call: Call, quantity: Quantity) -> Quantity:
    limits = [arg.value if isinstance(arg, Number) else None for arg in call.args[1:]]
    low, high = quantity.low, quantity.high
    if name != "clamp_max" and limits[0] is not None:
        low = limits[0] if low is None else max(low, limits[0])
    if name != "clamp_min" and limits[-1] is not None:
        high = limits[-1] if high is None else min(high, limits[-1])
    return quantity._replace(low=low, high=high)


def _relabelled(checker: Checker, call: Call, vector: Vector) -> Vector:
    """label_replace and label_join: what they read is there, what they write is there afterwards."""
    sources = call.args[3:4] if call.function == "label_replace" else call.args[3:]
    for arg in sources:
        if isinstance(arg, String) and arg.value and not vector.labels.can_be(arg.value):
            message, place, hint = no_label(arg.value, vector.labels, "what is relabelled", (arg.start, arg.end))
            checker.tell("PQL208", message, place, hint)
    written = call.args[1]
    if isinstance(written, String):
        key = None if vector.key is None or written.value in vector.key else vector.key
        return vector._replace(labels=vector.labels.plus([written.value]), key=key)
    return vector


def _histogram(checker: Checker, call: Call, args: list[Vector]) -> Vector:
    """Quantiles of a histogram: of rates of its buckets, which must still be told apart."""
    buckets, node = args[-1], call.args[-1]
    if call.function not in ("histogram_quantile", "histogram_fraction"):
        return buckets.of(number())
    if call.function == "histogram_quantile":
        check_share(checker, call.function, call.args[0])
    quantity, metric = buckets.quantity, buckets.quantity.metric
    if metric and (metric.type != "histogram" or quantity.unit not in ("observations", "observations/s")):
        what = f"`{call.function}()` needs the buckets of a histogram, and {metric.name} is no bucket"
        checker.tell("PQL215", what, node, "write it of rate(…_bucket[5m]), summed by le")
    elif quantity.reading == "total" and metric:
        what = "these buckets count since their process began: the quantile is that of its whole life"
        inner = checker.source(node)
        hint = f"write {call.function}({checker.source(call.args[0])}, rate({inner}[5m]))"
        plain = not isinstance(node, Aggregation | Paren)
        hint = hint if plain else "take the rate of the buckets before their sum"
        checker.tell("PQL215", what, node, hint, shown=True)
    elif not buckets.labels.can_be("le") and any(name.endswith("_bucket") for name in metric_names(node)):
        what = "the buckets are told apart by `le`, which this aggregation takes off"
        checker.tell("PQL215", what, node, "aggregate by (le, …)")
    elif metric and not buckets.labels.can_be("le"):
        what = f"`{call.function}()` needs the buckets of {metric.name}, and this is how many observations it has"
        checker.tell("PQL215", what, node, "write it of rate(…_bucket[5m]), summed by le")
    base = metric.unit if metric else ""
    labels = buckets.labels.without(["le"])
    if call.function == "histogram_fraction" or not metric:
        return Vector(number(0), labels)
    unit = units().get(base)
    made = Quantity("level", base, unit.of if unit else None, unit.times if unit else None, metric, low=0.0)
    return Vector(made, labels)


def _absent(checker: Checker, call: Call, args: list[Vector]) -> Vector:
    return check_absent(checker, call, args[0])


def _relabel(checker: Checker, call: Call, args: list[Vector]) -> Vector:
    return _relabelled(checker, call, args[0])


def _clock(_checker: Checker, _call: Call, args: list[Vector]) -> Vector:
    return (args[0] if args else scalar(ANY)).of(number(0))


def _now(_checker: Checker, call: Call, args: list[Vector]) -> Vector:
    return args[0].of(_time()) if call.function == "timestamp" else scalar(_time())


def _recast(_checker: Checker, _call: Call, args: list[Vector]) -> Vector:
    return scalar(args[0].quantity)


def _pi(_checker: Checker, _call: Call, _args: list[Vector]) -> Vector:
    return scalar(number())


_MAKERS: dict[str, Maker] = {
    **dict.fromkeys(("absent", "absent_over_time"), _absent),
    **dict.fromkeys(("label_replace", "label_join"), _relabel),
    **dict.fromkeys(("histogram_quantile", "histogram_fraction", "histogram_count", "histogram_sum"), _histogram),
    **dict.fromkeys(("time", "timestamp"), _now),
    **dict.fromkeys(("vector", "scalar"), _recast),
    **dict.fromkeys(_CLOCK, _clock),
    "pi": _pi,
}

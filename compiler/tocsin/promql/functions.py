"""The functions and aggregations that every Prometheus from 2.42 to 3.5 has without a feature flag."""

from enum import StrEnum
from typing import NamedTuple

from tocsin.promql.errors import Taken, since


class ValueType(StrEnum):
    """What an expression gives."""

    VECTOR = "vector"
    MATRIX = "matrix"
    SCALAR = "scalar"
    STRING = "string"

    @property
    def words(self) -> str:
        """How people call it."""
        return _WORDS[self]


_WORDS = {
    ValueType.VECTOR: "an instant vector",
    ValueType.MATRIX: "a range vector",
    ValueType.SCALAR: "a scalar",
    ValueType.STRING: "a string",
}


class Function(NamedTuple):
    """A function: the types of its parameters, the last of which repeats up to `most` arguments (None: any number)."""

    name: str
    parameters: tuple[ValueType, ...]
    returns: ValueType
    least: int
    most: int | None

    def parameter(self, index: int) -> ValueType:
        """The type of the argument at `index`, counted from 0."""
        return self.parameters[min(index, len(self.parameters) - 1)]


_V, _M, _S, _T = ValueType.VECTOR, ValueType.MATRIX, ValueType.SCALAR, ValueType.STRING


def _named(names: str, *parameters: ValueType, to: ValueType = _V, last: str = "once") -> dict[str, Function]:
    """Functions of one signature, the last argument of which is given "once", "at most once" or in "any number"."""
    count = len(parameters)
    least = count if last == "once" else count - 1
    most = None if last == "any number" else count
    return {name: Function(name, parameters, to, least, most) for name in names.split()}


FUNCTIONS: dict[str, Function] = {
    **_named("pi time", to=_S),
    **_named("scalar", _V, to=_S),
    **_named("vector", _S),
    **_named("abs ceil exp floor ln log10 log2 sgn sqrt deg rad", _V),
    **_named("acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh", _V),
    **_named("absent sort sort_desc timestamp histogram_count histogram_sum", _V),
    **_named("year month day_of_month day_of_week day_of_year days_in_month hour minute", _V, last="at most once"),
    **_named("round", _V, _S, last="at most once"),
    **_named("clamp_max clamp_min", _V, _S),
    **_named("clamp", _V, _S, _S),
    **_named("histogram_quantile", _S, _V),
    **_named("histogram_fraction", _S, _S, _V),
    **_named("label_replace", _V, _T, _T, _T, _T),
    **_named("label_join", _V, _T, _T, _T, last="any number"),
    **_named("rate increase irate delta idelta deriv changes resets", _M),
    **_named("avg_over_time min_over_time max_over_time sum_over_time count_over_time last_over_time", _M),
    **_named("stddev_over_time stdvar_over_time present_over_time absent_over_time", _M),
    **_named("quantile_over_time", _S, _M),
    **_named("predict_linear", _M, _S),
}

# Each aggregation and the type of the parameter that it takes before the vector.
AGGREGATIONS: dict[str, ValueType | None] = {
    **dict.fromkeys("sum avg min max count group stddev stdvar".split()),
    **dict.fromkeys("topk bottomk quantile".split(), _S),
    "count_values": _T,
}

_FLAG = "needs --enable-feature=promql-experimental-functions"

# The releases that have what is refused here; the first of what is behind a flag only is not known here.
_TAKEN: dict[str, Taken] = {
    "holt_winters": ((0,), (3,)),
    "double_exponential_smoothing": since(3),
    "histogram_avg": since(2, 51),
    "histogram_stddev": since(2, 47),
    "histogram_stdvar": since(2, 47),
    "histogram_quantiles": since(3, 11),
    "first_over_time": since(3, 7),
    **dict.fromkeys(("fill", "fill_left", "fill_right"), since(3, 10)),
}

# Functions and aggregations that some Prometheus has: why they are refused here, and what to write instead.
NOT_PORTABLE: dict[str, tuple[str, str]] = {
    "holt_winters": (
        "was removed in Prometheus 3.0",
        "write `predict_linear()`, or `avg_over_time()` over a longer range",
    ),
    "double_exponential_smoothing": (
        f"exists only since Prometheus 3.0 and {_FLAG}",
        "write `predict_linear()`, or `avg_over_time()` over a longer range",
    ),
    "histogram_avg": ("exists only since Prometheus 2.51", "divide `histogram_sum()` by `histogram_count()`"),
    "histogram_stddev": ("exists only since Prometheus 2.47", "write `histogram_quantile()`"),
    "histogram_stdvar": ("exists only since Prometheus 2.47", "write `histogram_quantile()`"),
    "histogram_quantiles": ("exists only since Prometheus 3.11", "write `histogram_quantile()` once for each quantile"),
    "limitk": (_FLAG, "write `topk()`"),
    "limit_ratio": (_FLAG, "write `topk()`"),
    "info": (_FLAG, "join with `* on (…) group_left (…)`"),
    "mad_over_time": (_FLAG, "write `stddev_over_time()`"),
    "sort_by_label": (_FLAG, "leave it out: the result of a rule has no order"),
    "sort_by_label_desc": (_FLAG, "leave it out: the result of a rule has no order"),
    "first_over_time": (
        "exists only since Prometheus 3.7, until 3.14 behind a flag",
        "write the selector with `offset`",
    ),
    "ts_of_first_over_time": (_FLAG, ""),
    "ts_of_last_over_time": (_FLAG, "write `timestamp()`"),
    "ts_of_max_over_time": (_FLAG, ""),
    "ts_of_min_over_time": (_FLAG, ""),
    "fill": ("needs Prometheus 3.10 and --enable-feature=promql-binop-fill-modifiers", "write `or`"),
    "fill_left": ("needs Prometheus 3.10 and --enable-feature=promql-binop-fill-modifiers", "write `or`"),
    "fill_right": ("needs Prometheus 3.10 and --enable-feature=promql-binop-fill-modifiers", "write `or`"),
}


def taken(name: str) -> Taken:
    """The releases that have a function which is not portable."""
    return _TAKEN.get(name, since(0))

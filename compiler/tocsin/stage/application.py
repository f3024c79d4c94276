"""An application on the stage: it shows every signal that the spec maps to its job, and events of its objectives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tocsin.examples import labels_for, labels_of_each, value_for
from tocsin.fleet.exposition import Family, page
from tocsin.fleet.meter import Meter
from tocsin.indicators import Availability, Latency, Ratio, Slowdown, TimeSlice
from tocsin.ingest import TARGET_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.factory.slos import Slo
    from tocsin.promql import Selector

_RATE = 50.0  # events of an objective a second: more than any `min_events` that people write asks for within minutes
_SPARE = 1.25  # of what an objective of time wants at least
# prometheus_client's default, in seconds; those of the spec's objectives are added.
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_TROUBLES = ("fail", "error", "leak", "dropped", "timeout")  # words of signals that stand still while all is well
_LOSS = 2.25


@dataclass(slots=True)
class Series:
    """One series of a metric. Of a histogram `slow` counts what lies above every bound, `meter` what lies below all."""

    metric: Metric
    labels: dict[str, str]
    meter: Meter
    slow: Meter = field(default_factory=Meter)


@dataclass(frozen=True, slots=True)
class Objective:
    """What an SLO counts here: meters, each with its rate while all is good and while all is bad.

    `states` are gauges that are 1 while all is good.
    """

    meters: tuple[tuple[Meter, float, float], ...]
    states: tuple[Meter, ...] = ()

    def errors(self, share: float) -> None:
        """From now on this share of events is bad; a state is bad as soon as there is any."""
        for meter, good, bad in self.meters:
            meter.run(good + share * (bad - good))
        for state in self.states:
            state.put(0 if share else 1)


class Application:
    """The page of one target of a job. `worn` are labels as its program calls them, such as the id of its job."""

    def __init__(self, factory: Factory, job: str, worn: Mapping[str, Mapping[str, str]]) -> None:
        self._factory = factory
        self._worn = worn
        self._metrics = {name: one for one in factory.metrics.values() if one.exporter == job for name in one.series}
        self._series: dict[tuple[str, frozenset[tuple[str, str]]], Series] = {}
        self._bounds: dict[str, set[float]] = {}
        self.objectives: dict[str, Objective] = {}
        for slo in factory.slos.values():
            self._tell(slo)
        seen = {one.metric.name for one in self._series.values()}
        for metric in {one.name: one for one in self._metrics.values()}.values():
            if metric.name not in seen:
                labels = {name: value_for([], factory.labels.get(name)) or "a" for name in metric.labels}
                labels = {name: self._free(name, value) for name, value in labels.items()}
                self._one(metric, labels, _usual(factory, metric))

    def page(self) -> str:
        """What it says now."""
        return page(self._families())

    def of_signal(self, signal: str) -> list[Series]:
        """The series of a signal; none where it shows none."""
        return [one for one in self._series.values() if one.metric.signal == signal]

    # --- objectives ---------------------------------------------------------------------------------------------------

    def _tell(self, slo: Slo) -> None:
        indicator = slo.indicator
        rate = max(_RATE, float(slo.expected or 0) * _SPARE)
        match indicator:
            case Ratio():
                self._tell_ratio(slo, indicator, rate)
            case Latency():
                name = indicator.histogram.metric or ""
                self._bounds.setdefault(name, set()).add(float(indicator.below))
                self._tell_histogram(slo, indicator.total, rate)
            case TimeSlice() | Slowdown():
                self._tell_steps(slo, indicator)
            case Availability():
                if metric := self._metrics.get(indicator.gauge.metric or ""):
                    labels = self._labels([indicator.gauge], slo) or {}
                    self._begin(slo, Objective((), (self._one(metric, labels, Meter(1)).meter,)))
            case _:  # of boards, or made of other objectives
                pass

    def _tell_ratio(self, slo: Slo, ratio: Ratio, rate: float) -> None:
        total, told = ratio.total, ratio.told
        metric, other = self._metrics.get(total.metric or ""), self._metrics.get(told.metric or "")
        if metric is None or other is None:
            return
        if metric.type == "histogram":
            bounds = (one.value for one in told.matchers if one.label == "le" and one.op == "=")
            self._bounds.setdefault(metric.name, set()).update(float(bound) for bound in bounds)
            self._tell_histogram(slo, total, rate)
        elif total.metric == told.metric:
            self._tell_apart(slo, total, told, is_bad=ratio.bad is not None, rate=rate)
        else:
            all_, some = (
                self._one(one, self._labels([selector], slo) or {}, Meter())
                for one, selector in ((metric, total), (other, told))
            )
            ends = (0.0, rate) if ratio.bad is not None else (rate, 0.0)
            self._begin(slo, Objective(((all_.meter, rate, rate), (some.meter, *ends))))

    def _tell_apart(self, slo: Slo, total: Selector, told: Selector, *, is_bad: bool, rate: float) -> None:
        """Events of one metric, good and bad ones by their labels."""
        metric = self._metrics[total.metric or ""]
        among, beyond = self._labels([total, told], slo), self._labels([total], slo, told)
        if among is None or beyond is None:
            return
        some, others = (self._one(metric, labels, Meter()).meter for labels in (among, beyond))
        good, bad = (others, some) if is_bad else (some, others)
        self._begin(slo, Objective(((good, rate, 0), (bad, 0, rate))))

    def _tell_histogram(self, slo: Slo, total: Selector, rate: float) -> None:
        metric = self._metrics.get(total.metric or "")
        if metric is not None:
            labels = self._labels([total], slo) or {}
            one = self._one(metric, labels, Meter())
            self._begin(slo, Objective(((one.meter, rate, 0), (one.slow, 0, rate))))

    def _tell_steps(self, slo: Slo, indicator: TimeSlice | Slowdown) -> None:
        selectors = [indicator.counter, *([indicator.expected] if indicator.expected else [])]
        metrics = [self._metrics.get(selector.metric or "") for selector in selectors]
        each = labels_of_each(selectors, slo.by, self._factory.labels)
        if each is None or metrics[0] is None:
            return
        rate = float(indicator.at_least) * _SPARE if isinstance(indicator, TimeSlice) else _RATE
        steps = self._one(metrics[0], each[0], Meter())
        if metrics[-1] is not None and indicator.expected:
            self._one(metrics[-1], each[-1], Meter(1))
        self._begin(slo, Objective(((steps.meter, rate, 0),)))

    def _begin(self, slo: Slo, objective: Objective) -> None:
        self.objectives[slo.id] = objective
        objective.errors(0)

    def _labels(self, selectors: Sequence[Selector], slo: Slo, not_of: Selector | None = None) -> dict[str, str] | None:
        """Labels of a series of all selectors but one. What nothing constrains is called by its own name."""
        found = labels_for(selectors, not_of, slo.by, self._factory.labels)
        if found is None:
            return None
        named = {one.label for selector in (*selectors, *([not_of] if not_of else [])) for one in selector.matchers}
        return {name: value if name in named else self._free(name, value) for name, value in found.items()}

    def _free(self, label: str, value: str) -> str:
        """A value that people can read, where the schema allows it."""
        known, own = self._factory.labels.get(label), f"{label}-1"
        return own if known is None or known.allows(own) else value

    def _one(self, metric: Metric, labels: Mapping[str, str], meter: Meter) -> Series:
        """The series with these labels, as the program spells them; a new one shows the meter."""
        spelled: dict[str, str] = {}
        for name, value in labels.items():
            if name not in (*TARGET_LABELS, "le") or name in self._worn:
                spelled |= self._worn.get(name, {name: value})
        key = (metric.name, frozenset(spelled.items()))
        return self._series.setdefault(key, Series(metric, spelled, meter))

    # --- its page -----------------------------------------------------------------------------------------------------

    def _families(self) -> Iterator[Family]:
        by_metric: dict[str, list[Series]] = {}
        for one in self._series.values():
            by_metric.setdefault(one.metric.name, []).append(one)
        for name, some in by_metric.items():
            metric = some[0].metric
            if metric.type == "histogram":
                yield Family(name, metric.type, metric.help, (), list(self._buckets(metric, some)))
            else:
                yield Family(name, metric.type, metric.help, [(one.labels, one.meter.read()) for one in some])

    def _buckets(self, metric: Metric, some: Iterable[Series]) -> Iterator[tuple[str, Mapping[str, str], float]]:
        bounds = sorted({*map(float, metric.buckets or _BOUNDS), *self._bounds.get(metric.name, ())})
        for one in some:
            fast, slow = int(one.meter.read()), int(one.slow.read())
            for bound in bounds:
                yield "_bucket", {**one.labels, "le": f"{bound:g}"}, fast
            yield "_bucket", {**one.labels, "le": "+Inf"}, fast + slow
            yield "_sum", one.labels, fast * bounds[0] / 2 + slow * bounds[-1] * 2
            yield "_count", one.labels, fast + slow


def _usual(factory: Factory, metric: Metric) -> Meter:
    """What a signal shows while all is well: a gauge keeps clear of the limits that the spec sets for it."""
    is_trouble = any(word in metric.signal or word in metric.name for word in _TROUBLES)
    if metric.type != "gauge":
        limit = factory.limits.get("train_input_bound") if metric.signal == "train_data_wait" else None
        return Meter(rate=float(limit) / 4 if limit is not None else 0 if is_trouble else 1)
    if metric.signal == "train_loss":
        return Meter(_LOSS)
    least, most = (_limit(factory, metric.signal, end) for end in ("_min", "_max"))
    if least is not None and most is not None:
        return Meter((least + most) / 2)
    if least is not None or most is not None:
        return Meter(2 * least if least is not None else (most or 0) / 2)
    return Meter(0 if is_trouble else 1)


def _limit(factory: Factory, signal: str, end: str) -> float | None:
    """A limit of the coolant: the signals' names and those of their limits begin alike."""
    named = (id_ for id_ in factory.limits if id_.endswith(end) and signal.startswith(id_.removesuffix(end)))
    return next((float(factory.limits[id_]) for id_ in named), None)

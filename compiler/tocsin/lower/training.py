"""Training jobs by what they tell of themselves: a loss that left the rails, ranks and loaders that hold others up."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.cases import Case, group
from tocsin.units import Duration, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.plan.rules import Alert, RuleGroup

_HOLD = Duration.of(minutes=10)


def training(factory: Factory) -> RuleGroup | None:
    """What can be told of the signals that the spec maps."""
    return group("training-jobs", "jobs that go wrong, and one that does not", list(_cases(factory)))


def _cases(factory: Factory) -> Iterator[Case]:
    if "train_loss" in factory.signals:
        yield from _loss(factory)
    for signal, limit, made in (
        ("train_data_wait", "train_input_bound", _input_bound),
        ("train_rank_time", "train_straggler", _straggler),
        ("checkpoints", "checkpoint_overdue", _overdue),
    ):
        if signal in factory.signals and limit in factory.limits and factory.signals[signal].metrics:
            yield made(factory)


def _metric(factory: Factory, signal: str) -> Metric:
    return factory.signals[signal].metrics[0]


def _place(metric: Metric) -> tuple[str, ...]:
    """The labels that tell a job; its target where it does not name itself."""
    named = tuple(label for label in ("tenant", "job_id") if label in metric.labels)
    return ("cluster", *named) if "job_id" in named else ("cluster", *named, "instance")


def _job(metric: Metric) -> str:
    return "job {{ $labels.job_id }}" if "job_id" in metric.labels else "the job at {{ $labels.instance }}"


def _who(metric: Metric) -> str:
    job = _job(metric)
    return job[0].upper() + job[1:]


def _labels(factory: Factory, metric: Metric, job: str) -> dict[str, str]:
    """The labels of a job's series, as they are stored."""
    known = {"tenant": next(iter(factory.tenants), "someone"), "job_id": job}
    own = {label: known.get(label, "a") for label in metric.labels}
    return {"cluster": next(iter(factory.clusters)), "job": metric.exporter, "instance": f"trainer-{job}:1", **own}


def _told(metric: Metric, labels: dict[str, str], *more: str) -> dict[str, str]:
    return {label: labels[label] for label in (*_place(metric), *more)}


def _loss(factory: Factory) -> Iterator[Case]:
    metric, factor = _metric(factory, "train_loss"), factory.limits["train_loss_spike"]
    name = metric.name
    lost, endless, spiking, settled, *others = (_labels(factory, metric, f"471{job}") for job in range(1, 9))
    high = number(2 * factor + 1)
    spike = f"{high}x9 2x40"
    inputs = [
        (name, lost, "2x80 " + "NaN " * 5 + "NaN"),
        (name, endless, "2x80 Inf Inf Inf stale"),
        (name, spiking, f"2x80 {spike}"),
        (name, settled, f"{high}x45 2x34 {spike}"),  # low in most of the hour, not of two
        *zip(
            [name] * 4,
            others,
            (
                f"{high}x55 2x24 {spike}",  # low in half of the hour only
                "11x3 2x120",
                f"2x80 {number(2 * factor)}x9 2x40",
                f"_x60 2x20 {spike}",  # a young job
            ),
            strict=True,
        ),
    ]
    no_number, spiked = _not_a_number(factory, metric), _spike(factory, metric, factor)
    yield Case(no_number, 82, 83, _told(metric, lost), inputs, 1, also=(_told(metric, endless),))
    yield Case(spiked, 85, 86, _told(metric, spiking), inputs, float(high), after=95, also=(_told(metric, settled),))


def _not_a_number(factory: Factory, metric: Metric) -> Alert:
    name = metric.name
    return signal_alert(
        factory,
        "TrainingLossNotANumber",
        factory.signals["train_loss"],
        "ticket",
        expr=f"count by ({naming.by(_place(metric))}) ({name} != {name} or abs({name}) == Inf) > 0",
        hold=Duration.of(minutes=2),
        summary=f"The loss of {_job(metric)} is no number any more",
        description=f"{_who(metric)} goes on with a loss that is infinite or no number: what it computes from here "
        "on is lost. Stop it, and begin again at its last checkpoint.",
        where=("cluster",),
    )


def _spike(factory: Factory, metric: Metric, factor: Fraction) -> Alert:
    by, name = naming.by(_place(metric)), metric.name
    return signal_alert(
        factory,
        "TrainingLossSpike",
        factory.signals["train_loss"],
        "ticket",
        # A job that is young has no median; a loss below nought has no factor.
        expr=f"max by ({by}) (\n  {name} > {number(factor)} * (quantile_over_time(0.5, {name}[1h]) > 0)\n"
        f"  and {name} offset 30m\n)",
        hold=Duration.of(minutes=5),
        summary=f"The loss of {_job(metric)} is far above what it was",
        description=f"{_who(metric)} has a loss of {{{{ $value | humanize }}}}, more than {number(factor)} times its "
        "median of the last hour: look at its data and its boards before it goes on.",
        where=("cluster",),
    )


def _input_bound(factory: Factory) -> Case:
    metric, share = _metric(factory, "train_data_wait"), factory.limits["train_input_bound"]
    by = naming.by(_place(metric))
    alert = signal_alert(
        factory,
        "TrainingInputBound",
        factory.signals["train_data_wait"],
        "ticket",
        expr=f"max by ({by}) (rate({metric.name}[10m])) > {number(share)}",
        hold=_HOLD,
        summary=f"{_who(metric)} waits for its data",
        description=f"{_who(metric)} waits for data for {{{{ $value | humanizePercentage }}}} of its time, more than "
        f"{percent(share)}: its loader or its storage is too slow for its boards.",
        where=("cluster",),
    )
    waiting, fine = (_labels(factory, metric, job) for job in ("4721", "4722"))
    # Seconds a minute, a twentieth above and below: the mean is too high once nearly all of its window is.
    more, less = (number(share * 60 * Fraction(percent_, 100)) for percent_ in (105, 95))
    inputs = [(metric.name, waiting, f"0x29 {more}+{more}x40"), (metric.name, fine, f"0+{less}x60")]
    return Case(alert, 47, 49, _told(metric, waiting), inputs, float(share * Fraction(105, 100)))


def _straggler(factory: Factory) -> Case:
    metric, share = _metric(factory, "train_rank_time"), factory.limits["train_straggler"]
    job = _place(metric)
    ranks = tuple(dict.fromkeys((*job, *(label for label in ("rank",) if label in metric.labels), "instance")))
    mean = f"max by ({naming.by(ranks)}) (avg_over_time({metric.name}[10m]))"
    alert = signal_alert(
        factory,
        "TrainingStraggler",
        factory.signals["train_rank_time"],
        "ticket",
        expr=f"{mean} * {number(share)}\n> on ({naming.by(job)}) group_left ()\n"
        f"quantile by ({naming.by(job)}) (0.5, {mean})",
        hold=_HOLD,
        summary=f"A rank of {_job(metric)} holds the others up",
        description=f"{_who(metric)} has a rank at {{{{ $labels.instance }}}} that is slower than {percent(share)} of "
        "its median: look at the board and the links that it works on.",
        where=("cluster",),
    )
    at = [{**_labels(factory, metric, "4731"), "instance": f"rank-{rank}:1"} for rank in range(5)]
    at = [{**one, **({"rank": str(rank)} if "rank" in metric.labels else {})} for rank, one in enumerate(at)]
    slow, fine = (number(Fraction(percent_, 100) / share, 4) for percent_ in (102, 98))
    values = (f"1x9 {slow}x40", f"{fine}x50", *["1x50"] * 3)
    inputs = [(metric.name, one, value) for one, value in zip(at, values, strict=True)]
    # Of another job all ranks but one become twice as fast.
    other = [{**one, "job_id": "4732", "instance": f"other-{one['instance']}"} for one in at[:3]]
    kept = number(Fraction(51, 100) / share, 4)
    inputs += [(metric.name, one, value) for one, value in zip(other, (f"{kept}x50", *["1x9 0.5x40"] * 2), strict=True)]
    here, there = ({label: one[label] for label in ranks} for one in (at[0], other[0]))
    return Case(alert, 28, 30, here, inputs, also=(there,) if "job_id" in metric.labels else ())


def _overdue(factory: Factory) -> Case:
    metric, most = _metric(factory, "checkpoints"), factory.limits["checkpoint_overdue"]
    window = Duration.of(seconds=int(most))
    by = naming.by(_place(metric))
    alert = signal_alert(
        factory,
        "CheckpointOverdue",
        factory.signals["checkpoints"],
        "ticket",
        # The job is there, and was there when the time began.
        expr=f"max by ({by}) (increase({metric.name}[{window}])) == 0\n"
        f"and on ({by}) group by ({by}) ({metric.name})\n"
        f"and on ({by}) group by ({by}) ({metric.name} offset {window})",
        hold=Duration.of(minutes=2),
        summary=f"{_who(metric)} writes no checkpoints",
        description=f"{_who(metric)} has written no checkpoint for {window}: whatever fails now costs all of its work "
        "since then.",
        where=("cluster",),
    )
    late, young, fine, over, soon = (_labels(factory, metric, f"474{job}") for job in range(1, 6))
    minutes = int(most) // 60
    inputs = [
        (metric.name, late, f"0 1x{minutes + 20}"),
        (metric.name, young, f"_x{minutes // 2} 0x{minutes // 2 + 10}"),
        (metric.name, fine, f"0x{minutes - 2} 1x30"),
        (metric.name, over, f"3x{minutes - 3} stale"),
        (metric.name, soon, f"0x4 1x{minutes + 20}"),
    ]
    return Case(alert, minutes + 1, minutes + 3, _told(metric, late), inputs)

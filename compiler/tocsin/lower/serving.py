"""Servers of models: requests that queue, and caches that hold them up."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.cases import Case, group
from tocsin.units import Duration, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.plan.rules import RuleGroup

WAITING, CACHE, PENDING = "vllm:num_requests_waiting", "vllm:kv_cache_usage_perc", "nv_inference_pending_request_count"
_MODEL = ("cluster", "instance", "model")
_BY = naming.by(_MODEL)
_HOLD = Duration.of(minutes=10)
_AT = "{{ $labels.model }} at {{ $labels.instance }}"


def serving(factory: Factory) -> RuleGroup | None:
    """The alerts of vLLM and Triton."""
    return group("serving", "servers that are full, and one that is not", list(_cases(factory)))


def _cases(factory: Factory) -> Iterator[Case]:
    if "vllm_kv_cache" in factory.limits and "vllm_queue" in factory.signals:
        yield _cache(factory)
    for limit, metric, name, program in (
        ("vllm_queue", WAITING, "VllmQueueLong", "vLLM"),
        ("triton_queue", PENDING, "TritonQueueLong", "Triton"),
    ):
        if limit in factory.limits:
            yield _queue(factory, limit, metric, name, program)


def _server(factory: Factory, number_: int) -> dict[str, str]:
    return {"cluster": next(iter(factory.clusters)), "instance": f"server-{number_}:8000", "model": "chat"}


def _cache(factory: Factory) -> Case:
    share = factory.limits["vllm_kv_cache"]
    alert = signal_alert(
        factory,
        "VllmCacheFull",
        factory.signals["vllm_kv_cache"],
        "ticket",
        # A full cache is a well used one, as long as nobody waits for it.
        expr=f"max by ({_BY}) ({CACHE}) >= {number(share)}\nand on ({_BY}) (sum by ({_BY}) ({WAITING}) > 0)",
        hold=_HOLD,
        summary=f"The cache of {_AT} is full, and requests wait",
        description=f"The key-value cache of {_AT} is used to {{{{ $value | humanizePercentage }}}}, at least "
        f"{percent(share)}, and requests wait for it: add servers, or allow fewer tokens.",
        where=("cluster",),
    )
    full, calm, free = (_server(factory, index) for index in range(3))
    inputs = [
        (CACHE, {**full, "job": "vllm"}, f"0.1x9 {number(share)}x30"),
        (CACHE, {**calm, "job": "vllm"}, f"{number(share)}x40"),
        (CACHE, {**free, "job": "vllm"}, f"{number(share * Fraction(9, 10))}x40"),
        (WAITING, {**full, "job": "vllm"}, "1x40"),
        (WAITING, {**calm, "job": "vllm"}, "0x40"),
        (WAITING, {**free, "job": "vllm"}, "1x40"),
    ]
    return Case(alert, 19, 20, full, inputs, float(share))


def _queue(factory: Factory, limit: str, metric: str, name: str, program: str) -> Case:
    most = factory.limits[limit]
    alert = signal_alert(
        factory,
        name,
        factory.signals[limit],
        "ticket",
        expr=f"sum by ({_BY}) ({metric}) > {number(most)}",
        hold=_HOLD,
        summary=f"Requests for {_AT} queue",
        description=f"{{{{ $value }}}} requests wait for {_AT}, more than {number(most)}: it takes in more than it "
        "can answer.",
        where=("cluster",),
    )
    long, short = (_server(factory, index) for index in (5, 6))
    job = program.lower()
    inputs = [
        (metric, {**long, "job": job}, f"0x9 {number(most + 1)}x30"),
        (metric, {**short, "job": job}, f"{number(most)}x40"),
    ]
    return Case(alert, 19, 20, long, inputs, float(most + 1))

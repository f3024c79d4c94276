"""The proof that goes with each alert: when it fires in a small world, with what words, and when it stays silent."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

from tocsin.plan.rules import Expectation, Firing, RuleTest
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.factory import Factory
    from tocsin.plan.rules import Alert
    from tocsin.source import Span

MINUTE = Duration.of(minutes=1)
STRANGER = "another!"  # a cluster, owner, job or host of nobody's: the names of a spec have no such sign
_CONDITION = re.compile(r"\{\{ if \$labels\.(\w+) \}\}(.*?)\{\{ end \}\}")
_ACTION = re.compile(r"\{\{ (?:\$labels\.(?P<label>\w+)|\$value)(?: \| (?P<pipe>\w+))? \}\}")


def series(metric: str, labels: Mapping[str, str], values: str) -> tuple[str, str]:
    """One input series in promtool's notation, one value a minute."""
    body = ",".join([f"{name}={quote(value)}" for name, value in sorted(labels.items())])
    return f"{metric}{{{body}}}", values


def fires(alert: Alert, minute: int, *places: Mapping[str, str], value: float = 0) -> Expectation:
    """At the minute the alert fires once for each place, with its labels and exactly its rendered annotations."""
    return Expectation(Duration.of(minutes=minute), alert.name, tuple(firing(alert, at, value) for at in places))


def firing(alert: Alert, labels: Mapping[str, str], value: float) -> Firing:
    """The alert as it fires for these labels and this value of its expression."""
    # The rule's own labels are put on later: an annotation sees those of the expression only.
    place = tuple(labels.items())
    annotations = {
        name: render(text, labels, value) if "$value" in text else _placed(text, place)
        for name, text in alert.annotations.items()
    }
    return Firing({**labels, **alert.labels}, annotations)


def silent(alert: Alert, minute: int) -> Expectation:
    """At the minute the alert does not fire."""
    return Expectation(Duration.of(minutes=minute), alert.name, ())


def proof(
    alert: Alert, story: str, inputs: Sequence[tuple[str, str]], *expectations: Expectation, interval: Duration = MINUTE
) -> RuleTest:
    """A unit test of an alert, named after it and what happens to it."""
    return RuleTest(f"{alert.name}: {story}", interval, tuple(inputs), expectations, alert.origin)


def joined(one: RuleTest, other: RuleTest) -> tuple[RuleTest, ...]:
    """Two tests as one, where they go at the same pace: half of what promtool needs for a short one is its storage.

    None of them may read what is recorded of the other's series.
    """
    if (one.interval, one.pace) != (other.interval, other.pace):
        return one, other
    both = one._replace(
        name=f"{one.name}; {other.name}",
        series=one.series + other.series,
        expectations=one.expectations + other.expectations,
        readings=one.readings + other.readings,
    )
    return (both,)


def shared(
    group: str, story: str, origin: Span, inputs: Sequence[tuple[str, str]], *expectations: Expectation
) -> RuleTest:
    """A unit test of several alerts of a group, whose faults happen side by side in one world."""
    return RuleTest(f"{group}: {story}", MINUTE, tuple(inputs), expectations, origin)


@lru_cache(maxsize=64)  # alerts of one group lead on to the same places
def _placed(template: str, labels: tuple[tuple[str, str], ...]) -> str:
    return render(template, dict(labels), 0)


def render(template: str, labels: Mapping[str, str], value: float) -> str:
    """What Prometheus makes of an annotation.

    Understood: `$labels.x`, `$value`, `urlquery`, `humanize`, `humanizePercentage`, and text in `{{ if $labels.x }}…
    {{ end }}`.
    """
    if "{{" not in template:
        return template

    def one(found: re.Match[str]) -> str:
        if found["label"]:
            text = labels.get(found["label"], "")
            return quote_plus(text) if found["pipe"] == "urlquery" else text
        if found["pipe"] == "humanizePercentage":
            return f"{_as_go(f'{value * 100:.4g}')}%"
        if found["pipe"] == "humanize":
            return _humanized(value)
        return _shortest(float(value))

    if "{{ if " in template:
        template = _CONDITION.sub(lambda found: found[2] if labels.get(found[1]) else "", template)
    return _ACTION.sub(one, template)


def _humanized(value: float) -> str:
    """Four digits and an SI prefix, as `humanize` of Prometheus' templates: 2.069, 12.35k, 500m."""
    if not value or not isfinite(value):
        return _as_go(f"{value:.4g}")
    shown = ""
    if abs(value) >= 1:
        for prefix in "kMGTPEZY":
            if abs(value) < 1000:
                break
            shown, value = prefix, value / 1000
    else:
        for prefix in "munpfazy":
            if abs(value) >= 1:
                break
            shown, value = prefix, value * 1000
    return f"{value:.4g}{shown}"


def _shortest(value: float) -> str:
    """A float64 as Go's `%v` prints it: the fewest digits that read back, an exponent below 1e-4 and from 1e6 on."""
    if not isfinite(value):
        return _as_go(str(value))
    digits = len(Decimal(repr(value)).normalize().as_tuple().digits)
    scientific = f"{value:.{digits - 1}e}"
    exponent = int(scientific.partition("e")[2])
    return scientific if not -4 <= exponent < 6 else f"{value:.{max(digits - 1 - exponent, 0)}f}"


def _as_go(text: str) -> str:
    return {"inf": "+Inf", "-inf": "-Inf", "nan": "NaN"}.get(text, text)


def example_node(factory: Factory) -> dict[str, str]:
    """The labels of one real node of the factory, so that rules that name hosts are met."""
    cluster = next(iter(factory.clusters.values()))
    return {"cluster": cluster.name, "node": cluster.groups[0].hosts[0]}


def example_gpu(factory: Factory, number: int = 0) -> dict[str, str]:
    """The labels of one board of that node."""
    return gpu_of(example_node(factory), number)


def gpu_of(node: Mapping[str, str], number: int = 0) -> dict[str, str]:
    """The labels of one board of a node."""
    return {**node, "gpu_uuid": f"GPU-00000000-0000-0000-0000-{number:012d}"}

"""The generated rules of a ratio record what an independent evaluation says, in any world, on every Prometheus.

Many worlds go into one test of promtool, each with a value of `route` of its own; what must be recorded is fed beside
the counters, and expressions look for a minute at which the two differ.
"""

from __future__ import annotations

import json
import subprocess
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from promql_reference import Dialect, Marker
from slo_reference import Group
from slo_scenarios import LENGTH, notation, scenario
from slo_specs import GOOD, METRIC, SLO, compiled, groups
from tocsin import naming
from tocsin.burn import UNIT
from tocsin.units import Duration
from toolbox import found

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from slo_reference import Counter, Told
    from tocsin.factory.slos import Slo
    from tocsin.pipeline import Compiled
    from toolbox import Tool

# Limits and numbers of events that no world meets exactly: there a rounded bit would decide.
WINDOWS = [
    {"long": "1h", "short": "5m", "factor": 14.407, "severity": "page", "for": "2m"},
    {"long": "30m", "short": "10m", "factor": 6.013, "severity": "page", "for": "1m"},
    {"long": "2h", "short": "15m", "factor": 3.017, "severity": "ticket", "for": "5m"},
    {"long": "1d", "short": "20m", "factor": 2.019, "severity": "ticket", "for": "10m"},
]
COMMON = {
    **SLO,
    "objective": "98%",
    "by": ["cluster", "route"],
    "alerts": {"windows": WINDOWS},
    "traffic": {"min_events": 9.3},
}
VARIANTS: dict[str, dict[str, Any]] = {
    "bad events": {},
    "good events": {"ratio": {"good": GOOD, "total": METRIC}, "traffic": {"min_events": 12.3}},
    "no traffic is good": {"no_traffic": "good", "traffic": {"min_events": 40.3}},
    "no traffic is bad": {"no_traffic": "bad", "traffic": {"expected": "0.2/s", "min_events": 9.3}},
    "none of the good": {
        "ratio": {"good": GOOD, "total": METRIC},
        "no_traffic": "bad",
        "traffic": {"expected": "2/s", "min_events": 9.3},
    },
}
WORLDS_OF_A_TEST = 8  # promtool loads at most 10,000 samples for an expression
STEP = Duration.of(minutes=1)  # of scrapes, of evaluations and of sums
NEAR = "1e-9"
END = f"{LENGTH - 1}m"
ALL = f"[{LENGTH}m:1m]"


def test_the_rules_say_what_the_reference_says(promtool: Tool, tmp_path: Path) -> None:
    """A few dozen worlds of each way to count, in which every alert waits and fires."""
    random, files, states = Random(1), [], set()
    for name, variant in VARIANTS.items():
        result = compiled({**COMMON, **variant}, tmp_path, instances=3)
        file, told = judged(promtool, tmp_path / name.replace(" ", "-"), result, groups(result), 4, random)
        files.append(file)
        states |= {(state, window) for one in told for state, window in seen(one)}
    assert verdict(promtool, files) == ""
    assert states == {(state, window["long"]) for state in ("pending", "firing") for window in WINDOWS}


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_the_rules_say_what_the_reference_says_of_thousands(name: str, promtool: Tool, tmp_path: Path) -> None:
    """Of 200 worlds of each way to count on every release."""
    result = compiled({**COMMON, **VARIANTS[name]}, tmp_path, instances=3)
    file, _ = judged(promtool, tmp_path / "all", result, groups(result), 200, Random(name))
    assert verdict(promtool, [file]) == ""


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        ("slo:errors:rate5m", "unless", "and"),
        ("slo:errors:rate1d", "* 60 /", "* 60.001 /"),
        ("ErrorBudgetBurn", "* 3600 >= 9.3", "* 3600 >= 30"),
    ],
)
def test_rules_that_say_otherwise_are_found(rule: str, right: str, wrong: str, tmp_path: Path) -> None:
    """The worlds are such that a slip in a rule shows."""
    promtool = found("promtool")[-1]
    result = compiled(COMMON, tmp_path, instances=3)
    some = groups(result)
    slipped = [one for group in some for one in group["rules"] if rule in (one.get("record"), one.get("alert"))]
    slipped = [one for one in slipped if right in one["expr"]]
    slipped[0]["expr"] = slipped[0]["expr"].replace(right, wrong, 1)
    file, _ = judged(promtool, tmp_path / "one", result, some, 8, Random(1))
    assert "FAILED" in verdict(promtool, [file])


def test_an_outage_of_a_minute_is_in_the_budget_whenever_it_comes(promtool: Tool, tmp_path: Path) -> None:
    """Windows that are summed up have no gaps between their steps, in which a burst of errors would be lost."""
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": groups(compiled(COMMON, tmp_path))}), encoding="utf-8")
    series, burst = [], 1000
    for shift in range(UNIT // STEP):
        labels = {"cluster": "east", "job": "web", "instance": f"web-{shift}:8000", "route": f"r{shift}", "code": "500"}
        # Far from zero, below which Prometheus extrapolates no counter.
        before, begin = 10**6, 40 + shift
        series.append({"series": _series(METRIC, labels), "values": f"{before}x{begin} {before + burst}x{LENGTH}"})
    events = f"abs({naming.slo_errors(Duration.of(days=1))} * 86400 / {burst} - 1) < {NEAR}"
    samples = [{"labels": "{}", "value": len(series)}]
    test = {
        "interval": "1m",
        "input_series": series,
        "promql_expr_test": [{"expr": f"count({events})", "eval_time": END, "exp_samples": samples}],
    }
    said = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m",
        "group_eval_order": ["slo-web", "slo-web-long"],
        "tests": [test],
    }
    (tmp_path / "tests.yml").write_text(json.dumps(said), encoding="utf-8")
    assert verdict(promtool, [tmp_path / "tests.yml"]) == ""


def judged(
    promtool: Tool, folder: Path, result: Compiled, rules: list[dict[str, Any]], worlds: int, random: Random
) -> tuple[Path, list[Told]]:
    """A file of tests of so many worlds, beside the rules in `folder`, and what is expected of each world."""
    folder.mkdir()
    (folder / "rules.yml").write_text(json.dumps({"groups": rules}), encoding="utf-8")
    slo, dialect = result.factory.slos["web"], Dialect.of(promtool.version)
    all_ = [scenario(random) for _ in range(worlds)]
    told = [Group(world, slo, dialect).told() for world in all_]
    pairs = list(zip(all_, told, strict=True))
    batches = [pairs[start : start + WORLDS_OF_A_TEST] for start in range(0, worlds, WORLDS_OF_A_TEST)]
    said = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m",
        "group_eval_order": [group["name"] for group in rules],
        "tests": [case(slo, batch) for batch in batches],
    }
    path = folder / "tests.yml"
    path.write_text(json.dumps(said), encoding="utf-8")
    return path, told


def verdict(promtool: Tool, files: Sequence[Path]) -> str:
    """What promtool has to say of files of tests; nothing where all is well."""
    done = subprocess.run([promtool.path, "test", "rules", *files], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr)[-4000:] if done.returncode else ""


def seen(told: Told) -> Iterator[tuple[str, str]]:
    """The states that the alerts of a world have at some time, by their window."""
    for state, alerts in (("pending", told.pending), ("firing", told.firing)):
        yield from ((state, str(Duration.of(minutes=window))) for window, holds in alerts.items() if any(holds))


def case(slo: Slo, worlds: Sequence[tuple[Sequence[Counter], Told]]) -> dict[str, Any]:
    """One test of promtool: the counters of some worlds, what must become of them, and where it does not."""
    series = []
    for index, (counters, told) in enumerate(worlds):
        route = f"r{index}"
        for one in counters:
            labels = {"cluster": "east", "job": "web", "instance": f"{route}-{one.instance}", "route": route}
            labels["code"] = "500" if one.bad else "200"
            series.append({"series": _series(METRIC, labels), "values": notation(one.samples)})
        series += list(_wanted(route, told))
    wrong = [*_windows(slo), *_differs(naming.SLO_PERIOD_RATIO, "want_ratio"), *_alerts(slo)]
    checks = [{"expr": expr, "eval_time": END, "exp_samples": []} for expr in wrong]
    return {"interval": "1m", "input_series": series, "promql_expr_test": checks}


def _series(name: str, labels: Mapping[str, str]) -> str:
    inside = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{inside}}}"


def _wanted(route: str, told: Told) -> Iterator[dict[str, str]]:
    """What must be recorded, as series: of a window, of the period, of alerts where they wait or fire."""
    place = {"cluster": "east", "route": route}
    for kind, windows in (("errors", told.errors), ("total", told.total)):
        for window, values in windows.items():
            yield _fed(f"want_{kind}_{window}", place, values)
    yield _fed("want_ratio", place, told.ratio)
    for state, alerts in (("pending", told.pending), ("firing", told.firing)):
        for window, holds in alerts.items():
            labels = {**place, "window": str(Duration.of(minutes=window))}
            yield _fed(f"want_{state}", labels, [1.0 if one else None for one in holds])


def _fed(name: str, labels: Mapping[str, str], values: Sequence[float | None]) -> dict[str, str]:
    ended = [Marker.STALE if one is None else one for one in values]
    return {"series": _series(name, labels), "values": notation(ended)}


def _windows(slo: Slo) -> Iterator[str]:
    """Minutes at which a window is not what it must be. That there were no errors may be told by silence."""
    for window in slo.windows.all:
        minutes = window // Duration.of(minutes=1)
        errors, want = naming.slo_errors(window), f"want_errors_{minutes}"
        yield from _differs(naming.slo_total(window), f"want_total_{minutes}")
        yield _ever(f"abs({errors} - on (route) {want}) > on (route) {NEAR} * {want}")
        yield _ever(f"{want} > 0 unless on (route) {errors}")
        yield _ever(f"{errors} > 0 unless on (route) {want}")


def _differs(name: str, want: str) -> Iterator[str]:
    yield _ever(f"abs({name} - on (route) {want}) > on (route) {NEAR} * {want}")
    yield _ever(f"{want} unless on (route) {name}")
    yield _ever(f"{name} unless on (route) {want}")


def _alerts(slo: Slo) -> Iterator[str]:
    for state in ("pending", "firing"):
        alerts = f'ALERTS{{alertname="ErrorBudgetBurn",alertstate="{state}"}}'
        yield _ever(f"{alerts} unless on (route, window) want_{state}")
        yield _ever(f"want_{state} unless on (route, window) {alerts}")


def _ever(expr: str) -> str:
    return f"count_over_time(({expr}){ALL})"

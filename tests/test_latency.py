"""Latencies: a bucket is found however its bound is spelled, by the rules that every Prometheus evaluates."""

from __future__ import annotations

import json
import subprocess
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as some

from conftest import ROOT
from tocsin.diagnostics import Log
from tocsin.indicators import in_unit, spellings
from tocsin.pattern import matches
from tocsin.pipeline import compile_spec
from tocsin.units import Duration, number

if TYPE_CHECKING:
    from pathlib import Path

    from toolbox import Tool

SPEC = ROOT / "specs" / "incident-world.yaml"
SERVICE = 'cluster="east",service="chat",job="serving",instance="a"'


def in_go(bound: Fraction) -> str:
    """strconv.FormatFloat(bound, 'g', -1, 64): the shortest text, an exponent below -4 and from 6 on."""
    shortest = Decimal(repr(float(bound)))
    power = shortest.adjusted()
    if -5 < power < 6:
        return number(bound)
    digits = "".join(map(str, shortest.as_tuple().digits)).rstrip("0")
    return f"{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{'+' if power > 0 else '-'}{abs(power):02}"


def in_3x(bound: Fraction) -> str:
    """What Prometheus 3.x stores: OpenMetrics' float, which is Go's with a point in it."""
    text = in_go(bound)
    return text if "." in text or "e" in text else f"{text}.0"


BOUNDS = some.builds(
    lambda digits, power: Fraction(digits) * Fraction(10) ** power, some.integers(1, 99999), some.integers(-9, 9)
)


@given(BOUNDS)
def test_every_spelling_of_a_bound_is_found(bound: Fraction) -> None:
    found = spellings(bound)
    for text in (number(bound), in_go(bound), in_3x(bound), f"{number(bound)}{'0' if bound.denominator > 1 else '.0'}"):
        assert matches(found, text), text


@given(BOUNDS, BOUNDS)
def test_no_other_bound_is_found(bound: Fraction, other: Fraction) -> None:
    for text in (number(other), in_go(other), in_3x(other)):
        assert matches(spellings(bound), text) == (bound == other)


@pytest.mark.parametrize("text", ["+Inf", "", "1", "50", "0.05", "0x5", "10.5", "0,5"])
def test_what_is_no_half(text: str) -> None:
    assert not matches(spellings(Fraction(1, 2)), text)


@pytest.mark.parametrize(
    ("unit", "half_a_second"), [("seconds", "0.5"), ("ms", "500"), ("microseconds", "500000"), ("tokens", None)]
)
def test_a_threshold_in_the_unit_of_the_metric(unit: str, half_a_second: str | None) -> None:
    bound = in_unit(Duration.parse("500ms"), unit)
    assert (None if bound is None else number(bound)) == half_a_second


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rules of the latency of incident-world, with a bound that 3.x spells otherwise than 2.x."""
    text = SPEC.read_text("utf-8").replace("below: 500ms", "below: 1s")
    spec = tmp_path_factory.mktemp("latency") / "spec.yaml"
    spec.write_text(text, "utf-8")
    result = compile_spec(str(spec), Log(), {})
    assert result is not None
    path = spec.with_name("rules.yml")
    path.write_text(next(one.text for one in result.artifacts if one.path == "rules/slo-chat-latency.yml"), "utf-8")
    return path


def told(rules: Path, tool: Tool, buckets: dict[str, str], holds: dict[int, str]) -> str:
    """What promtool objects; empty where at each minute its expression holds of what is recorded.

    The service has ten requests a second. `buckets` are its series by `le`.
    """
    stem = "inference_request_duration_seconds"
    series = {f"{stem}_bucket{{{SERVICE},le={json.dumps(le)}}}": values for le, values in buckets.items()}
    series[f"{stem}_count{{{SERVICE}}}"] = "0+600x40"
    sample = [{"labels": '{cluster="east",service="chat",slo="chat-latency"}', "value": 1}]
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [
            {"eval_time": f"{minute}m", "expr": expr, "exp_samples": sample} for minute, expr in holds.items()
        ],
    }
    names = [group["name"] for group in yaml.safe_load(rules.read_text("utf-8"))["groups"]]
    whole = {"rule_files": [rules.name], "evaluation_interval": "1m", "group_eval_order": names, "tests": [test]}
    file = rules.with_name("test.yml")
    file.write_text(json.dumps(whole), "utf-8")
    said = subprocess.run([tool.path, "test", "rules", file], capture_output=True, text=True, check=False)
    return said.stdout + said.stderr if said.returncode else ""


@pytest.mark.parametrize("le", ["1", "1.0", "1.00"])
def test_a_bucket_by_any_spelling(le: str, rules: Path, promtool: Tool) -> None:
    buckets = {"0.5": "0+60x40", le: "0+540x40", "10": "0+600x40", "+Inf": "0+600x40"}
    assert not told(rules, promtool, buckets, {20: "abs(slo:errors:rate5m - 1) < bool 1e-9"})
    assert not told(rules, promtool, buckets, {20: "abs(slo:errors:rate1h - 20 / 60) < bool 1e-9"})
    assert told(rules, promtool, buckets, {20: "abs(slo:errors:rate5m - 2) < bool 1e-9"})


def test_a_bucket_under_a_new_spelling_is_no_new_bucket(rules: Path, promtool: Tool) -> None:
    """Prometheus was upgraded: its next scrape calls the bucket otherwise, and brings all that it ever counted."""
    buckets = {"1": "0+540x20 stale", "1.0": f"_x21 {21 * 540}+540x19"}
    some_are_slow = dict.fromkeys(range(10, 40), "slo:errors:rate5m > bool 0.5")
    assert not told(rules, promtool, buckets, some_are_slow)

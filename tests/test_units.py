"""Durations, shares, rates and amounts: what is read and refused, and that what is printed is exact."""

import json
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.units import (
    Duration,
    number,
    parse_amount,
    parse_bit_rate,
    parse_percent,
    parse_rate,
    percent,
)
from toolbox import Tool

CENTURY = 100 * 365 * 86_400_000  # Go holds 292 years
DECIMALS = st.decimals(0, 10**15 - 1, allow_nan=False, allow_infinity=False, places=6).map(lambda d: f"{d:f}")

# -- durations ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "milliseconds", "printed"),
    [
        ("15s", 15_000, "15s"),
        ("1h30m", 5_400_000, "1h30m"),
        ("90m", 5_400_000, "1h30m"),
        ("28d", 2_419_200_000, "28d"),
        ("4w", 2_419_200_000, "28d"),
        ("1y", 31_536_000_000, "365d"),
        ("1y2w3d4h5m6s7ms", 33_019_506_007, "382d4h5m6s7ms"),
        ("1500ms", 1_500, "1s500ms"),
        ("0s", 0, "0s"),
        (" 5m\n", 300_000, "5m"),
    ],
)
def test_a_duration_is_read_and_printed(text: str, milliseconds: int, printed: str) -> None:
    duration = Duration.parse(text)
    assert int(duration) == milliseconds
    assert duration.seconds == Fraction(milliseconds, 1000)
    assert str(duration) == repr(duration) == f"{duration}" == printed


@pytest.mark.parametrize(
    "text",
    ["", " ", "0", "15", "s", "1.5h", "-5s", "+5s", "1m1h", "5m5m", "1 h", "15S", "1min", "1h 30m", "٣s", "1e3s", "∞"],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Duration.parse(text)


def test_a_duration_from_whole_numbers() -> None:
    assert Duration.of(days=1, hours=2, minutes=3, seconds=4) == Duration.parse("1d2h3m4s")


@given(st.integers(0, CENTURY))
def test_a_duration_is_read_back_as_it_was_printed(milliseconds: int) -> None:
    assert Duration.parse(str(Duration(milliseconds))) == milliseconds


def test_go_reads_every_duration_as_the_same_length_of_time(promtool: Tool, tmp_path: Path) -> None:
    """The clock of a promtool test starts at 0, so `time()` at `eval_time` is the length that Go has read.

    The same texts stand behind `for:` and between brackets.
    """
    exponents = [Duration(sign + 2**power) for power in range(2, 42) for sign in (-1, 0, 1)]
    spans = [
        Duration(count * size) for size in (1, 1000, 60_000, 3_600_000, 86_400_000) for count in (1, 7, 59, 60, 99)
    ]
    durations = sorted({*exponents, *spans})
    texts = list(map(str, durations))
    rules = [
        {"alert": f"Held{n}", "expr": f"last_over_time(x[{text}]) > 1", "for": text} for n, text in enumerate(texts)
    ]
    write(tmp_path / "rules.yml", {"groups": [{"name": "durations", "rules": rules}]})
    questions = [
        {"expr": "time()", "eval_time": text, "exp_samples": [{"value": int(duration) / 1000}]}
        for text, duration in zip(texts, durations, strict=True)
    ]
    test = {"interval": "36500d", "promql_expr_test": questions}
    file = write(tmp_path / "test.yml", {"rule_files": ["rules.yml"], "evaluation_interval": "36500d", "tests": [test]})
    run = subprocess.run([promtool.path, "test", "rules", file], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def write(path: Path, document: object) -> Path:
    """A JSON document, which is YAML as well."""
    path.write_text(json.dumps(document), encoding="ascii")
    return path


# -- shares, rates, amounts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("99.5%", Fraction(199, 200)),
        ("99.9 %", Fraction(999, 1000)),
        ("100%", Fraction(1)),
        ("0%", Fraction(0)),
        ("0.000000000000001%", Fraction(1, 10**17)),
    ],
)
def test_a_percentage_is_exact(text: str, share: Fraction) -> None:
    assert parse_percent(text) == share


@pytest.mark.parametrize(
    ("text", "per_second"),
    [
        ("20/s", Fraction(20)),
        ("1200/min", Fraction(20)),
        ("1/h", Fraction(1, 3600)),
        ("1/d", Fraction(1, 86400)),
        ("0.1 / s", Fraction(1, 10)),
    ],
)
def test_a_rate_is_exact(text: str, per_second: Fraction) -> None:
    assert parse_rate(text) == per_second


@pytest.mark.parametrize(
    ("text", "amount"),
    [("50", 50), ("200k", 200_000), ("5M", 5_000_000), ("1.5 G", 1_500_000_000), ("2T", 2 * 10**12), ("0.3", 0.3)],
)
def test_an_amount_is_exact(text: str, amount: float) -> None:
    assert parse_amount(text) == Fraction(str(amount))


@pytest.mark.parametrize(
    ("text", "bits"), [("400Gb/s", 400 * 10**9), ("1.6Tb/s", 1_600_000_000_000), ("100 Mb/s", 10**8)]
)
def test_a_bit_rate_is_exact(text: str, bits: int) -> None:
    assert parse_bit_rate(text) == bits


@pytest.mark.parametrize(
    ("parse", "texts"),
    [
        (parse_percent, ["99.5", "0.995", "%", "-1%", "1e2%", ".5%", "5.%", "1,5%", "٥%", "5%%", "1_0%", ""]),
        (parse_rate, ["20", "20/m", "20/sec", "/s", "-1/s", "1/60s", "٥/s", "20//s", ""]),
        (parse_amount, ["5m", "5K", "5kk", "k", "-5", "5Mi", "٥", "1_000", "1e6", ""]),
        (parse_bit_rate, ["400", "400G", "400GB/s", "400gb/s", "400Gb", "400Gbps", "400kb/s", "٤Gb/s", ""]),
        (parse_amount, ["1" * 16, "0." + "1" * 16]),
    ],
)
def test_what_is_no_quantity_is_refused(parse: type, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            parse(text)


@given(DECIMALS)
def test_quantities_are_read_exactly(text: str) -> None:
    exact = Fraction(text)
    assert parse_percent(f"{text}%") == exact / 100
    assert parse_rate(f"{text}/min") == exact / 60
    assert parse_amount(f"{text}k") == exact * 1000
    assert parse_bit_rate(f"{text}Gb/s") == exact * 10**9


# -- numbers as they are printed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 1000), "0.001"),
        (1 - Fraction(999, 1000), "0.001"),  # in floating point 0.0010000000000000009
        (Fraction(144, 10) * Fraction(1, 1000), "0.0144"),
        (Fraction(1, 3), "0.333333333333"),
        (Fraction(2, 3), "0.666666666667"),
        (Fraction(-2, 3), "-0.666666666667"),
        (Fraction(10**21), "1" + "0" * 21),
        (Fraction(10**21, 3), "3" * 21),
        (Fraction(1, 10**17), "0.00000000000000001"),
        (Fraction(1, 3 * 10**8), "0.00000000333333333333"),
        (Fraction(7, 2), "3.5"),
        (-5, "-5"),
    ],
)
def test_a_number_is_printed_as_people_write_it(value: Fraction | int, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(("digits", "text"), [(1, "0.7"), (4, "0.6667"), (6, "0.666667")])
def test_a_number_is_rounded_to_the_digits_asked_for(digits: int, text: str) -> None:
    assert number(Fraction(2, 3), digits) == text


@given(st.integers(-(10**20), 10**20), st.integers(0, 20))
def test_a_number_that_ends_is_printed_exactly(scaled: int, places: int) -> None:
    value = Fraction(scaled, 10**places)
    assert Fraction(number(value)) == value


@given(st.fractions(-(10**18), 10**18, max_denominator=10**12))
def test_a_number_that_does_not_end_is_close(value: Fraction) -> None:
    printed = Fraction(number(value))
    assert abs(printed - value) <= abs(value) / 10**11


@given(st.fractions(max_denominator=10**40))
def test_a_number_never_has_an_exponent_or_superfluous_digits(value: Fraction) -> None:
    text = number(value)
    assert re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?", text)
    assert text != "-0"


@pytest.mark.parametrize("power", [21, 300, 400])
def test_numbers_beyond_floating_point(power: int) -> None:
    small = Fraction(number(Fraction(1, 3 * 10**power)))
    assert abs(small * 3 * 10**power - 1) < Fraction(1, 10**11)
    assert Fraction(number(Fraction(1, 10**power))) == Fraction(1, 10**power)
    assert abs(Fraction(number(Fraction(10**power, 3))) * 3 / 10**power - 1) < Fraction(1, 10**11)


@pytest.mark.parametrize(
    ("share", "text"), [(Fraction(199, 200), "99.5%"), (Fraction(1, 3), "33.3333333333%"), (Fraction(1), "100%")]
)
def test_a_share_is_printed_with_its_sign(share: Fraction, text: str) -> None:
    assert percent(share) == text


@given(st.integers(0, 10**9))
def test_a_percentage_is_read_back_as_it_was_printed(millionths: int) -> None:
    share = Fraction(millionths, 10**9)
    assert parse_percent(percent(share)) == share

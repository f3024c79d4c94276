"""The catalogue of codes: complete, in order, explained, and a bad spec for every mistake that `check` can tell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tocsin.cli import run
from tocsin.codes import Code, catalogue

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "compiler" / "tocsin"
BAD = ROOT / "tests" / "cases" / "bad"

# Codes that no small spec can raise, and what raises them instead.
ELSEWHERE = {
    "DSH105": "only a build holds dashboards against Grafana's schema: test_own_dashboards",
    "OUT101": "only a build compares with what is written: test_cli, test_write",
    "PRV101": "only a preview asks a Prometheus: test_preview_command",
    "PRV102": "only a preview asks a Prometheus: test_preview_command",
    "VFY101": "only a build asks promtool about rules",
    "VFY102": "only a build runs the generated tests",
    "VFY103": "only a build asks promtool about configurations",
    "VFY104": "only a build asks amtool about the configuration",
    "VFY105": "only a build asks amtool about routes",
    "VFY106": "only a build holds dashboards against Grafana's schema",
    "VFY107": "only a build reads the counters files",
    "VFY108": "only a build can meet such a promtool: test_discovery_written",
    "VFY115": "only a build reads the scripts: test_deep.test_a_script_that_no_shell_can_read_is_not_written",
    "VFY120": "only a build sends every alert through the routes: test_routing",
    "VFY121": "only a build looks for routes that nothing takes: test_routing",
    "VFY122": "only a build knows the labels of every alert: test_routing",
    "VFY123": "only a build renders the templates: test_notification_templates",
    "VFY124": "only a build holds its own dashboards against the plan: test_audit",
    "YML110": "it takes a file of more than 16 MiB: test_messages.test_a_file_that_is_too_large_is_refused",
}


def in_source() -> set[str]:
    """Every code that some module of the product names as a literal."""
    literals: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        literals |= set(re.findall(r'"([A-Z]{3}[1-9][0-9]{2})"', path.read_text("utf-8")))
    return literals


def with_a_case() -> set[str]:
    return {path.name[:6] for path in BAD.iterdir()}


def test_every_code_that_is_told_is_in_the_catalogue_and_no_other() -> None:
    assert sorted(catalogue()) == sorted(in_source())


def test_the_catalogue_is_sorted_by_area_and_number() -> None:
    assert list(catalogue()) == sorted(catalogue())


def test_every_code_has_a_bad_spec_or_a_reason_for_having_none() -> None:
    assert sorted(with_a_case() | set(ELSEWHERE)) == sorted(catalogue())
    assert not with_a_case() & set(ELSEWHERE)


@pytest.mark.parametrize("code", catalogue().values(), ids=lambda code: code.id)
def test_an_explanation_is_short_whole_and_fits_a_terminal(code: Code) -> None:
    assert 10 <= len(code.title) <= 72
    assert not code.title.endswith(".")
    meaning, _, rest = code.text.partition("\n\n")
    assert len(meaning) <= 1024  # what code scanning shows of a description
    assert rest, "an explanation says what to do, too"
    assert all(len(line) <= 120 for line in code.text.splitlines())


@pytest.mark.parametrize("id_", catalogue())
def test_explain_prints_a_code(id_: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = catalogue()[id_]
    assert run(["explain", id_]) == 0
    assert capsys.readouterr() == (f"{id_}: {code.title}\n\n{code.text}\n", "")


def test_explain_takes_lower_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "own101"]) == 0
    assert capsys.readouterr().out.startswith("OWN101: ")


def test_explain_all_lists_every_code_with_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"{code.id}  {code.title}" for code in catalogue().values()]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("OWN1O3", "tocsin: no code is called OWN1O3; did you mean OWN103?\n"),
        ("PQL1044", "tocsin: no code is called PQL1044; did you mean PQL104?\n"),
    ],
)
def test_an_unknown_code_is_a_wrong_call_with_a_suggestion(
    asked: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explain", asked]) == 2
    assert capsys.readouterr() == ("", said)


def test_a_code_like_no_other_is_a_wrong_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "nothing"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tocsin: no code is called nothing")
    assert "did you mean" not in err

"""Every message, whole: what `tocsin check` says about bad specs, and what it says to programs.

A case is tests/cases/bad/CODE_what.yaml, a spec by itself, with the expected text in CODE_what.txt; or a folder
CODE_what/ with spec.yaml, its parts, and expected.txt. Where a .json, .github or .sarif stands beside the text, that
format is compared as well. A literal secret in a case holds the word in SECRET, which no output may show.
"""

from __future__ import annotations

import json
import re
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

import pytest

from tocsin.cli import run
from tocsin.codes import catalogue
from tocsin.load.needed import NEEDED
from tocsin.load.shape import child, is_model
from tocsin.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Check = Callable[..., str]

CASES = Path(__file__).resolve().parent / "cases"
BAD, OK = CASES / "bad", CASES / "ok"
FORMATS = ("text", "json", "github", "sarif")
SECRET = "5ecret"
DOUBTS = {
    "CLU108",
    "DSH104",
    "DSH108",
    "DSH110",
    "MIX109",
    "RET113",
}  # codes of warnings: their specs are accepted all the same
VERSION = "0.0.0"  # stands in the goldens for the version of the day

SPECS = {path.stem: path for path in sorted(BAD.glob("*.yaml"))}
SPECS |= {path.parent.name: path for path in sorted(BAD.glob("*/spec.yaml"))}


def expected(name: str, ending: str) -> Path:
    spec = SPECS[name]
    return spec.with_name(f"expected.{ending}") if spec.name == "spec.yaml" else spec.with_suffix(f".{ending}")


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """The output of `tocsin check SPEC` in the spec's folder; its status must say whether the spec is refused."""
    monkeypatch.setattr("tocsin.report.as_sarif.__version__", VERSION)

    def output(spec: Path, format_: str = "text") -> str:
        monkeypatch.chdir(spec.parent)
        case = spec.parent.name if spec.name == "spec.yaml" else spec.name
        assert run(["check", "--format", format_, spec.name]) == int(case[:6] not in DOUBTS)
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return output


def compare(out: str, golden: Path, update: bool) -> None:
    if update:
        golden.write_bytes(out.encode())
    assert out == golden.read_bytes().decode()


@pytest.mark.parametrize("name", SPECS)
def test_a_bad_spec_is_told_so_in_these_words(name: str, check: Check, update: bool) -> None:
    out = check(SPECS[name])
    compare(out, expected(name, "txt"), update)
    codes = set(re.findall(r"^(?:error|warning)\[([A-Z]{3}[0-9]{3})\]: ", out, re.MULTILINE))
    assert name[:6] in codes
    if "no_follow_ups" in name:
        assert len(codes) == 1, "a part that is broken makes no further mistake"


PROGRAMS = [(name, format_) for format_ in FORMATS[1:] for name in SPECS if expected(name, format_).is_file()]


@pytest.mark.parametrize(("name", "format_"), PROGRAMS)
def test_programs_are_told_in_these_bytes(name: str, format_: str, check: Check, update: bool) -> None:
    compare(check(SPECS[name], format_), expected(name, format_), update)


def test_each_format_for_programs_has_goldens() -> None:
    assert {format_ for _, format_ in PROGRAMS} == set(FORMATS[1:])


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if SECRET in spec.read_text("utf-8", "replace")])
@pytest.mark.parametrize("format_", FORMATS)
def test_no_report_shows_a_secret(name: str, format_: str, check: Check) -> None:
    assert SECRET not in check(SPECS[name], format_)


def test_every_file_of_the_cases_belongs_to_a_case() -> None:
    lone = {path.name for path in BAD.iterdir() if path.is_file() and path.stem not in SPECS}
    folders = {path.name for path in BAD.iterdir() if path.is_dir() and not (path / "spec.yaml").is_file()}
    assert not lone | folders
    assert not [name for name in SPECS if not expected(name, "txt").is_file()]
    assert not [name for name in SPECS if not re.match(r"[A-Z]{3}[0-9]{3}_[a-z0-9_]+$", name)]


@pytest.mark.parametrize("spec", sorted(OK.glob("*.yaml")), ids=lambda spec: spec.stem)
@pytest.mark.parametrize("format_", FORMATS)
def test_a_good_spec_is_accepted(spec: Path, format_: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--format", format_, str(spec)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    if format_ == "json":
        assert json.loads(out)["diagnostics"] == []
    elif format_ == "sarif":
        assert json.loads(out)["runs"][0]["results"] == []
    else:
        assert out == ""


def test_all_diagnostics_of_a_run_are_sorted_by_file_and_place(check: Check) -> None:
    told = json.loads(check(SPECS["OWN101_many_problems"], "json"))["diagnostics"]
    places = [(d["location"]["path"], d["location"]["line"], d["location"]["column"]) for d in told]
    assert places == sorted(places)
    assert len(told) >= 10


@pytest.mark.parametrize("name", SPECS)
def test_sarif_is_what_code_scanning_takes(name: str, check: Check) -> None:
    """The properties that SARIF 2.1.0 requires, in the ranges that it gives them."""
    log = json.loads(check(SPECS[name], "sarif"))
    assert log["version"] == "2.1.0"
    (sarif,) = log["runs"]
    rules = sarif["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({result["ruleId"] for result in sarif["results"]})
    assert all(rule["help"]["text"] == catalogue()[rule["id"]].text for rule in rules)
    assert sarif["columnKind"] == "unicodeCodePoints"
    for result in sarif["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
        for place in [*result["locations"], *result.get("relatedLocations", [])]:
            check_place(place["physicalLocation"])


def check_place(place: dict[str, Any]) -> None:
    uri, region = place["artifactLocation"]["uri"], place["region"]
    assert re.fullmatch(r"[A-Za-z0-9_./%-]+", uri)
    assert not uri.startswith("/")
    assert region["startLine"] >= 1
    assert region["startColumn"] >= 1
    assert (region["endLine"], region["endColumn"]) >= (region["startLine"], region["startColumn"])


@pytest.mark.parametrize("name", SPECS)
def test_a_workflow_command_is_one_line_a_diagnostic(name: str, check: Check) -> None:
    lines = check(SPECS[name], "github").splitlines()
    told = json.loads(check(SPECS[name], "json"))["diagnostics"]
    assert len(lines) == len(told)
    for line, diagnostic in zip(lines, told, strict=True):
        place = diagnostic["location"]
        assert line.startswith(f"::{diagnostic['severity']} file=")
        assert f",line={place['line']},col={place['column']}," in line
        assert f"title={diagnostic['code']}::" in line


def test_paths_are_told_as_seen_from_where_the_command_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(CASES.parent)
    assert run(["check", "cases/bad/OWN101_in_an_included_file/spec.yaml"]) == 1
    assert "\n  --> cases/bad/OWN101_in_an_included_file/slos/search.yaml:3:12\n" in capsys.readouterr().out


def test_several_specs_are_checked_in_one_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(BAD)
    assert run(["check", "YML112_empty.yaml", "../ok/minimal.yaml", "SPC101_a_text.yaml"]) == 1
    out = capsys.readouterr().out
    assert "YML112_empty.yaml:1:1" in out
    assert "SPC101_a_text.yaml:1:1" in out
    assert out.endswith("\n2 errors\n")


def test_a_spec_from_standard_input_is_called_by_a_dash(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(SPECS["OWN101_layer"].read_bytes())))
    assert run(["check", "-"]) == 1
    assert capsys.readouterr().out == expected("OWN101_layer", "txt").read_text("utf-8").replace(
        "OWN101_layer.yaml", "-"
    )


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, check: Check) -> None:
    (tmp_path / "spec.yaml").write_bytes(b"#" * (16 * 2**20 + 1))
    assert check(tmp_path / "spec.yaml") == (
        "error[YML110]: 'spec.yaml' is larger than 16 MiB\n"
        "  --> spec.yaml:1:1\n"
        "  = hint: split it and list the parts under `include`\n"
        "\n"
        "1 error\n"
    )


def test_a_folder_is_no_spec(tmp_path: Path, check: Check) -> None:
    (tmp_path / "spec.yaml").mkdir()
    assert "error[YML109]: 'spec.yaml' cannot be read: it is a folder\n" in check(tmp_path / "spec.yaml")


def test_the_folder_where_the_command_runs_is_no_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["check", "."]) == 1
    assert capsys.readouterr().out.startswith("error[YML109]: '.' cannot be read: it is a folder\n  --> .:1:1\n")


def required(shape: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all keys of the language that have no default, with `*` for names."""
    if is_model(shape):
        for name, field in shape.model_fields.items():
            key = field.alias or name
            if field.is_required():
                yield (*path, key)
            yield from required(child(shape, key), (*path, key))
    elif get_origin(shape) in (dict, list):
        yield from required(child(shape, "*"), (*path, "*"))


def test_every_key_that_may_be_missing_has_a_hint_of_its_own() -> None:
    keys = {".".join(path) for path in required(Spec)}
    assert len(keys) > 50
    patterns = {pattern: re.compile(re.escape(pattern).replace(r"\*", "[^.]+")) for pattern in NEEDED}
    assert [key for key in sorted(keys) if not any(rule.fullmatch(key) for rule in patterns.values())] == []
    assert [pattern for pattern, rule in patterns.items() if not any(map(rule.fullmatch, keys))] == []


def test_a_terminal_gets_colours_and_a_file_none(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = check(SPECS["OWN101_layer"])
    monkeypatch.setattr("tocsin.cli.commands.colored", lambda *_: True)
    painted = check(SPECS["OWN101_layer"])
    assert painted != plain
    assert re.sub("\x1b\\[[0-9;]*m", "", painted) == plain


def test_a_name_cannot_steer_the_terminal(tmp_path: Path, check: Check) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        (OK / "minimal.yaml").read_text("utf-8").replace("fallback: ops", 'fallback: "o\\e[2Jp\u202es"'), "utf-8"
    )
    out = check(spec)
    assert "error[SPC103]: the text 'o?[2Jp?s' is not a name\n" in out
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", out)

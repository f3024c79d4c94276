"""The annotations that a generated test expects are those that Prometheus renders, letter by letter."""

import math
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from conftest import ROOT
from tocsin.cli import run
from tocsin.emit.rules import rules
from tocsin.emit.ruletests import ruletests
from tocsin.lower.proofs import MINUTE, fires, firing, proof, render, series, silent
from tocsin.plan.rules import Alert, Expectation, RuleFile, RuleGroup, RuleTest
from tocsin.source import Span
from tocsin.units import NO_TIME
from toolbox import Tool

HERE = Span("spec.yaml", 1, 1, 1, 2)

LABELS = [
    *(
        "gpu-node-01",
        "GPU-00000000-0000-0000-0000-000000000001",
        "a b",
        " a ",
        "a+b",
        "a%20b",
        "a&b=c",
        "a/b?c#d",
        "~-_.",
    ),
    *(
        "'",
        '"',
        "`",
        "\\",
        "\\n",
        "a\nb",
        "a\tb",
        "\r",
        "{{",
        "}}",
        "{{ $value }}",
        "$labels.x",
        "%",
        "%s",
        "100%",
        "$1",
    ),
    *(
        "<b>",
        "&amp;",
        "é",
        "e\u0301",
        "日本",
        "😀",
        "\x00",
        "\x07",
        "\x7f",
        "\x85",
        "\xa0",
        "\u2028",
        "\ufeff",
        "\U0010ffff",
    ),
    *("!*'();:@&=+$,/?#[]", "^|<>{}", *map(chr, range(0x20, 0x7F))),
]
NUMBERS = [
    *(
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        0.2 + 0.1,
        1 / 3,
        2 / 3,
        1.5,
        99.95,
        99.994,
        99.995,
        99.996,
        0.99999,
        0.999995,
        0.123456789,
    ),
    *(12345.0, 123456.0, 1234567.0, 999999.0, 1e6, 1000001.0, 25e9, 12500000000.0, 31507692307.0, 63015384615.0, 1e15),
    *(
        123456789012345680.0,
        1e16,
        1e17,
        1e20,
        1e21,
        1e22,
        123456789012345678901.0,
        999999999999999999999.0,
        1e100,
        1e308,
    ),
    *(
        0.001,
        0.0001,
        0.00012345,
        0.00001,
        1.5e-5,
        1e-6,
        1e-7,
        1e-10,
        5e-324,
        2.2250738585072014e-308,
        1.7976931348623157e308,
    ),
    *(
        math.pi,
        -math.e,
        1e-9 / 3,
        2.0**31,
        2.0**53,
        2.0**53 + 2,
        2.0**63,
        2.0**64,
        2.0**70,
        450.0,
        22.5,
        1024.0,
        65536.0,
    ),
    *(math.inf, -math.inf, math.nan),
]
OTHER = [{}, {"owner": "somebody else"}]  # an annotation sees the expression's own labels, not those of the rule
TEXTS = {
    "label": "{{ $labels.text }}",
    "query": "https://a.b/d?x={{ $labels.text | urlquery }}&y={{ $labels.absent | urlquery }}!",
    "conditional": "a{{ if $labels.text }} b {{ $labels.text }}.{{ end }}{{ if $labels.absent }} never{{ end }}!",
    "own": "{{ $labels.owner }}of {{ $labels.absent }}{{ $labels.number }}",
    "plain": "no action, {text} and $labels.text",
}
VALUES = {
    "value": "{{ $value }}",
    "prefix": "{{ $value | humanize }} of {{ $value }}",
    "share": "{{ $value | humanizePercentage }} of {{ $value }} at {{ $labels.owner }}",
}


def alert(name: str, expr: str, annotations: dict[str, str]) -> Alert:
    """An alert that fires at once."""
    return Alert(name, expr, NO_TIME, {"owner": "gpu-platform"}, annotations, HERE)


def test_what_is_expected_is_what_prometheus_renders(promtool: Tool, tmp_path: Path) -> None:
    shown = alert("Shown", "text", TEXTS)
    labels = [{"number": str(number), "text": text, **OTHER[number % 2]} for number, text in enumerate(LABELS)]
    inputs = tuple(series("text", one, "1x5") for one in labels)
    expected = Expectation(MINUTE, "Shown", tuple(firing(shown, one, 1) for one in labels))
    told = [alert(f"Value{number}", f"vector({value!r})", VALUES) for number, value in enumerate(NUMBERS)]
    values = tuple(fires(one, 1, {}, value=value) for one, value in zip(told, NUMBERS, strict=True))
    never = alert("Never", "vector(1) > 1", {})
    tests = (
        RuleTest("labels and values", MINUTE, inputs, (expected, *values), HERE),
        proof(never, "nothing happens", [], silent(never, 1)),
    )
    group = RuleGroup("rendering", (shown, *told, never), tests)
    run = judged(promtool, group, tmp_path)
    assert run.returncode == 0, (run.stdout + run.stderr)[-5000:]


def judged(promtool: Tool, group: RuleGroup, folder: Path) -> subprocess.CompletedProcess[str]:
    """What promtool says about a group and its tests, printed as every build prints them."""
    plan = SimpleNamespace(rules=(RuleFile("rendering", (group,)),))
    for artifact in (*rules(plan), *ruletests(plan)):  # type: ignore[arg-type]
        path = folder / artifact.path
        path.parent.mkdir()
        path.write_text(artifact.text, "utf-8")
    command = [promtool.path, "test", "rules", "tests/rendering.yml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("wrong", [{"label": "b"}, {"label": "a", "more": ""}, {}])
def test_promtool_would_see_a_wrong_annotation(wrong: dict[str, str], promtool: Tool, tmp_path: Path) -> None:
    shown = alert("Shown", "text", {"label": "{{ $labels.text }}"})
    right = firing(shown, {"text": "a"}, 1)
    assert right.annotations == {"label": "a"}
    test = RuleTest("wrong", MINUTE, (series("text", {"text": "a"}, "1x5"),), (), HERE)
    for annotations, status in ((right.annotations, 0), (wrong, 1)):
        expected = Expectation(MINUTE, "Shown", (right._replace(annotations=annotations),))
        folder = tmp_path / str(status)
        folder.mkdir()
        group = RuleGroup("rendering", (shown,), (test._replace(expectations=(expected,)),))
        assert judged(promtool, group, folder).returncode == status


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (3, "3"),
        (0.1, "0.1"),
        (12345678, "1.2345678e+07"),
        (25_000_000_000, "2.5e+10"),
        (1e21, "1e+21"),
        (0.00001, "1e-05"),
        (math.inf, "+Inf"),
        (math.nan, "NaN"),
    ],
)
def test_a_value_as_go_prints_it(value: float, text: str) -> None:
    assert render("{{ $value }}", {}, value) == text


def test_a_firing_alert_has_its_rules_labels_and_its_annotations_do_not_see_them() -> None:
    told = alert("Told", "x", {"text": "{{ $labels.owner }} {{ $labels.node }}"})
    found = firing(told, {"owner": "other", "node": "n1"}, 1)
    assert found.labels == {"owner": "gpu-platform", "node": "n1"}
    assert found.annotations == {"text": "other n1"}


# What the proofs call those who must not matter, or called them once.
NAMES = {
    "gpu-platform": "foreign",
    "ml-platform": "another",
    "network": "b",
    "east": "another",
    r'"gpu-node-\[01-64\]"': "[another, other, foreign, 'gpu-node-[04-64]']",
    r'"gpu-node-\[01-56\]"': "[another, other, foreign, 'gpu-node-[04-56]']",
    r"gpu-node-\[0-9\]\{2\}": "another|other|foreign|gpu-node-[0-9]{2}",
}


def test_names_of_the_proofs_are_free_for_specs(newest: dict[str, Tool], tmp_path: Path) -> None:
    """Owners, a cluster and hosts may be called as strangers are elsewhere: every proof holds."""
    for path in (ROOT / "specs").rglob("*.yaml"):
        text = path.read_text("utf-8")
        for old, new in NAMES.items():
            text = re.sub(rf"(?<![\w-]){old}(?![\w-])", new, text)
        copy = tmp_path / path.relative_to(ROOT / "specs")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, "utf-8")
    assert run(["build", str(tmp_path / "ai-factory.yaml"), "--out", str(tmp_path / "out")]) == 0

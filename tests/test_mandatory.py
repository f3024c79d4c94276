"""Every signal that the catalogue knows can be the only mandatory one, and is then watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from tocsin import naming
from tocsin.catalog import EXPORTERS, exporter_kinds, metrics_of, signal_kinds
from tocsin.diagnostics import Log
from tocsin.pipeline import compile_spec
from tocsin.verify import Tool as Judge
from tocsin.verify import verify

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Diagnostic
    from toolbox import Tool

SPEC = (ROOT / "tests" / "cases" / "golden" / "oldest-targets" / "spec.yaml").read_text("utf-8")
CABLED = SPEC.replace("gpu: {model: h100, count: 1}", "gpu: {model: h100, count: 1}, fabric: infiniband")

# Where these are missing, other alerts say so: boards are counted by the one, the other is a label and no series.
WATCHED_OTHERWISE = {"gpu_temp": "NodeGpusMissing", "job_metadata": "GpuWithoutJob"}
ON_PORTS = {"fabric_link"}

EVERYWHERE = {metric.signal for exporter in EXPORTERS for metric in metrics_of(exporter)}
ALWAYS = [
    kind.id
    for kind in signal_kinds().values()
    if kind.label or ((kind.base or kind.mandatory) and kind.id in EVERYWHERE)
]
PROGRAMS = [
    (kind.id, flavour) for kind in exporter_kinds().values() if not kind.mapped for flavour in kind.flavours or ("",)
]


@pytest.mark.parametrize("text", [SPEC, CABLED], ids=["without a fabric", "with a fabric"])
@pytest.mark.parametrize("signal", ALWAYS)
def test_alone(signal: str, text: str, tmp_path: Path, newest: dict[str, Tool]) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(text.replace("mandatory: [xid]", f"mandatory: [{signal}]"), "utf-8")
    log = Log()
    compiled = compile_spec(str(path), log, {})
    assert compiled is not None, log.sorted()
    rules = [rule for file in compiled.plan.rules for group in file.groups for rule in group.rules]
    names = {rule.name for rule in rules}
    if signal in WATCHED_OTHERWISE:
        assert WATCHED_OTHERWISE[signal] in names
    elif signal not in ON_PORTS or text is CABLED:
        title = "".join(word.title() for word in signal.split("_"))
        assert any(name.startswith(f"Signal{title}Missing") for name in names)
    collection = [a for a in compiled.artifacts if not a.path.startswith("tests/") or "collection" in a.path]
    assert judged(collection, newest) == []


def judged(artifacts: Sequence[Artifact], tools: dict[str, Tool]) -> list[Diagnostic]:
    """What promtool and amtool say of some files of the output."""
    log = Log()
    promtool, amtool = (Judge(tool.name, str(tool.path), "?") for tool in tools.values())
    verify(artifacts, promtool, amtool, log)
    return log.sorted()


def scraped(exporter: str, flavour: str) -> str:
    """The oldest targets' spec with one exporter more, and the newest dcgm-exporter."""
    kind = exporter_kinds()[exporter]
    flavoured = f"flavour: {flavour}, " if flavour else ""
    where = {
        "node": f"port: {kind.example}",
        "address": f'{flavoured}at: ["{kind.example}"]',
        "proxy": f'{flavoured}at: "{kind.example}", hosts: "bmc-[1-2]"',
    }
    section = f"    exporters: {{{exporter}: {{{where[kind.stands]}}}}}\n"
    text = CABLED.replace("    discovery:", f"{section}    discovery:")
    return text.replace("dcgm_exporter: 3.3.6", 'dcgm_exporter: "4.9"')


# One of them in every run; all of them take minutes.
@pytest.mark.parametrize(
    ("exporter", "flavour"),
    [pytest.param(*one, marks=() if one == ("kueue", "") else pytest.mark.slow) for one in PROGRAMS],
)
def test_all_that_an_exporter_shows(exporter: str, flavour: str, tmp_path: Path, newest: dict[str, Tool]) -> None:
    """Each of its signals that shows while all is well has an alert that misses it, whose proof holds."""
    shown = metrics_of(exporter, flavour)
    steady = sorted({metric.signal for metric in shown if not metric.sparse})
    others = sorted({metric.signal for metric in shown} - {*steady})
    path = tmp_path / "spec.yaml"
    lists = f"mandatory: [{', '.join(steady or ['xid'])}], collect: [{', '.join(others)}]"
    path.write_text(scraped(exporter, flavour).replace("mandatory: [xid]", lists), "utf-8")
    log = Log()
    compiled = compile_spec(str(path), log, {})
    assert compiled is not None, log.sorted()
    collected = {name for name, metric in compiled.factory.metrics.items() if metric in shown}
    assert collected == {metric.name for metric in shown}
    names = {rule.name for file in compiled.plan.rules for group in file.groups for rule in group.rules}
    missed = {naming.titled(signal): signal for signal in steady if signal not in WATCHED_OTHERWISE}
    watched = {title for title in missed if any(name.startswith(f"Signal{title}Missing") for name in names)}
    assert watched == {*missed}
    if exporter not in EXPORTERS:  # these have a proof each above, and all at once take minutes
        parts = ("rules/collection", "tests/collection", "alertmanager/")
        assert judged([one for one in compiled.artifacts if one.path.startswith(parts)], newest) == []


def test_errors_of_roce_are_watched_by_their_own_names(tmp_path: Path, newest: dict[str, Tool]) -> None:
    """Who insists on the errors of the fabric gets those of the fabric that there is."""
    path = tmp_path / "spec.yaml"
    text = CABLED.replace("fabric: infiniband", "fabric: roce").replace(
        "mandatory: [xid]", "mandatory: [fabric_errors]"
    )
    path.write_text(text, "utf-8")
    log = Log()
    compiled = compile_spec(str(path), log, {})
    assert compiled is not None, log.sorted()
    rules = [rule for file in compiled.plan.rules for group in file.groups for rule in group.rules]
    severity = {rule.name: rule.labels["severity"] for rule in rules if "severity" in rule.labels}
    assert severity["RocePacketsLost"] == severity["FabricPortDown"] == "page"
    assert severity["RoceErrorsCorrected"] == severity["SignalRoceErrorsMissingFromNode"] == "ticket"
    assert not {"FabricLinkLost", "FabricErrorsCorrected", "SignalFabricErrorsMissingFromNode"} & severity.keys()
    assert judged(list(compiled.artifacts), newest) == []

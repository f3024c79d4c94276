"""Limits and tiers that a spec sets: what holds without it, what it changes, and which alerts are off."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from tocsin.catalog import limit_kinds, xid_classes
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.rules import Alert
from tocsin.verify import Tool as Judge
from tocsin.verify import verify
from toolbox import dotted

if TYPE_CHECKING:
    from pathlib import Path

    from toolbox import Tool

SMALL = (ROOT / "tests" / "cases" / "golden" / "oldest-targets" / "spec.yaml").read_text("utf-8")
SPEC = SMALL.replace("mandatory: [xid]", "mandatory: [xid, throttle_reasons]")
# With as many nodes as make a storm.
EVERY_EXPORTER = (
    (ROOT / "tests" / "cases" / "golden" / "every-exporter" / "spec.yaml")
    .read_text("utf-8")
    .replace('"box-[01-02]"', '"box-[01-12]"')
)


def compiled(folder: Path, text: str) -> Compiled:
    path = folder / "spec.yaml"
    path.write_text(text, "utf-8")
    log = Log()
    result = compile_spec(str(path), log, {})
    assert result is not None, log.sorted()
    return result


def alerts(result: Compiled) -> dict[str, Alert]:
    rules = (rule for file in result.plan.rules for group in file.groups for rule in group.rules)
    return {rule.name: rule for rule in rules if isinstance(rule, Alert)}


def without_limits(text: str) -> str:
    """The spec without its section `limits`."""
    head, _, rest = text.partition("limits:\n")
    return head + rest[rest.index("xid:") :]


def test_what_is_usual_holds_where_the_spec_says_nothing(tmp_path: Path) -> None:
    result = compiled(tmp_path, SPEC)
    assert result.factory.limits["gpu_clock_share"] == Fraction(4, 5)
    assert "< 0.8\n" in alerts(result)["GpuClockLow"].expr


def test_the_spec_has_its_way(tmp_path: Path) -> None:
    result = compiled(tmp_path, SPEC + "\nlimits: {gpu_clock_share: 55.5%}\n")
    assert "< 0.555\n" in alerts(result)["GpuClockLow"].expr


def test_what_nobody_verified_is_off_until_the_spec_sets_it(tmp_path: Path) -> None:
    on, off = alerts(compiled(tmp_path, EVERY_EXPORTER)), alerts(compiled(tmp_path, without_limits(EVERY_EXPORTER)))
    for kind in limit_kinds().values():
        assert kind.alert in on, kind.id
        assert (kind.alert in off) == (kind.usual is not None), kind.id


@pytest.mark.parametrize("signal", ["filesystem", "memory_temp_limit", "pcie_link_gen", "pcie_link_width"])
def test_an_alert_of_what_is_not_collected_is_not_there(tmp_path: Path, signal: str) -> None:
    name = {
        "filesystem": "FilesystemFilling",
        "memory_temp_limit": "GpuMemoryNearLimit",
        "pcie_link_gen": "GpuPcieLinkSlow",
        "pcie_link_width": "GpuPcieLanesLost",
    }[signal]
    assert name not in alerts(compiled(tmp_path, SPEC))
    collecting = SMALL.replace("mandatory: [xid]", f"mandatory: [xid], collect: [{signal}]")
    assert name in alerts(compiled(tmp_path, collecting))


def test_a_code_has_the_tier_that_the_spec_says(tmp_path: Path) -> None:
    moved = compiled(tmp_path, SPEC + "\nxid: {page: [31, 94], ticket: [62, 63, 300]}\n")
    severities = {code: class_.severity for class_ in moved.factory.xid_classes for code in class_.codes}
    assert {severities[31], severities[94]} == {"page"}
    assert {severities[62], severities[63], severities[300]} == {"ticket"}
    assert len([code for class_ in moved.factory.xid_classes for code in class_.codes]) == len(severities)
    layers = {code: class_.layer for class_ in moved.factory.xid_classes for code in class_.codes}
    assert all(layers[code] == class_.layer for class_ in xid_classes() for code in class_.codes)
    found = alerts(moved)
    assert found["GpuXidApplicationPaged"].labels["severity"] == "page"
    assert '"31"' in found["GpuXidApplicationPaged"].expr
    assert "|62|" not in found["GpuXidReset"].expr
    assert "GpuXidContained" not in found


def test_without_a_word_the_classes_are_those_of_the_catalogue(tmp_path: Path) -> None:
    assert compiled(tmp_path, SPEC).factory.xid_classes == xid_classes()


def test_each_node_group_has_its_own_drivers(tmp_path: Path, newest: dict[str, Tool]) -> None:
    """Two groups of a cluster may have two versions; a group of one node has one."""
    more = 'box: {hosts: "box-[01-12]", gpu: {model: b200, count: 8}, fabric: infiniband}'
    text = EVERY_EXPORTER.replace(
        f"nodes: {{{more}}}",
        f'nodes: {{{more}, old: {{hosts: "old-[1-3]", gpu: {{model: a100, count: 2}}, fabric: none}}, '
        "lone: {hosts: lone, gpu: {model: a100, count: 2}, fabric: none}}",
    )
    assert text != EVERY_EXPORTER
    result = compiled(tmp_path, text)
    rules = [rule for file in result.plan.rules for group in file.groups for rule in group.rules]
    skews = [rule for rule in rules if rule.name == "GpuDriverSkew"]
    assert [rule.labels["node_group"] for rule in skews] == ["box", "old"]
    log = Log()
    kept = [a for a in result.artifacts if not a.path.startswith("tests/") or a.path == "tests/silicon.yml"]
    tools = [Judge(tool.name, str(tool.path), dotted(tool.version)) for tool in (newest["promtool"], newest["amtool"])]
    verify(kept, *tools, log)
    assert log.sorted() == []

"""Every signal that the catalogue knows can be the only mandatory one, and is then watched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from tocsin.catalog import signal_kinds
from tocsin.diagnostics import Log
from tocsin.pipeline import compile_spec
from tocsin.verify import Tool as Judge
from tocsin.verify import verify

if TYPE_CHECKING:
    from pathlib import Path

    from toolbox import Tool

SPEC = (ROOT / "tests" / "cases" / "golden" / "oldest-targets" / "spec.yaml").read_text("utf-8")
CABLED = SPEC.replace("gpu: {model: h100, count: 1}", "gpu: {model: h100, count: 1}, fabric: infiniband")

# Where these are missing, other alerts say so: boards are counted by the one, the other is a label and no series.
WATCHED_OTHERWISE = {"gpu_temp": "NodeGpusMissing", "job_metadata": "GpuWithoutJob"}
ON_PORTS = {"fabric_link"}


@pytest.mark.parametrize("text", [SPEC, CABLED], ids=["without a fabric", "with a fabric"])
@pytest.mark.parametrize("signal", signal_kinds())
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
    promtool, amtool = (Judge(tool.name, str(tool.path), "?") for tool in newest.values())
    collection = [a for a in compiled.artifacts if not a.path.startswith("tests/") or "collection" in a.path]
    verify(collection, promtool, amtool, log)
    assert log.sorted() == []

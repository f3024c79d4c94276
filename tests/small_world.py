"""The world of the incidents with more nodes: enough for a dozen faults at a time, and quick to scrape."""

from __future__ import annotations

from functools import cache

from conftest import ROOT
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec

_CHANGES = (
    ('"gpu-node-[01-02]"', '"gpu-node-[01-24]"'),
    ("hosts: gpu-node-01,", 'hosts: "gpu-node-[01-16]",'),
    ("hosts: gpu-node-02,", 'hosts: "gpu-node-[23-24]",'),
    ("pcie_link_gen]", "pcie_link_gen, filesystem]"),
)


@cache
def small_world(*changes: tuple[str, str]) -> Compiled:
    """The spec with further changes of its text, each of which has to be possible, compiled."""
    text = (ROOT / "specs" / "incident-world.yaml").read_text("utf-8")
    for old, new in (*_CHANGES, *changes):
        assert old in text, old
        text = text.replace(old, new)
    log = Log()
    compiled = compile_spec("-", log, {}, text.encode())
    assert compiled is not None, log.sorted()
    return compiled

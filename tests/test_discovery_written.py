"""What people write about a source of targets, and what a judge says that does not know the source."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from conftest import ROOT
from tocsin.artifact import Artifact
from tocsin.diagnostics import Log
from tocsin.pipeline import compile_spec
from tocsin.source import Span
from tocsin.verify import Tool as Judge
from tocsin.verify.promtool import judge_configurations

if TYPE_CHECKING:
    from pathlib import Path

SPEC = ROOT / "tests" / "cases" / "golden" / "discovered" / "spec.yaml"

# --- what people write into a source ----------------------------------------------------------------------------------

SAID = """
pods.kubernetes.api_server pods.kubernetes.token_file pods.kubernetes.ca_file pods.kubernetes.tenant_label
pods.kubernetes.namespaces.4 pods.kubernetes.pods.dcgm.app services.consul.server services.consul.scheme
services.consul.datacenter services.consul.token_file services.consul.services.dcgm records.dns.domain
records.dns.type records.dns.names.dcgm lists.http.token_file lists.http.urls.dcgm
""".split()
WORDS = (
    "a",
    "null",
    "1e3",
    "a: b",
    "a, b",
    "a]",
    "}",
    "$1",
    "${HOME}",
    "a|b",
    ".*",
    "a\nb: c",
    '"',
    "'",
    "#",
    "\\",
    "é",
    "",
)


@pytest.mark.parametrize("place", SAID)
def test_what_is_written_is_a_text_or_refused(place: str) -> None:
    """No word opens a key, a list or an expression of its own: the files differ in that text and in nothing else."""
    cluster, *path = place.split(".")
    usual = written(cluster, path, None)
    assert usual
    taken = 0
    for word in WORDS:
        found = written(cluster, path, word)
        if found is not None:
            taken += 1
            assert shape(found) == shape(usual), word
            assert word in json.dumps(found) or word == "SRV", word
    assert taken < len(WORDS) / 2


def written(cluster: str, path: list[str], word: str | None) -> Any:
    """The configuration of a cluster with a word at a place of its discovery; None where it is refused."""
    spec = yaml.safe_load(SPEC.read_text("utf-8"))
    node = spec["clusters"][cluster]["discovery"]
    *above, last = (int(step) if step.isdigit() else step for step in path)
    for step in above:
        node = node[step]
    if word is not None:
        node[last] = word
    log = Log()
    result = compile_spec("-", log, {}, json.dumps(spec).encode())
    assert (result is None) == log.failed
    if result is None:
        return None
    (text,) = [one.text for one in result.artifacts if one.path == f"prometheus/{cluster}/prometheus.yml"]
    return yaml.safe_load(text)


def shape(value: Any) -> Any:
    """A configuration without its texts."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value).__name__


# --- what a judge cannot read -----------------------------------------------------------------------------------------

CONFIGURATION = """scrape_configs:
- job_name: a
  consul_sd_configs:
  - server: consul:8500
    services: [a]
  relabel_configs:
  - {regex: "", target_label: cluster, replacement: east}
- job_name: b
  scrape_interval: 5x
"""
OLD_PROMTOOL = """#!/bin/sh
# It knows no Consul, and no interval of 5x.
file=$(for last; do :; done; echo "$last")
grep -n consul_sd_configs "$file" > /dev/null && {
  echo "  line 3: field consul_sd_configs not found in type config.ScrapeConfig"; exit 1
}
grep -n relabel_configs "$file" > /dev/null || exit 0
number=$(grep -n 5x "$file" | cut -d: -f1)
echo "  line $number: not a valid duration string: 5x"; exit 1
"""


def test_a_judge_without_a_kind_of_discovery_judges_the_rest(tmp_path: Path) -> None:
    """What it cannot read is told as a doubt, what is wrong beside it as a mistake, both at their lines."""
    judge = tmp_path / "promtool"
    judge.write_text(OLD_PROMTOOL, "utf-8")
    judge.chmod(0o755)
    path = "prometheus/east/prometheus.yml"
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(CONFIGURATION, "utf-8")
    lines = tuple((number, Span("spec.yaml", number, 1, number, 2)) for number in range(1, 10))
    log = Log()
    judge_configurations(
        Judge("promtool", str(judge), "2.42.0"), {path: Artifact(path, CONFIGURATION, lines)}, tmp_path, log
    )
    said = [(one.code, one.severity.value, one.span.line) for one in log.sorted()]
    assert said == [("VFY108", "warning", 3), ("VFY103", "error", 9)]

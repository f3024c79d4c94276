"""Native histograms: how servers are started and jobs are scraped, release by release, so that they are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from conftest import ROOT
from tocsin.diagnostics import Log
from tocsin.pipeline import compile_spec

if TYPE_CHECKING:
    from pathlib import Path

SPEC = ROOT / "tests" / "cases" / "golden" / "indicators" / "spec.yaml"
CONFIGURATION = "prometheus/east/prometheus.yml"
FLAG = "--enable-feature=native-histograms"


def files(folder: Path, *changes: tuple[str, str]) -> dict[str, str]:
    text = SPEC.read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    spec = folder / "spec.yaml"
    spec.write_text(text, "utf-8")
    log = Log()
    result = compile_spec(str(spec), log, {})
    assert result is not None, log.sorted()
    return {artifact.path: artifact.text for artifact in result.artifacts}


def settings(text: str, job: str) -> set[str]:
    jobs = yaml.safe_load(text)["scrape_configs"]
    return {key for key in next(one for one in jobs if one["job_name"] == job) if "histograms" in key}


# Before 3.8 a flag makes the server ask every job for them, and the classic ones are dropped where that is not refused
# (Prometheus' changelog and configuration, by release).
@pytest.mark.parametrize(
    ("release", "flagged", "asked"),
    [
        ("2.47", True, {"scrape_classic_histograms"}),
        ("2.55", True, {"scrape_classic_histograms"}),
        ("3.0", True, {"always_scrape_classic_histograms"}),
        ("3.7", True, {"always_scrape_classic_histograms"}),
        ("3.8", False, {"scrape_native_histograms", "always_scrape_classic_histograms"}),
        ("3.14", False, {"scrape_native_histograms", "always_scrape_classic_histograms"}),
    ],
)
def test_servers_and_jobs_of_each_release(release: str, flagged: bool, asked: set[str], tmp_path: Path) -> None:
    found = files(tmp_path, ('prometheus: "3.5"', f'prometheus: "{release}"'))
    started = yaml.safe_load(found.get(f"start/{CONFIGURATION}", "args: []"))["args"]
    assert (FLAG in started) == flagged
    assert settings(found[CONFIGURATION], "serving") == asked
    for job in ("dcgm", "node", "probes"):
        assert settings(found[CONFIGURATION], job) == set()


def test_nothing_is_asked_for_where_all_histograms_are_classic(tmp_path: Path) -> None:
    bounds = ("{metric: request_queued_seconds,", "{metric: request_queued_seconds, buckets: [0.3],")
    found = files(tmp_path, ("below: 300ms, native: true", "below: 300ms"), bounds)
    assert FLAG not in "".join(found.values())
    assert settings(found[CONFIGURATION], "serving") == set()


@pytest.mark.parametrize(("store", "sent"), [("thanos", True), ("prometheus", True), ("victoriametrics", False)])
def test_they_are_written_to_stores_that_take_them(store: str, sent: bool, tmp_path: Path) -> None:
    tiers = (
        "retention:\n  hot: {resolution: full, keep: 30d}\n"
        "  warm: {resolution: full, keep: 90d, store: {url: 'http://store:1/api/v1/write'}}\n\ntenants:"
    )
    targets = ('dcgm_exporter: "4.8.2"}', f'dcgm_exporter: "4.8.2", long_term: {store}}}')
    found = files(tmp_path, targets, ("tenants:", tiers))
    (write,) = yaml.safe_load(found[CONFIGURATION])["remote_write"]
    assert write.get("send_native_histograms", False) == sent

"""Every way to write an SLO is proven: its generated tests hold on every promtool, whatever its table and period."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from slo_specs import GOOD, METRIC, SLO, spec
from tocsin.diagnostics import Log
from tocsin.pipeline import compile_spec
from tocsin.write import write

if TYPE_CHECKING:
    from pathlib import Path

    from toolbox import Tool

GOOD_EVENTS = {"good": GOOD, "total": METRIC}
IDLE_IS_BAD = {"no_traffic": "bad", "traffic": {"expected": "20/s"}}
SHORT = [{"long": "1h", "short": "4m", "factor": 14.4, "severity": "page"}]
SHAPES: dict[str, dict[str, Any]] = {
    "month": {},
    "good": {"ratio": GOOD_EVENTS},
    "by-route": {"by": ["cluster", "route"], "period": "28d"},
    "idle-is-good": {"no_traffic": "good"},
    "idle-is-bad": IDLE_IS_BAD,
    "idle-is-bad-of-good": {**IDLE_IS_BAD, "ratio": GOOD_EVENTS},
    "day": {"period": "1d", "objective": "99%"},
    "week": {"period": "7d", "objective": "99%"},
    "year": {"period": "365d"},
    "pyrra": {"period": "28d", "alerts": {"table": "pyrra"}},
    "pyrra-of-two-weeks": {"period": "14d", "alerts": {"table": "pyrra"}},
    "sloth": {"alerts": {"table": "sloth"}},
    "short": {"alerts": {"windows": [*SHORT, {"long": "3d", "factor": 1, "severity": "ticket"}]}},
    "year-by-the-day": {"period": "365d", "alerts": {"windows": [{"long": "1d", "factor": 3, "severity": "page"}]}},
}


def test_every_shape_is_proven(promtool: Tool, tmp_path: Path) -> None:
    """All of them in one spec."""
    said = json.loads(spec(SLO, instances=3, interval="15s"))
    said["slos"] = {name: {**SLO, **shape} for name, shape in SHAPES.items()}
    said["retention"]["hot"]["keep"] = "1y"
    path, log = tmp_path / "spec.yaml", Log()
    path.write_text(json.dumps(said), encoding="utf-8")
    result = compile_spec(str(path), log, {})
    assert result is not None, log.sorted()
    write(result.artifacts, tmp_path / "out")
    files = sorted((tmp_path / "out/tests").glob("slo-*.yml"))
    assert len(files) >= len(SHAPES)
    done = subprocess.run([promtool.path, "test", "rules", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]

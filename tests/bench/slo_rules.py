"""What the rules of one SLO cost a Prometheus that has a month of its counters, beside others' rules for the same."""

import json
import subprocess
import sys
from collections.abc import Sequence

from .clock import Spread
from .ours import CHECKOUT
from .table import Bound, Row

MINUTE, ONCE = "a minute", "once"
PEER, RAW = "rules of Sloth's shape", "the counters over 30d, scraped every 15s"


def rows() -> list[Row]:
    """Each group as often as it is evaluated, and every rule once; measured by a process of its own."""
    wanted = (
        (MINUTE, "peer", PEER, False, Bound("≤", 1)),
        (ONCE, "peer", PEER, False, Bound("≤", 1)),
        (MINUTE, "raw", RAW, True, Bound("≥", 10)),
        (ONCE, "raw", RAW, True, None),
    )
    script = CHECKOUT / "tests" / "slo_cost.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    if done.returncode:
        failure = " / ".join(done.stderr.strip().splitlines()[-2:])
        return [Row(f"SLO rules, {how}: {what}", bound=bound, failure=failure) for how, _, what, _, bound in wanted]
    took = json.loads(done.stdout)
    return [
        _row(f"SLO rules, {how}: {what}", took["ours"][how], took[part][how], bound, faster=faster)
        for how, part, what, faster, bound in wanted
    ]


def _row(what: str, ours: Sequence[float], other: Sequence[float], bound: Bound | None, *, faster: bool) -> Row:
    """The seconds of the same evaluations beside each other."""
    ratios = (two / one if faster else one / two for one, two in zip(ours, other, strict=True))
    seconds = (f"{1e3 * Spread.of(one).median:.1f} ms" for one in (ours, other))
    return Row(what, *seconds, Spread.of(ratios), bound)

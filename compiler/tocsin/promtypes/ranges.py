"""Windows: long enough for four samples, and no longer than what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promql import Subquery
from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.promql import Call, Expr, Range
    from tocsin.promql import Duration as Written
    from tocsin.promtypes.checker import Checker
    from tocsin.promtypes.vector import Vector

# Prometheus' range is open to the left: at four intervals a lost scrape leaves two samples at the least.
SAMPLES = 4


def check_reach(checker: Checker, node: Expr, window: int, offset: Written | None, vector: Vector) -> None:
    """What is looked back on is kept. Recorded series may live in another tier, which their own check knows."""
    back = window + max(offset.milliseconds if offset else 0, 0)
    metric, world = vector.quantity.metric, checker.world
    if metric is None or metric.entity == "recorded":
        return
    keep = world.keep if world.longer is None else world.longer.get(metric.name, world.keep)
    if back <= keep:
        return
    keeper = "the servers keep" if world.longer is None else "its longest tier keeps"
    place = (node.start, max(node.end, offset.end if offset else 0))
    what = f"this looks back {Duration(back)}, and {keeper} {Duration(keep)}"
    hint = f"look back {Duration(keep)} at most, keep more by `retention`, or record the series and ask a longer tier"
    checker.tell("PQL212", what, place, hint)


def check_window(checker: Checker, call: Call, arg: Range | Subquery, vector: Vector) -> None:
    """A window holds four samples."""
    need = SAMPLES * vector.interval
    if not vector.interval or vector.window >= need:
        return
    written = (arg.duration.start, arg.duration.end)
    comes = "is evaluated" if isinstance(arg, Subquery) else "is scraped"
    what = (
        f"`{call.function}()` over {Duration(vector.window)} sees fewer than {SAMPLES} samples of what {comes} "
        f"every {Duration(vector.interval)}"
    )
    least = 1 if call.function.endswith("_over_time") else 2  # samples without which there is no value
    is_filled = vector.window >= least * vector.interval  # as long as no scrape is lost
    checker.tell("PQL211", what, written, f"write [{Duration(need)}] or longer", shown=is_filled)

"""absent(): it looks for the last of many, and for nothing that is born by a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.ingest import beside_nodes
from tocsin.promql import Aggregation, Paren, Range, Selector
from tocsin.promtypes.labels import Labels
from tocsin.promtypes.quantity import number
from tocsin.promtypes.vector import Vector

if TYPE_CHECKING:
    from tocsin.promql import Call, Expr
    from tocsin.promtypes.checker import Checker


def check_absent(checker: Checker, call: Call, vector: Vector) -> Vector:
    """The type of absent(); a call that can never fire, or always fires, is told."""
    selector = _selector(call.args[0])
    if vector.filled:
        what = f"`{call.function}()` of what is never empty never fires"
        checker.tell("PQL213", what, call, "leave out what fills it, such as `or vector(0)`")
    elif selector:
        _check_selector(checker, call, selector)
    fixed = [m.label for m in selector.matchers if m.op == "=" and m.value] if selector else []
    labels = Labels(frozenset(fixed) - {"__name__"})
    return Vector(number(1, 1), labels, frozenset())


def _selector(expr: Expr) -> Selector | None:
    """The selector whose absence is asked for, however it is aggregated."""
    while isinstance(expr, Paren | Aggregation | Range):
        expr = expr.selector if isinstance(expr, Range) else expr.expr
    return expr if isinstance(expr, Selector) else None


def _check_selector(checker: Checker, call: Call, selector: Selector) -> None:
    vector, name = checker.infer(selector), selector.metric or ""
    metric = vector.quantity.metric
    if metric is None or vector.pinned:
        return
    if metric.sparse:
        what = f"{metric.name} has no series until something happens: that it is absent is the rule"
        checker.tell("PQL213", what, call, f'ask whether its exporter answers: absent(up{{job="{metric.exporter}"}})')
    elif metric.entity == "scrape":
        if not any(m.label == "job" and m.op == "=" for m in selector.matchers):
            what = f"absent({name}) never fires while one target of any job is there"
            checker.tell("PQL213", what, call, f'name the job: absent({name}{{job="dcgm"}})')
    elif (
        metric.exporter
        and metric.exporter not in beside_nodes()
        and metric.entity not in ("target", "recorded", "alert")
    ):
        by = ", ".join(vector.entity)
        one = {"gpu": "GPU", "gpu_instance": "GPU", "link": "GPU"}.get(metric.entity, metric.entity.replace("_", " "))
        what = f"this never fires while one {one} of the fleet still reports {metric.name}"
        hint = f"write {name} offset 15m unless {name}"
        if metric.copies:
            hint = f"write group by ({by}) ({name} offset 15m) unless group by ({by}) ({name})"
        checker.tell("PQL213", what, call, hint)

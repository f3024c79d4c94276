"""Time that runs faster: every length of time in a plan divided by one factor, so that nothing changes but the clock.

Intervals of scrapes and rules, windows and offsets of expressions, `for`, and what routes wait shrink alike. What is
counted in seconds outside of these, such as how far a line is drawn ahead, stays; so does the time that a scrape may
take and that Alertmanagers wait for each other, which is up to the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.plan.rules import Alert
from tocsin.promql import Range, Selector, Subquery, parse, walk
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.plan import Plan
    from tocsin.plan.rules import Record, RuleFile, RuleGroup
    from tocsin.plan.servers import Server
    from tocsin.promql import Duration as Written
    from tocsin.routes import Route

# What Prometheus waits where no file says it, in seconds: its defaults.
LOOKBACK, RESEND = 300, 60


def faster(plan: Plan, factor: int) -> Plan:
    """The plan in which one second stands for so many."""
    notifications = plan.notifications._replace(root=_route(plan.notifications.root, factor))
    return plan._replace(
        servers=tuple(_server(server, factor) for server in plan.servers),
        rules=_files(plan.rules, factor),
        notifications=notifications,
    )


def shorter(time: Duration, factor: int) -> Duration:
    """A length of time, of a millisecond at least where it is one at all."""
    return Duration(max(int(time) // factor, 1)) if time else time


def compressed(expr: str, factor: int) -> str:
    """An expression with shorter windows, steps and offsets."""
    for written in sorted(set(_lengths(expr)), reverse=True):
        length = Duration(max(abs(written.milliseconds) // factor, 1))
        sign = "-" if written.milliseconds < 0 else ""
        expr = f"{expr[: written.start]}{sign}{length}{expr[written.end :]}"
    return expr


def _lengths(expr: str) -> Iterator[Written]:
    for node in walk(parse(expr)):
        if isinstance(node, Range | Subquery):
            yield node.duration
        if isinstance(node, Subquery) and node.step:
            yield node.step
        if isinstance(node, Selector | Range | Subquery) and node.offset:
            yield node.offset


def _server(server: Server, factor: int) -> Server:
    jobs = tuple(job._replace(interval=shorter(job.interval, factor)) for job in server.jobs)
    return server._replace(interval=shorter(server.interval, factor), jobs=jobs)


def _files(files: Sequence[RuleFile], factor: int) -> tuple[RuleFile, ...]:
    """Files that share their groups go on doing so."""
    made: dict[int, tuple[RuleGroup, ...]] = {}
    for file in files:
        if id(file.groups) not in made:
            made[id(file.groups)] = tuple(_group(group, factor) for group in file.groups)
    return tuple(file._replace(groups=made[id(file.groups)]) for file in files)


def _group(group: RuleGroup, factor: int) -> RuleGroup:
    interval = shorter(group.interval, factor) if group.interval else None
    return group._replace(interval=interval, rules=tuple(_rule(rule, factor) for rule in group.rules))


def _rule(rule: Record | Alert, factor: int) -> Record | Alert:
    rule = rule._replace(expr=compressed(rule.expr, factor))
    if not isinstance(rule, Alert):
        return rule
    return rule._replace(hold=shorter(rule.hold, factor), keep=shorter(rule.keep, factor))


def _route(route: Route, factor: int) -> Route:
    return route._replace(
        wait=shorter(route.wait, factor) if route.wait else route.wait,
        interval=shorter(route.interval, factor) if route.interval else None,
        repeat=shorter(route.repeat, factor) if route.repeat else None,
        children=tuple(_route(child, factor) for child in route.children),
    )

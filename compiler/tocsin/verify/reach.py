"""Routes and inhibitions, judged by what Alertmanager would do with each alert that there is.

amtool knows neither which alerts there are, nor which of their labels; it looks at one route test at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.routes import taken, takes, walk
from tocsin.verify.run import OURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.diagnostics import Log
    from tocsin.routes import Inhibition, Route
    from tocsin.verify.notifications import Cases, Configuration

    Alerts = Sequence[dict[str, str]]

_RANKS = ("info", "ticket", "page")


def judge_reach(configuration: Configuration, cases: Cases, log: Log) -> None:
    """Every alert reaches whom it must, every route and receiver is used, every label that is asked for is there."""
    _judge_tests(configuration.root, cases, log)
    _judge_alerts(configuration.root, cases, log)
    _judge_use(configuration, cases, log)
    alerts = [labels for labels, _ in cases.alerts]
    for inhibition in configuration.inhibitions:
        _judge_inhibition(inhibition, alerts, log)
    _judge_groups(configuration.root, alerts, log)


def _judge_tests(root: Route, cases: Cases, log: Log) -> None:
    for labels, receivers, place in cases.tests:
        reached = _reached(root, labels)
        if reached != receivers:
            what = f"an alert with {_shown(labels)} reaches {_named(reached)}, not {_named(receivers)}"
            log.error("VFY120", what, place, OURS)


def _judge_alerts(root: Route, cases: Cases, log: Log) -> None:
    """An alert must reach what the closest test says: the one that names most of its labels."""
    for labels, place in cases.alerts:
        close = [test for test in cases.tests if test[0].items() <= labels.items()]
        if not close:
            log.error("VFY120", f"no route test is about {_shown(labels)}", place, OURS)
            continue
        receivers = max(close, key=lambda test: ("alertname" in test[0], len(test[0])))[1]
        reached = _reached(root, labels)
        if reached != receivers:
            what = f"{labels['alertname']} reaches {_named(reached)}, not {_named(receivers)}"
            log.error("VFY120", what, place, OURS)


def _judge_use(configuration: Configuration, cases: Cases, log: Log) -> None:
    """A route that no test and no alert takes is unreachable, or is there for nobody."""
    every = [*(labels for labels, _, _ in cases.tests), *(labels for labels, _ in cases.alerts)]
    used = {id(route) for labels in every for route in taken(configuration.root, labels)}
    routes = list(walk(configuration.root))
    for route in routes:
        # One that only leads on is taken by what its own routes take.
        if not any(id(below) in used for below in walk(route)):
            what = f"no alert takes the route to {route.receiver} with {_matchers(route)}"
            log.error("VFY121", what, route.origin, OURS)
    reached = {route.receiver for route in routes if id(route) in used}
    intervals = {name for route in routes for name in (*route.muted, *route.active)}
    unused = {name: place for name, place in configuration.receivers.items() if name not in reached}
    unused |= {name: place for name, place in configuration.intervals.items() if name not in intervals}
    for name, place in unused.items():
        log.error("VFY121", f"nothing leads to {name}", place, OURS)


def _judge_inhibition(inhibition: Inhibition, alerts: Alerts, log: Log) -> None:
    """Both sides exist, all of both carry the equal labels, and no page is silenced by less than a page."""
    sources = [labels for labels in alerts if takes(inhibition.source, labels)]
    targets = [labels for labels in alerts if takes(inhibition.target, labels)]
    name = f"the inhibition of {', '.join(map(str, inhibition.target))} by {', '.join(map(str, inhibition.source))}"
    if not sources or not targets:
        log.error("VFY121", f"{name} is about no alert", inhibition.origin, OURS)
        return
    for label in inhibition.equal:
        bare = sorted({labels["alertname"] for labels in (*sources, *targets) if label not in labels})
        if bare:
            what = f"{name} compares {label}, which {', '.join(bare)} lacks: it would match as empty"
            log.error("VFY122", what, inhibition.origin, OURS)
    both = sorted({labels["alertname"] for labels in sources if labels in targets})
    if both:
        log.error("VFY122", f"{name} has {', '.join(both)} on both sides", inhibition.origin, OURS)
    if min(map(_rank, sources)) < max(map(_rank, targets)):
        log.error("VFY122", f"{name} lets less than a page silence a page", inhibition.origin, OURS)


def _judge_groups(root: Route, alerts: Alerts, log: Log) -> None:
    """A label that nothing carries groups nothing. Foreign alerts may have any: routes of nobody are not judged."""
    ways = [(labels, {id(route) for route in taken(root, labels)}) for labels in alerts]
    for route in (route for route in walk(root) if route.group_by):
        theirs = {id(one) for one in walk(route)}
        carried = [labels.keys() for labels, way in ways if way & theirs]
        for label in route.group_by:
            if carried and not any(label in labels for labels in carried):
                what = f"the route to {route.receiver} groups by {label}, which none of its alerts carries"
                log.error("VFY122", what, route.origin, OURS)


def _reached(root: Route, labels: dict[str, str]) -> tuple[str, ...]:
    return tuple(route.receiver for route in taken(root, labels))


def _rank(labels: dict[str, str]) -> int:
    return _RANKS.index(labels["severity"])


def _shown(labels: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in labels.items())


def _named(receivers: tuple[str, ...]) -> str:
    return ", ".join(receivers) or "nobody"


def _matchers(route: Route) -> str:
    return ", ".join(map(str, route.matchers)) or "no matchers"

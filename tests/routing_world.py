"""Routing trees, labels and configurations for the tests of routing: made up at random, or broken on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tocsin.emit.alertmanager import alertmanager
from tocsin.plan import Plan
from tocsin.plan.notifications import Notifications, Receiver
from tocsin.routes import Inhibition, Matcher, Route, walk
from tocsin.source import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.routes import TimeInterval

NOWHERE = Span("spec.yaml", 1, 1, 1, 2)
NAMES = ("owner", "severity", "tenant")
# What looks like a template, an expression, YAML or an escape, beside words.
VALUES = (
    "page", "ticket", "a", "{{ .Labels }}", '{{ template "x" . }}', ".*", "a|b", "(", "[a]", "$1", "\\", "\\n", '"',
    "'", "a: b", "- a", "# c", "{a: b}", "&a", "*a", "!!str a", "~", "no", "0x1", "a=b", "a\nb", " a", "é", "a,b",
)  # fmt: skip
EXPRESSIONS = ("page|ticket", ".*", "", "a.c?", "[^p]+", "(?i)PAGE", "a|", r"\{\{.*", "é+", r"[\w ]*")

# Words come often, so that the matchers of a tree meet the labels of an alert.
_values = st.sampled_from((*VALUES[:3] * 8, *VALUES))

matchers = st.one_of(
    st.builds(Matcher, st.sampled_from(NAMES), st.one_of(st.just(""), _values), st.sampled_from(("=", "!="))),
    st.builds(Matcher, st.sampled_from(NAMES), st.sampled_from(EXPRESSIONS), st.sampled_from(("=~", "!~"))),
)
labels = st.dictionaries(st.sampled_from(NAMES), _values, min_size=1)


def _node(children: st.SearchStrategy[tuple[Route, ...]]) -> st.SearchStrategy[Route]:
    return st.builds(
        Route,
        receiver=st.just("x"),
        origin=st.just(NOWHERE),
        matchers=st.lists(matchers, max_size=2).map(tuple),
        children=children,
        goes_on=st.booleans(),
    )


_nodes = st.recursive(_node(st.just(())), lambda below: _node(st.lists(below, max_size=3).map(tuple)), max_leaves=8)
trees = st.lists(_nodes, max_size=4).map(lambda nodes: numbered(Route("root", NOWHERE, children=tuple(nodes))))
inhibitions = st.builds(
    Inhibition,
    name=st.just(""),
    source=st.lists(matchers, min_size=1, max_size=2).map(tuple),
    target=st.lists(matchers, min_size=1, max_size=2).map(tuple),
    equal=st.lists(st.sampled_from(NAMES), unique=True, max_size=2).map(tuple),
    origin=st.just(NOWHERE),
)


def numbered(root: Route) -> Route:
    """The tree with a receiver of its own at each route, so that an answer names the route."""
    count = iter(range(10_000))

    def one(route: Route) -> Route:
        return route._replace(receiver=f"r{next(count)}", children=tuple(one(child) for child in route.children))

    return one(root)


def written(
    root: Route,
    inhibitions: Sequence[Inhibition] = (),
    intervals: Sequence[TimeInterval] = (),
    receivers: Sequence[Receiver] | None = None,
) -> str:
    """The configuration that the compiler's own emitter writes for it, without the templates that it would need."""
    if receivers is None:
        receivers = [Receiver(name, (), NOWHERE) for name in dict.fromkeys(route.receiver for route in walk(root))]
    notifications = Notifications(root, tuple(receivers), (), (), tuple(intervals), tuple(inhibitions))
    plan = Plan("lab", (), (), notifications, (), "", (), None)  # type: ignore[arg-type]
    return "".join(
        line for line in next(alertmanager(plan)).text.splitlines(keepends=True) if not line.startswith("templates:")
    )

"""Alertmanager's configuration as it is written, read back: routes, intervals, inhibitions, and their places."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tocsin.composer import compose
from tocsin.routes import Inhibition, Matcher, Route
from tocsin.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.artifact import Artifact
    from tocsin.source import Node, Span

_MATCHER = re.compile(r'(?P<label>\w+)(?P<op>=~|!~|!=|=)"(?P<value>(?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Configuration(NamedTuple):
    """What a configuration says, each part with the place of the spec that it came from.

    `texts` are the fields of receivers that a template fills.
    """

    root: Route
    receivers: dict[str, Span]
    intervals: dict[str, Span]
    inhibitions: tuple[Inhibition, ...]
    texts: dict[str, Span]


class Cases(NamedTuple):
    """The route tests: labels, the receivers that they must reach, the place; and the alerts that there are."""

    tests: tuple[tuple[dict[str, str], tuple[str, ...], Span], ...]
    alerts: tuple[tuple[dict[str, str], Span], ...]


def read_configuration(artifact: Artifact) -> Configuration:
    """The configuration of a file that amtool accepts."""
    root = _composed(artifact)
    return Configuration(
        _route(_at(root, "route"), artifact, ""),
        {_text(one, "name"): _place(one, artifact) for one in _items(root, "receivers")},
        {_text(one, "name"): _place(one, artifact) for one in _items(root, "time_intervals")},
        tuple(_inhibition(one, artifact) for one in _items(root, "inhibit_rules")),
        {
            node.text: _place(node, artifact)
            for one in _items(root, "receivers")
            for node in _scalars(one)
            if "{{" in node.text
        },
    )


def read_cases(artifact: Artifact) -> Cases:
    """The route tests of a file."""
    root = _composed(artifact)
    return Cases(
        tuple(
            (_labels(_at(one, "labels")), _texts(one, "receivers"), _place(one, artifact))
            for one in _items(root, "tests")
        ),
        tuple((_labels(one), _place(one, artifact)) for one in _items(root, "alerts")),
    )


def read_matcher(text: str) -> Matcher:
    """A matcher as it is emitted; ValueError for any other way of writing one."""
    found = _MATCHER.fullmatch(text)
    if not found:
        raise ValueError(text)
    value = _ESCAPED.sub(lambda escaped: "\n" if escaped[1] == "n" else escaped[1], found["value"])
    return Matcher(found["label"], value, found["op"])


def _composed(artifact: Artifact) -> Node:
    root, errors = compose(Source(artifact.path, artifact.text))
    if root is None:
        raise ValueError(f"{artifact.path}: {errors}")
    return root


def _route(node: Node, artifact: Artifact, above: str) -> Route:
    receiver = _text(node, "receiver") or above
    return Route(
        receiver=receiver,
        origin=_place(node, artifact),
        matchers=_matchers(node, "matchers"),
        group_by=_texts(node, "group_by"),
        children=tuple(_route(child, artifact, receiver) for child in _items(node, "routes")),
        goes_on=_text(node, "continue") == "true",
        muted=_texts(node, "mute_time_intervals"),
        active=_texts(node, "active_time_intervals"),
    )


def _inhibition(node: Node, artifact: Artifact) -> Inhibition:
    return Inhibition(
        "",
        _matchers(node, "source_matchers"),
        _matchers(node, "target_matchers"),
        _texts(node, "equal"),
        _place(node, artifact),
    )


def _matchers(node: Node, key: str) -> tuple[Matcher, ...]:
    return tuple(read_matcher(text) for text in _texts(node, key))


def _scalars(node: Node) -> Iterator[Node]:
    if node.kind == "scalar":
        yield node
    for _, value in node.entries.values():
        yield from _scalars(value)
    for item in node.items:
        yield from _scalars(item)


def _at(node: Node, key: str) -> Node:
    found = node.get(key)
    if found is None:
        raise ValueError(f"{node.source.path}: {key} is missing")
    return found


def _items(node: Node, key: str) -> list[Node]:
    found = node.get(key)
    return found.items if found else []


def _text(node: Node, key: str) -> str:
    found = node.get(key)
    return found.text if found else ""


def _texts(node: Node, key: str) -> tuple[str, ...]:
    return tuple(item.text for item in _items(node, key))


def _labels(node: Node) -> dict[str, str]:
    return {key: value.text for key, (_, value) in node.entries.items()}


def _place(node: Node, artifact: Artifact) -> Span:
    return artifact.origin(node.start[0])

"""What a dashboard asks, and which labels of the answers it shows or hands on: of panels, variables and annotations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.dashboard.filled import variables
from tocsin.dashboard.form import dicts, listed, panels, targets, titled
from tocsin.dashboard.kinds import WITHOUT_QUERIES
from tocsin.dashboard.sources import answers, named_sources, other

if TYPE_CHECKING:
    from collections.abc import Iterator

    Model = dict[str, Any]

_NAME = "__name__"  # which every series has
_CALLED = re.compile(r"\s*(label_values|query_result|label_names|metrics)\(")
_LEGEND = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
# Grafana, "Configure data links": the labels of a series, and the fields of a row of a table.
_NAMED = r'(?:\.([A-Za-z_]\w*)|\.?\["([A-Za-z_]\w*)"\])'
_OF_SERIES = re.compile(r"\$\{__field\.labels" + _NAMED)
_OF_ROW = re.compile(r"\$\{__data\.fields" + _NAMED)
# Transformations after which every column is still a label, a time or a value; others make fields of their own.
_PLAIN = ("organize", "joinByField", "filterFieldsByName", "merge", "sortBy", "limit", "filterByValue")
_NO_LABEL = re.compile(r"Time|Metric|Value( #[A-Z]+)?")  # what Grafana calls the other fields of a query


class Shown(NamedTuple):
    """A label that is shown or handed on, by `what`; its name stands in the characters [start, end) of `text`."""

    label: str
    what: str
    text: str
    start: int
    end: int


class Query(NamedTuple):
    """PromQL with Grafana's variables, from `start` on in what is `written`; its series need each of the labels.

    `text` is whatever a generator wrote, or None where it wrote nothing. Asked at one `instant`, a query may give the
    samples of a window.
    """

    text: Any
    written: str
    start: int = 0
    labels: tuple[Shown, ...] = ()
    instant: bool = False


class Asking(NamedTuple):
    """A panel, a variable or an annotation: its queries, and the labels that the series of one of them need."""

    where: str
    queries: tuple[Query, ...]
    labels: tuple[Shown, ...] = ()


def asked(model: Model) -> Iterator[Asking]:
    """Everything that asks Prometheus, in the order of the dashboard."""
    named = named_sources(model)
    for panel in panels(model):
        asks = [target for target in targets(panel) if not answers(panel, target, named)]
        if panel.get("type") in WITHOUT_QUERIES:  # Grafana leaves an empty query on a row
            asks = [target for target in asks if target.get("expr")]
        if asks:
            # What other data sources answer may have any field.
            is_alone = all(_is_hidden(target) for target in targets(panel) if answers(panel, target, named))
            seen = [target for target in asks if not _is_hidden(target)] if is_alone else []
            joined = tuple(_joined(panel, seen))
            queries = tuple(_of_target(target, joined) for target in asks)
            yield Asking(f"the panel '{titled(panel)}'", queries, tuple(_handed_on(panel, seen)))
    for variable in listed(model, "templating"):
        if not other(variable.get("datasource"), named) and variable.get("type") == "query":
            yield Asking(f"the variable '{variable.get('name')}'", tuple(_of_variable(variable.get("query"))))
    for annotation in listed(model, "annotations"):
        written = annotation.get("expr")
        if not other(annotation.get("datasource"), named) and isinstance(written, str) and written.strip():
            texts = [("title", annotation.get("titleFormat")), ("text", annotation.get("textFormat"))]
            labels = tuple(shown for what, text in texts for shown in _in(_LEGEND, text, f"its {what}"))
            yield Asking(f"the annotation '{annotation.get('name')}'", (Query(written, written, 0, labels),))


def _is_hidden(target: Model) -> bool:
    """Whether a query is there for others only, and shows nothing itself."""
    return target.get("hide") is True


def _of_target(target: Model, joined: tuple[Shown, ...]) -> Query:
    expr = target.get("expr")
    labels = () if _is_hidden(target) else (*_in(_LEGEND, target.get("legendFormat"), "its legend"), *joined)
    instant = target.get("instant") is True and target.get("range") is not True
    return Query(expr, expr if isinstance(expr, str) else "", 0, labels, instant)


def _of_variable(written: Any) -> Iterator[Query]:
    """The PromQL in a query of a variable, as far as there is some."""
    text = written.get("query") if isinstance(written, dict) else written
    if not isinstance(text, str) or not text.strip():
        return
    called = _CALLED.match(text)
    if called is None or not text.rstrip().endswith(")"):
        yield Query(text, text)
        return
    start, inner = called.end(), text[called.end() : text.rindex(")")]
    if called[1] == "query_result":
        yield Query(inner, text, start, instant=True)
    elif called[1] == "label_values":
        expr, comma, written = inner.rpartition(",")
        label = written.strip()
        if not label or not {*label}.isdisjoint("()") or (comma and not expr.strip()):
            yield Query(text, text)
        elif comma:
            at = start + len(expr) + 1 + written.index(label)
            labels = (
                ()
                if label == _NAME or [*variables(label)]
                else (Shown(label, "its list of values", text, at, at + len(label)),)
            )
            yield Query(expr, text, start, labels)


def _in(pattern: re.Pattern[str], text: Any, what: str) -> Iterator[Shown]:
    """The labels that a text names; the name that every series has is none of them."""
    for found in pattern.finditer(text) if isinstance(text, str) else ():
        group = next(number for number, name in enumerate(found.groups(), 1) if name)
        if found[group] != _NAME:
            yield Shown(found[group], what, text, found.start(group), found.end(group))


def _handed_on(panel: Model, asks: list[Model]) -> Iterator[Shown]:
    """The labels whose values the data links of a panel take along."""
    columns = _columns(_steps(panel)) if asks else None
    if columns is None:
        return
    is_table = all(target.get("format") == "table" for target in asks)
    # What an override calls a field is its name for links as well.
    named = [one.get("value") for one in _properties(panel) if one.get("id") == "displayName"]
    named.append(_dict(_dict(panel.get("fieldConfig")).get("defaults")).get("displayName"))
    for link in _links(panel):
        what = f"the link '{link.get('title') or link.get('url')}'"
        yield from _in(_OF_SERIES, link.get("url"), what)
        for shown in _in(_OF_ROW, link.get("url"), what) if is_table else ():
            label = columns.get(shown.label, shown.label)
            if not _NO_LABEL.fullmatch(label) and shown.label not in named:
                yield shown._replace(label=label)


def _columns(steps: list[Model]) -> dict[str, str] | None:
    """The headings that steps give to fields, with the fields below them; None where nobody knows the fields."""
    found: dict[str, str] = {}
    for step in steps:
        if step.get("id") not in _PLAIN or step.get("filter"):
            return None
        named = _dict(_dict(step.get("options")).get("renameByName"))
        renamed = {heading: name for name, heading in named.items() if isinstance(heading, str) and heading}
        found |= {heading: found.get(name, name) for heading, name in renamed.items()}
    return found


def _joined(panel: Model, asks: list[Model]) -> Iterator[Shown]:
    """The label by which the rows of several queries become one."""
    steps = _steps(panel)
    if not asks or any(target.get("format") != "table" for target in asks) or _columns(steps) is None:
        return
    for index, step in enumerate(steps):
        name = _dict(step.get("options")).get("byField")
        if step.get("id") == "joinByField" and isinstance(name, str) and name:
            label = (_columns(steps[:index]) or {}).get(name, name)
            if not _NO_LABEL.fullmatch(label):
                yield Shown(label, "the join of its rows", name, 0, len(name))


def _steps(panel: Model) -> list[Model]:
    """The transformations of a panel that are not switched off."""
    return [step for step in dicts(panel.get("transformations")) if step.get("disabled") is not True]


def _links(panel: Model) -> Iterator[Model]:
    yield from dicts(_dict(_dict(panel.get("fieldConfig")).get("defaults")).get("links"))
    for one in _properties(panel):
        if one.get("id") == "links":
            yield from dicts(one.get("value"))


def _properties(panel: Model) -> list[Model]:
    """What the overrides of a panel set."""
    overrides = dicts(_dict(panel.get("fieldConfig")).get("overrides"))
    return [one for override in overrides for one in dicts(override.get("properties"))]


def _dict(value: Any) -> Model:
    return value if isinstance(value, dict) else {}

"""Dashboards that a team or a mixin brings: every query is PromQL that means something, of series that are there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tocsin.dashboard import foreign, listed, panels, problems, targets, titled
from tocsin.diagnostics import Related, near
from tocsin.promql import PromqlError, metric_names, parse, selectors
from tocsin.promtypes import check, of_factory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.diagnostics import Log
    from tocsin.document import Document, Made
    from tocsin.factory import Factory
    from tocsin.promql import Expr
    from tocsin.promtypes import Finding, World
    from tocsin.source import Span

_STRINGS = r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'|`[^`]*`"
_VARIABLE = r"\$\{(?:[A-Za-z_]\w*)(?::\w+)?\}|\$[A-Za-z_]\w*|\[\[[A-Za-z_]\w*(?::\w+)?\]\]"  # `$1` is of label_replace
_VARIABLE_NAME = re.compile(r"[A-Za-z_]\w*")
_GIVEN = ("__", "timeFilter", "timeFrom", "timeTo")  # what the names of Grafana's own variables begin with
_TOKEN = re.compile(f"(?P<string>{_STRINGS})|(?P<variable>{_VARIABLE})")
_IN_STRING = re.compile(_VARIABLE)
_ANY = "…"  # stands for a variable inside of a text, and is shown in messages
_NAME = "tocsin_any_name"  # stands for one where a name or a number may stand
_LABEL_VALUES = re.compile(r"\s*label_values\((?:(?P<expr>.+),)?\s*(?P<label>[^,()]+)\)\s*", re.DOTALL)
_QUERY_RESULT = re.compile(r"\s*query_result\((?P<expr>.*)\)\s*", re.DOTALL)
_NAMES = re.compile(r"\s*(?:label_names|metrics)\(.*\)\s*", re.DOTALL)
_NO_QUERIES = ("row", "text")


class Filled(NamedTuple):
    """A query with something in place of Grafana's variables; `pieces` are (start, length) here and in the query."""

    text: str
    pieces: tuple[tuple[int, int, int, int], ...]
    is_bare: bool

    def place(self, offset: int) -> int:
        """Where a character of the filled text stands in the query."""
        for start, length, old, old_length in reversed(self.pieces):
            if offset >= start + length:
                return old + old_length + offset - start - length
            if offset >= start:
                return old
        return offset


def filled(query: str) -> Filled:
    """A query as PromQL: a variable in a text is any value, in brackets a window, elsewhere a name."""
    parts: list[str] = []
    pieces: list[tuple[int, int, int, int]] = []
    at = size = 0
    is_bare = False

    def put(start: int, end: int, instead: str) -> None:
        nonlocal at, size
        parts.extend((query[at:start], instead))
        size += start - at
        pieces.append((size, len(instead), start, end - start))
        size, at = size + len(instead), end

    for found in _TOKEN.finditer(query):
        if found["string"]:
            for inner in _IN_STRING.finditer(found[0]):
                put(found.start() + inner.start(), found.start() + inner.end(), _ANY)
            continue
        before, after = query[: found.start()].rstrip(), query[found.end() : found.end() + 1]
        is_window = before.endswith(("[", ":", "offset"))
        is_bare |= not is_window
        put(found.start(), found.end(), ("300" if after in ("s", "m") else "5m") if is_window else _NAME)
    return Filled("".join((*parts, query[at:])), tuple(pieces), is_bare)


def check_dashboards(factory: Factory, document: Document, log: Log) -> None:
    """Every dashboard of the spec and of its mixins."""
    world = of_factory(factory)
    for section, name, model in document.pages:
        made = (document.mixins[name] if section == "mixins" else document.dashboards[name]).made
        title = str(model.get("title", ""))
        if any(problems(model)):
            continue  # which is told already
        checker = _Checker(title, made, document.places.value(section, name, "path"), world, log)
        checker.page(model)


class _Checker:
    """Checks the queries of one dashboard."""

    def __init__(self, title: str, made: Made, named: Span, world: World, log: Log) -> None:
        self.title, self.made, self.named, self.world, self.log = title, made, named, world, log
        self.unknown: dict[str, None] = {}
        self.variables = {"datasource"}

    def page(self, model: dict[str, object]) -> None:
        """All queries: of panels, variables and annotations."""
        self.variables |= {str(one.get("name")) for one in listed(model, "templating")}
        for panel in panels(model):
            where, kind = f"the panel '{titled(panel)}'", panel.get("type")
            asks = [target for target in targets(panel) if not foreign(target)]
            if kind not in _NO_QUERIES and not panel.get("title"):
                self._tell("DSH103", where, "it has no title", "say in a few words what it shows", "")
            if kind not in _NO_QUERIES and not asks and not panel.get("libraryPanel"):
                self._tell(
                    "DSH103", where, "it asks nothing", "give it a query, or leave it out", str(panel.get("title", ""))
                )
            for target in asks:
                self._query(where, target.get("expr"))
        for where, written in _asked(model):
            for start, text in _series(written):
                self._query(where, text, written, start)
        if self.unknown:
            names = ", ".join(sorted(self.unknown))
            hint = "see that they are scraped: a panel on a series that is not there stays empty"
            what = f"nothing that the spec names is known to show {names}, which '{self.title}' reads"
            self.log.warning("DSH104", what, self.named, hint)

    def _query(self, where: str, query: object, written: str = "", start: int = 0) -> None:
        """One query, which begins at `start` of what is written."""
        if not isinstance(query, str) or not query.strip():
            self._tell(
                "DSH103", where, "a query of it has no text", "write PromQL into `expr`, or remove the query", ""
            )
            return
        given, written = filled(query), written or query
        for _, _, at, length in given.pieces:
            self._check_variable(where, written, start + at, query[at : at + length])
        expr = self._parsed(where, written, start, given)
        if expr is None:
            return
        self.unknown |= dict.fromkeys(
            name
            for name in metric_names(expr)
            if name not in self.world.series and _NAME not in name and not self.world.unnamed(name)
        )
        if given.is_bare:
            return  # what the variable stands for is known to nobody here
        for finding in self._findings(given, expr):
            place = (start + given.place(finding.start), start + given.place(finding.end))
            self._tell(finding.code, where, finding.message, finding.hint, written, place)

    def _check_variable(self, where: str, written: str, start: int, variable: str) -> None:
        """A variable that the dashboard does not have stays what is written: no series has such a label."""
        found = _VARIABLE_NAME.search(variable)
        name = found[0] if found else ""
        if name not in self.variables and not name.startswith(_GIVEN):
            close = near(name, self.variables)
            hint = f"did you mean `${close}`?" if close else "add it under `templating`, or leave it out of the query"
            what = f"it asks by the variable `{variable}`, which the dashboard does not have"
            self._tell("DSH107", where, what, hint, written, (start, start + len(variable)))

    def _findings(self, given: Filled, expr: Expr) -> tuple[Finding, ...]:
        """What the type checker finds, where labels that a variable selects may have any value."""
        free = {one.label for selector in selectors(expr) for one in selector.matchers if _ANY in one.value}
        schema = {label: rule for label, rule in self.world.schema.items() if label not in free}
        return check(given.text, expr, self.world._replace(schema=schema))[1]

    def _parsed(self, where: str, written: str, start: int, given: Filled) -> Expr | None:
        try:
            return parse(given.text)
        except PromqlError as error:
            if given.is_bare:
                try:
                    return parse(given.text.replace(_NAME, "1"))
                except PromqlError:
                    pass
            place = (start + given.place(error.start), start + given.place(error.end))
            self._tell("PQL105", where, error.message, error.hint, written, place)
            return None

    def _tell(self, code: str, where: str, what: str, hint: str, text: str, at: tuple[int, int] | None = None) -> None:
        start, end = at or (0, len(text))
        place = (self.made.place(text, start, end) if text else None) or self.named
        there = [Related(self.named, "the file is named here")] if place != self.named else []
        self.log.error(code, f"{where} of '{self.title}': {what}", place, hint, there)


def _asked(model: dict[str, object]) -> Iterator[tuple[str, str]]:
    """What variables and annotations ask, each with the name of who asks."""
    for key in ("templating", "annotations"):
        part = model.get(key)
        for one in (part.get("list") if isinstance(part, dict) else None) or ():
            if not isinstance(one, dict) or foreign(one):
                continue
            name = f"the {'variable' if key == 'templating' else 'annotation'} '{one.get('name')}'"
            written = one.get("query") if key == "templating" and one.get("type") == "query" else one.get("expr")
            written = written.get("query") if isinstance(written, dict) else written
            if isinstance(written, str) and written.strip():
                yield name, written


def _series(query: str) -> Iterator[tuple[int, str]]:
    """The PromQL in a query of a variable, as far as there is some, and where it begins."""
    found = _LABEL_VALUES.fullmatch(query) or _QUERY_RESULT.fullmatch(query)
    if found and found["expr"]:
        yield found.start("expr"), found["expr"]
    elif not found and not _NAMES.fullmatch(query):
        yield 0, query

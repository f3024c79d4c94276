"""What a dashboard asks, held against the series that there are: their names, their labels, what their values mean."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tocsin.dashboard.asked import asked
from tocsin.dashboard.filled import ANY, NAME, filled, fillings
from tocsin.dashboard.filled import variables as named_in
from tocsin.dashboard.form import dicts, listed
from tocsin.diagnostics import Related, near
from tocsin.pattern import PatternError, matches
from tocsin.promql import PromqlError, metric_names, parse, selectors
from tocsin.promtypes import check, no_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.dashboard.asked import Asking, Query, Shown
    from tocsin.dashboard.filled import Filled
    from tocsin.diagnostics import Log
    from tocsin.document import Made
    from tocsin.promql import Expr, Matcher
    from tocsin.promtypes import Vector, World
    from tocsin.promtypes.stored import Named
    from tocsin.source import Span

_VARIABLE_NAME = re.compile(r"[A-Za-z_]\w*")
_GIVEN = ("__", "timeFilter", "timeFrom", "timeTo")  # what the names of Grafana's own variables begin with
_SHORT = "PQL211"  # a window holds too few samples
_SHOWN = 8  # names in one hint
UNKNOWN = ""  # the code of a fault that is about a name which no series of the world has


class Fault(NamedTuple):
    """What is wrong with what somebody asks, and how to mend it, in the characters [start, end) of `text`.

    A fault whose code is UNKNOWN is about the series called `name`, of which the world knows no more.
    """

    code: str
    where: str
    message: str
    hint: str
    text: str
    start: int
    end: int
    name: str = ""
    is_doubt: bool = False

    def tell(self, title: str, made: Made, named: Span, log: Log, *, doubt: bool = False) -> None:
        """Tell it at its characters in what the dashboard was made of, or where the spec has `named` that.

        A doubt is a warning: what the fault is about may be there, or harm nobody, all the same.
        """
        place = (made.place(self.text, self.start, self.end) if self.text else None) or named
        there = [Related(named, "the file is named here")] if place != named else []
        tell = log.warning if doubt or self.is_doubt else log.error
        tell(self.code, f"{self.where} of '{title}': {self.message}", place, self.hint, there)


def faults(model: dict[str, Any], world: World, named: Sequence[Named] = ()) -> Iterator[Fault]:
    """All that is wrong with what a dashboard asks in a world, where some labels have these values only."""
    given = (*listed(model, "templating"), *dicts(model.get("__inputs")))
    variables = frozenset(("datasource", *(str(one.get("name")) for one in given)))
    for asking in asked(model):
        yield from _of_asking(asking, world, named, variables)


def _of_asking(asking: Asking, world: World, named: Sequence[Named], variables: frozenset[str]) -> Iterator[Fault]:
    answers: list[Vector | None] = []
    for query in asking.queries:
        judge = _Judge(asking.where, query, world, named, is_alone=len(asking.queries) == 1)
        answers.append(judge.answer(variables))
        yield from judge.found
    known = [answer for answer in answers if answer is not None]
    if len(known) < len(answers):
        return  # what is not known may have any label
    for shown in asking.labels:
        if not any(answer.labels.can_be(shown.label) for answer in known):
            yield _without(asking.where, shown, max(known, key=lambda one: len(one.labels.known)))


def _without(where: str, shown: Shown, answer: Vector) -> Fault:
    place = (shown.start, shown.end)
    _, _, hint = no_label(shown.label, answer.labels, "", place)
    what = f"{shown.what} needs the label `{shown.label}`, which the series that it asks for do not have"
    hint = hint.replace("it has", "keep it in the query, or use what is there:")
    return Fault("DSH109", where, what, hint, shown.text, *place)


class _Judge:
    """Judges one query."""

    def __init__(self, where: str, query: Query, world: World, named: Sequence[Named], *, is_alone: bool) -> None:
        self.where, self.query, self.world, self.named, self.is_alone = where, query, world, named, is_alone
        self.found: list[Fault] = []

    def answer(self, variables: frozenset[str]) -> Vector | None:
        """What the query returns; None where it is wrong, or a variable stands for a name or a label in it."""
        text = self.query.text
        if not isinstance(text, str) or not text.strip():
            what, hint = "a query of it has no text", "write PromQL into `expr`, or remove the query"
            self.found.append(Fault("DSH103", self.where, what, hint, "", 0, 0, is_doubt=not self.is_alone))
            return None
        for at, variable in named_in(text):
            self._check_variable(at, variable, variables)
        given, expr = self._read(text)
        if expr is None:
            return None
        strange = [self._check_name(name) for name in metric_names(expr, alternatives=True)]
        self._check_values(expr, given)
        if given.is_bare:
            return None
        vector, findings = self._typed(given, expr)
        findings = tuple(one for one in findings if one.code != _SHORT or not given.is_length(one.start, one.end))
        for one in findings:
            place = given.place(one.start), given.place(one.end)
            self._tell(one.code, one.message, one.hint, *place, is_doubt=one.shown_all_the_same)
        if any(strange) or findings:
            return None
        for shown in self.query.labels:
            if not vector.labels.can_be(shown.label):
                self.found.append(_without(self.where, shown, vector))
        return vector

    def _check_variable(self, start: int, variable: str, variables: frozenset[str]) -> None:
        """A variable that the dashboard does not have stays what is written: no series has such a label.

        In what label_replace() writes, it is the group of a pattern.
        """
        found = _VARIABLE_NAME.search(variable)
        name = found[0] if found else ""
        text = self.query.text
        is_group = f"(?P<{name}>" in text or f"(?<{name}>" in text
        if name not in variables and not name.startswith(_GIVEN) and not is_group:
            close = near(name, variables)
            hint = f"did you mean `${close}`?" if close else "add it under `templating`, or leave it out of the query"
            what = f"it asks by the variable `{variable}`, which the dashboard does not have"
            self._tell("DSH107", what, hint, start, start + len(variable))

    def _check_name(self, name: str) -> bool:
        """Whether a name is none that the world has or knows not to be there."""
        if name in self.world.series or NAME in name or ANY in name or self.world.unnamed(name):
            return False
        # Of a large world only what begins alike is close.
        close = near(name, (known for known in self.world.series if known[:2] == name[:2]))
        hint = f"did you mean {close}?" if close else ""
        found = re.search(rf"(?<![\w:]){re.escape(name)}(?![\w:])", self.query.text)
        start, end = (self.query.start + at for at in (found.span() if found else (0, len(self.query.text))))
        where = self.where
        self.found.append(Fault(UNKNOWN, where, "", hint, self.query.written, start, end, name))
        return True

    def _check_values(self, expr: Expr, given: Filled) -> None:
        for selector in selectors(expr) if self.named else ():
            for matcher in selector.matchers:
                self._check_value(selector.metric or "", matcher, given)

    def _check_value(self, name: str, matcher: Matcher, given: Filled) -> None:
        """A job, an alert or an objective that a matcher names is one of the plan's."""
        kind = next((one for one in self.named if one.label == matcher.label and name.startswith(one.of)), None)
        if kind is None or matcher.op not in ("=", "=~") or not matcher.value or ANY in matcher.value:
            return
        wanted, values = matcher.value, kind.values
        try:
            there = wanted in values if matcher.op == "=" else any(matches(wanted, one) for one in values)
        except PatternError:
            return  # that it is none is told elsewhere
        if not there:
            close = near(wanted, values)
            hint = f"did you mean '{close}'?" if close else f"the spec comes to these: {', '.join(values[:_SHOWN])}"
            what = f"no {kind.noun} is called '{wanted}': this selects nothing"
            self._tell("PQL104", what, hint, given.place(matcher.value_start), given.place(matcher.value_end))

    def _typed(self, given: Filled, expr: Expr) -> tuple[Vector, tuple[Any, ...]]:
        """The type of the query, where labels that a variable selects may have any value."""
        free = {one.label for selector in selectors(expr) for one in selector.matchers if ANY in one.value}
        schema = {label: rule for label, rule in self.world.schema.items() if label not in free}
        return check(given.text, expr, self.world._replace(schema=schema))

    def _read(self, text: str) -> tuple[Filled, Expr | None]:
        """The query as it can be read; what is no PromQL is told, unless a variable may make it one."""
        first = filled(text)
        try:
            return first, _tree(first.text)
        except PromqlError as error:
            is_right = error.is_taken(self.world.prometheus) or (self.query.instant and _is_window(first.text))
            if not first.is_bare and not is_right:
                place = first.place(error.start), first.place(error.end)
                self._tell("PQL105", error.message, error.hint, *place, is_doubt=self.world.metricsql)
        for given in fillings(text) if first.is_bare else ():
            with suppress(PromqlError):
                return given, _tree(given.text)
        return first, None

    def _tell(self, code: str, what: str, hint: str, start: int, end: int, *, is_doubt: bool = False) -> None:
        place = self.query.start + start, self.query.start + end
        self.found.append(Fault(code, self.where, what, hint, self.query.written, *place, is_doubt=is_doubt))


def _is_window(text: str) -> bool:
    """Whether it is a range vector."""
    with suppress(PromqlError):
        _tree(f"last_over_time({text})")
        return True
    return False


@cache
def _tree(text: str) -> Expr:
    return parse(text)

"""Rules of mixins: their expressions mean what they seem to, their texts show labels that are there and ask nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.check.rules import check_reach
from tocsin.diagnostics import Related, near
from tocsin.factory.rules import OwnAlert
from tocsin.promql import metric_names
from tocsin.promtypes import check, of_factory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory
    from tocsin.factory.rules import Mixin, OwnRecord
    from tocsin.promtypes import Vector, World
    from tocsin.source import Span

_ACTION = re.compile(r"\{\{-?(.*?)-?\}\}", re.DOTALL)
_LABEL = re.compile(r"\$labels\.(\w+)")
# The words of a template, once its strings are gone; `.x` and `$x` are values that it was given.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|/\*.*?\*/', re.DOTALL)
_WORD = re.compile(r"[.$]?[A-Za-z_]\w*(?:\.\w+)*")
# What a text may use: what it was given, and functions of that alone (Prometheus, "Template reference"). `query` reads
# any series of the server, restricted ones and those of other tenants too; others link to a server, or define more
# templates.
ALLOWED = frozenset(
    """
    $labels $value $v if else end with and or not eq ne lt le gt ge len index print printf println humanize humanize1024
    humanizeDuration humanizePercentage humanizeTimestamp title toUpper toLower toTime trimPrefix trimSuffix urlquery
    reReplaceAll match stripPort stripDomain parseDuration
    """.split()
)
_SHOWN = 5  # names in one message


def check_mixins(factory: Factory, document: Document, log: Log) -> None:
    """Every rule of every mixin."""
    world = of_factory(factory)
    for mixin in factory.mixins.values():
        checker = _Checker(factory, mixin, document, world, log)
        for group in mixin.groups:
            for rule in group.rules:
                checker.rule(rule)
        checker.tell_unknown()


class _Checker:
    """Checks the rules of one mixin."""

    def __init__(self, factory: Factory, mixin: Mixin, document: Document, world: World, log: Log) -> None:
        self.factory, self.mixin, self.world, self.log = factory, mixin, world, log
        self.made = document.mixins[mixin.name].made
        self.named = document.places.value("mixins", mixin.name, "path")
        self.unknown: dict[str, None] = {}

    def rule(self, rule: OwnAlert | OwnRecord) -> None:
        """The expression of a rule and, of an alert, its texts."""
        vector, found = check(rule.text, rule.expr, self.world)
        for finding in found:
            hint = finding.hint or "correct it in the mixin"
            self._tell(
                finding.code, rule, finding.message, f"{hint}; or leave it out: `without: [{rule.name}]`", finding[2:4]
            )
        place = self._place(rule, (0, len(rule.text)))
        check_reach(self.factory, place, rule, vector, self.log)
        self.unknown |= dict.fromkeys(name for name in metric_names(rule.expr) if name not in self.world.series)
        if isinstance(rule, OwnAlert):
            for text in texts(rule):
                self._text(rule, text, vector)

    def _text(self, rule: OwnAlert, text: str, vector: Vector) -> None:
        for action in _ACTION.finditer(text):
            word = next(asked(action[1]), None)
            if word:
                what = f"a text asks for `{word}`: it may show labels and the value, and nothing else"
                self._tell("MIX108", rule, what, f"write the text anew in the mixin, or `without: [{rule.name}]`")
            for label in _LABEL.findall(action[1]):
                if not vector.labels.can_be(label):
                    close = near(label, sorted(vector.labels.known))
                    hint = (
                        f"did you mean `{close}`?"
                        if close
                        else f"it has {', '.join(sorted(vector.labels.known)) or 'none'}"
                    )
                    what = f"the expression's result has no label `{label}`: nothing would stand in the text"
                    self._tell("ALR103", rule, what, f"{hint}; or leave it out: `without: [{rule.name}]`")

    def tell_unknown(self) -> None:
        """What nobody knows may be there all the same: of an exporter that the spec does not name."""
        names = sorted(self.unknown)
        if names:
            shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
            hint = "see that they are scraped: an alert on a series that is not there never fires"
            what = f"nothing that the spec names is known to show {shown}, which the mixin '{self.mixin.name}' reads"
            self.log.warning("MIX109", what, self.named, hint)

    def _tell(
        self, code: str, rule: OwnAlert | OwnRecord, what: str, hint: str, at: tuple[int, ...] | None = None
    ) -> None:
        place = self._place(rule, at) if at else self.made.named(rule.name) or self.named
        there = [Related(self.named, "the mixin is named here")] if place != self.named else []
        self.log.error(code, f"{rule.name}: {what}", place, hint, there)

    def _place(self, rule: OwnAlert | OwnRecord, at: tuple[int, ...]) -> Span:
        return self.made.place(rule.text, at[0], at[1]) or self.made.named(rule.name) or self.named


def texts(alert: OwnAlert) -> Iterator[str]:
    """The texts of an alert that Prometheus reads as templates."""
    yield from (alert.summary, alert.description, *alert.annotations.values(), *alert.labels.values())


def asked(action: str) -> Iterator[str]:
    """The words of a template's action that are not allowed."""
    for word in _WORD.findall(_STRING.sub(" ", action)):
        first = "." if word.startswith(".") else word.partition(".")[0]
        if first != "." and first not in ALLOWED:
            yield word

"""The phrases of PromQL that hold no expression: lists of labels, matchers, durations and moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.promql import mistakes
from tocsin.promql.lexer import DURATION, END, NAME, NUMBER, STRING, Token, tokens
from tocsin.promql.literals import duration, number
from tocsin.promql.selection import matcher
from tocsin.promql.tree import At, Duration, Grouping, Label, Matcher, Matching

if TYPE_CHECKING:
    from typing import Literal

NUMBERS = ("inf", "nan")

_LATEST = float(2**63)  # Prometheus holds moments in 64 bits with a sign


class Phrases:
    """Reads the words of one text from left to right; every method leaves `token` at the first word it has not read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = tokens(text)
        self.before = Token(END, "", 0, 0)
        self.token = next(self.words)

    def next(self) -> Token:
        """Read a word and return it."""
        self.before, self.token = self.token, next(self.words)
        return self.before

    def at(self, *words: str) -> bool:
        """Whether the next word is one of these, given in lower case."""
        return self.token.kind == NAME and self.token.text.lower() in words

    def matching(self) -> Matching:
        """`on (a) group_left (b)`"""
        word = self.next()
        labels = self.labels(word.text)
        group: Literal["left", "right"] | None = None
        include: tuple[Label, ...] = ()
        if self.at("group_left", "group_right"):
            group = "left" if self.at("group_left") else "right"
            grouping = self.next()
            if self.token.kind == "(":
                include = self.labels(grouping.text)
        return Matching(word.start, self.before.end, word.text.lower() == "on", labels, group, include)

    def grouping(self) -> Grouping:
        """`by (a)`"""
        word = self.next()
        labels = self.labels(word.text)
        return Grouping(word.start, self.before.end, word.text.lower() == "without", labels)

    def labels(self, after: str) -> tuple[Label, ...]:
        """`(a, b,)` behind the word `after`."""
        if self.token.kind != "(":
            raise mistakes.no_list(self.token, after)
        bracket = self.next()
        labels: list[Label] = []
        while self.token.kind != ")":
            label = self.label(bracket)
            labels.append(Label(label.start, label.end, label.text))
            self.separator(")", bracket, f"the labels of `{after}`")
        self.next()
        return tuple(labels)

    def label(self, bracket: Token) -> Token:
        """The name of a label, which outside of braces cannot be that of a number."""
        if self.token.kind != NAME or ":" in self.token.text or (bracket.kind == "(" and self.at(*NUMBERS)):
            raise mistakes.no_label(self.text, self.token, bracket)
        return self.next()

    def separator(self, closer: str, bracket: Token, where: str) -> None:
        """Read a comma, unless the closing bracket follows."""
        if self.token.kind == ",":
            self.next()
        elif self.token.kind != closer:
            raise mistakes.no_list_end(self.token, bracket, where)

    def braces(self) -> list[tuple[Matcher, bool]]:
        """`{a="b", c=~"d",}`, each matcher with whether it lets series pass that do not have the label."""
        bracket = self.next()
        matchers: list[tuple[Matcher, bool]] = []
        while self.token.kind != "}":
            label = self.label(bracket)
            if self.token.kind not in ("=", "!=", "=~", "!~"):
                raise mistakes.no_matcher(self.token, label, bracket)
            op = self.next()
            if self.token.kind != STRING:
                raise mistakes.no_value(self.token, op, bracket)
            matchers.append(matcher(label, op.kind, self.next()))
            self.separator("}", bracket, "the braces")
        self.next()
        return matchers

    def duration(self, bracket: Token | None, sign: Token | None = None) -> Duration:
        """`5m`, inside of a bracket or behind `offset`."""
        if self.token.kind != DURATION:
            raise mistakes.no_duration(self.token, bracket)
        token = self.next()
        length = duration(token.text, token.start)
        return Duration((sign or token).start, token.end, -length if sign else length)

    def offset(self) -> Duration:
        """`5m` or `-5m`"""
        return self.duration(None, self.next() if self.token.kind == "-" else None)

    def moment(self, word: Token) -> At:
        """`1735689600`, `start()` or `end()` behind `@`, which is `word`."""
        first = self.token
        if self.at("start", "end"):
            which: Literal["start", "end"] = "start" if self.at("start") else "end"
            self.next()
            for bracket in "()":
                if self.token.kind != bracket:
                    raise mistakes.no_moment(first, word)
                self.next()
            return At(first.start, self.before.end, which)
        sign = -1 if self.token.kind == "-" else 1
        if self.token.kind in ("+", "-"):
            self.next()
        if self.token.kind != NUMBER:
            raise mistakes.no_moment(self.token, word)
        token = self.next()
        seconds = sign * number(token.text, token.start)
        if abs(seconds) >= _LATEST:
            raise mistakes.no_moment(token, word)
        return At(first.start, token.end, seconds)
